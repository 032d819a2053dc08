//! What keys are hashed with.

use core::fmt;
use core::hash::Hasher;

use portcullis_policy::HostError;
use portcullis_policy::host::{SharedStore, Write};
use siphasher::sip128::{Hasher128, SipHasher24};

use super::Key;
use super::entry::{Fingerprint, Owner};
use super::limits::Limits;

const NAME: &str = "portcullis.rate-limit.v1.secret";
/// Two tries suffice unless somebody else writes there.
const TRIES: usize = 16;

/// What a hash is for: its first byte, so that none is another's.
const KEY: u8 = 0;
const OVERFLOW: u8 = 1;
const TABLE: u8 = 2;

/// A random secret that all workers share. Clients choose their keys, but without it they cannot choose in which bucket
/// a key is, nor make it meet another's fingerprint.
pub(super) struct Secret([u8; 16]);

/// It is in no log line.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Where a key is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) bucket: u32,
    pub(super) fingerprint: Fingerprint,
    /// The whole hash: the key's name outside its bucket.
    pub(super) id: [u64; 2],
}

impl Secret {
    /// Reads the secret; the first worker makes it. What is there and cannot be one is replaced.
    pub(super) fn obtain(host: &(impl SharedStore + ?Sized)) -> Result<Self, HostError> {
        for _ in 0..TRIES {
            let write = match host.shared(NAME) {
                Ok((value, version)) => match value.try_into() {
                    Ok(secret) => return Ok(Self(secret)),
                    Err(_) => Write::IfVersion(version),
                },
                Err(HostError::NotFound) => Write::IfAbsent,
                Err(error) => return Err(error),
            };
            let mut made = [0; 16];
            getrandom::fill(&mut made).map_err(|_| HostError::InternalFailure)?;
            match host.set_shared(NAME, &made, write) {
                // Read it back: it is what the others read.
                Ok(()) | Err(HostError::CasMismatch) => {}
                Err(error) => return Err(error),
            }
        }
        Err(HostError::CasMismatch)
    }

    /// SipHash-2-4 with 128 bits of output, over what tells a key from all others. Each part has a length of its own or
    /// stands last, so that no two keys run together.
    pub(super) fn address(&self, key: &Key<'_>, limits: &Limits, buckets: u32) -> Address {
        let mut hasher = self.limits(Owner::Key, key, limits);
        hasher.write(key.bytes);
        let hash = hasher.finish128();
        // The product's upper half is below `buckets`.
        let bucket = (hash.h1 >> 32).saturating_mul(u64::from(buckets)) >> 32;
        Address {
            bucket: u32::try_from(bucket).unwrap_or(0),
            fingerprint: Fingerprint::new(hash.h2, Owner::Key),
            id: [hash.h1, hash.h2],
        }
    }

    /// The fingerprint of the overflow entry of the key's scope and layout.
    pub(super) fn overflow(&self, key: &Key<'_>, limits: &Limits) -> Fingerprint {
        Fingerprint::new(self.limits(Owner::Overflow, key, limits).finish128().h2, Owner::Overflow)
    }

    /// The name of a scope's table. Scopes that met here would share one, with no other harm.
    pub(super) fn table(&self, scope: &str) -> u64 {
        self.scope(TABLE, scope).finish128().h1
    }

    fn limits(&self, owner: Owner, key: &Key<'_>, limits: &Limits) -> SipHasher24 {
        let mut hasher = self.scope(
            match owner {
                Owner::Key => KEY,
                Owner::Overflow => OVERFLOW,
            },
            key.scope,
        );
        hasher.write(limits.layout());
        hasher
    }

    fn scope(&self, purpose: u8, scope: &str) -> SipHasher24 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&[purpose]);
        hasher.write(&u64::try_from(scope.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.write(scope.as_bytes());
        hasher
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::{Algorithm, Quota};
    use super::*;

    const SECRET: Secret = Secret([7; 16]);

    fn limits(nanos: u64) -> Limits {
        let quota = Quota { max: 1, period: Duration::from_nanos(nanos), burst: 1 };
        Limits::new(Algorithm::FixedWindow, &[quota]).unwrap()
    }

    fn address(scope: &str, bytes: &[u8], limits: &Limits) -> Address {
        SECRET.address(&Key { scope, bytes }, limits, 4096)
    }

    #[test]
    fn tells_keys_apart_that_concatenate_to_the_same() {
        let limits = limits(1);
        let layout = core::str::from_utf8(limits.layout()).unwrap();
        let one = address("scope", format!("{layout}key").as_bytes(), &limits);
        let other = address(&format!("scope{layout}"), b"key", &limits);
        assert_ne!(one, other);
        assert_ne!(address("scope", b"key", &limits), address("scop", b"ekey", &limits));
    }

    #[test]
    fn spreads_keys_over_all_buckets() {
        let limits = limits(1);
        let mut keys = [0; 16];
        for key in 0..1600u32 {
            let address = SECRET.address(&Key { scope: "", bytes: &key.to_le_bytes() }, &limits, 16);
            keys[address.bucket as usize] += 1;
        }
        assert!(keys.iter().all(|keys| (50..150).contains(keys)), "{keys:?}");
        let last = SECRET.address(&Key { scope: "", bytes: b"key" }, &limits, 1);
        assert_eq!(last.bucket, 0);
    }

    #[test]
    fn an_overflow_entry_is_no_key_s_own() {
        let (key, limits) = (Key { scope: "scope", bytes: b"" }, limits(1));
        assert_eq!(SECRET.overflow(&key, &limits).owner(), Owner::Overflow);
        assert_eq!(SECRET.address(&key, &limits, 1).fingerprint.owner(), Owner::Key);
        let other = Key { bytes: b"other", ..key };
        assert_eq!(SECRET.overflow(&key, &limits), SECRET.overflow(&other, &limits));
    }

    #[test]
    fn each_scope_and_each_process_has_tables_of_its_own() {
        assert_ne!(SECRET.table("scope"), SECRET.table("another"));
        assert_ne!(SECRET.table("scope"), Secret([8; 16]).table("scope"));
        assert_eq!(SECRET.table("scope"), SECRET.table("scope"));
    }

    #[test]
    fn is_not_printed() {
        assert_eq!(format!("{SECRET:?}"), "Secret(..)");
    }
}
