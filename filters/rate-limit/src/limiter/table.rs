//! Buckets in the shared store, changed by compare-and-set.

use core::fmt::Write as _;

use portcullis_policy::HostError;
use portcullis_policy::host::{Clock, SharedStore, Write};

use super::bucket::{Bucket, WAYS};
use super::rule::Change;
use super::secret::Secret;

/// Of workers that meet at a bucket one always gets through, so that nobody needs nearly as many tries unless the store
/// is broken.
const TRIES: u32 = 10_000;

/// A fixed number of buckets for the keys of one scope, so that whoever floods it with keys takes no room from other
/// scopes. Tables of different sizes have different names too: a key's bucket depends on the size.
#[derive(Debug)]
pub(super) struct Table {
    buckets: u32,
    /// Whose keys the name is for; `None` before the first.
    scope: Option<String>,
    /// The name of a bucket. As far as the prefix, it is that of the table.
    name: String,
    prefix: usize,
}

impl Table {
    pub(super) fn new(slots: u32) -> Self {
        let buckets = slots.div_ceil(u32::try_from(WAYS).unwrap_or(u32::MAX)).max(1);
        Self { buckets, scope: None, name: String::new(), prefix: 0 }
    }

    /// Turns to the table of a scope. It costs a comparison when that is the one of the last time.
    pub(super) fn turn_to(&mut self, scope: &str, secret: &Secret) {
        if self.scope.as_deref() == Some(scope) {
            return;
        }
        self.name.clear();
        let _ = write!(self.name, "portcullis.rate-limit.v1.{:016x}.{}.", secret.table(scope), self.buckets);
        self.prefix = self.name.len();
        self.scope = Some(scope.to_owned());
    }

    pub(super) const fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Reads a bucket of the table that was last [turned to](Self::turn_to), reads the clock, has `decide` change the
    /// bucket, and writes it back if it was changed; again, if another worker was faster. Returns how many tries were in
    /// vain.
    ///
    /// # Errors
    /// The host's refusal; [`HostError::CasMismatch`] when the store never takes a value.
    pub(super) fn change(
        &mut self,
        bucket: u32,
        host: &(impl SharedStore + Clock + ?Sized),
        mut decide: impl FnMut(&mut Bucket, u64) -> Change,
    ) -> Result<u32, HostError> {
        self.name.truncate(self.prefix);
        let _ = write!(self.name, "{bucket}");
        for conflicts in 0..TRIES {
            let (value, condition) = match host.shared(&self.name) {
                Ok((value, version)) => (value, Write::IfVersion(version)),
                Err(HostError::NotFound) => (Vec::new(), Write::IfAbsent),
                Err(error) => return Err(error),
            };
            let now = host.monotonic()?.as_nanos();
            let mut bucket = Bucket::new(value);
            if decide(&mut bucket, now) == Change::None {
                return Ok(conflicts);
            }
            match host.set_shared(&self.name, bucket.value(), condition) {
                Ok(()) => return Ok(conflicts),
                Err(HostError::CasMismatch) => {}
                Err(error) => return Err(error),
            }
        }
        Err(HostError::CasMismatch)
    }
}
