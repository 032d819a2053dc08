//! One decision about one request.

use super::bucket::{Bucket, Place};
use super::fixed_window::FixedWindow;
use super::lease::{self, Lease};
use super::limits::Limits;
use super::rule::{Admission, Change};
use super::standing::{CountedIn, Decision, Standings, Stored, Taken};

/// A request that is being decided, again for each try to write the decision down.
pub(super) struct Counting<'a> {
    limits: &'a Limits,
    lessee: Option<Lessee<'a>>,
    taken: Taken,
    granted: Option<Lease>,
}

/// A worker that may take a lease of the key's quota.
pub(super) struct Lessee<'a> {
    pub(super) rules: &'a [FixedWindow],
    pub(super) batch: u64,
    /// The lease that it holds, with something left that cannot be used.
    pub(super) held: Option<Lease>,
}

impl<'a> Counting<'a> {
    /// With a lessee, a lease is taken along.
    pub(super) const fn new(limits: &'a Limits, lessee: Option<Lessee<'a>>) -> Self {
        let taken = Taken {
            decision: Decision::Refused,
            counted_in: CountedIn::Nowhere,
            standings: Standings::new(),
            stored: Stored::Sound,
            conflicts: 0,
        };
        Self { limits, lessee, taken, granted: None }
    }

    /// What was decided last, and the lease that was taken along, after so many tries in vain.
    pub(super) const fn finish(self, conflicts: u32) -> (Taken, Option<Lease>) {
        (Taken { conflicts, ..self.taken }, self.granted)
    }

    /// Decides, and counts the request in the bucket, which is to be written if it was changed.
    pub(super) fn count(&mut self, bucket: &mut Bucket, place: Place, now: u64) -> Change {
        let Self { limits, lessee, taken, granted } = self;
        taken.stored = bucket.stored();
        *granted = None;
        let (entry, counted_in, lessee) = match place {
            Place::Own(entry) => (entry, CountedIn::Own, lessee.as_ref()),
            // The workers' leases would add up over all keys that share the entry.
            Place::Shared(entry) => (entry, CountedIn::Shared, None),
            Place::Uncounted => {
                taken.decision = Decision::Uncounted;
                taken.counted_in = CountedIn::Nowhere;
                limits.untouched(now, &mut taken.standings);
                return Change::None;
            }
            Place::NoRoom { frees } => {
                taken.decision = Decision::NoRoom;
                taken.counted_in = CountedIn::Nowhere;
                limits.untouched(now, &mut taken.standings);
                taken.standings.close_for(frees.saturating_sub(now));
                return Change::None;
            }
        };
        let state = bucket.state(&entry);
        let decided = match lessee {
            Some(Lessee { rules, batch, held }) => {
                let held = held.as_ref();
                let (decided, lease) = lease::take(rules, state, now, *batch, held, &mut taken.standings);
                *granted = lease;
                decided
            }
            None => limits.decide(state, now, &mut taken.standings),
        };
        if decided.change == Change::Written {
            bucket.set_expires(&entry, decided.expires);
        }
        taken.counted_in = counted_in;
        taken.decision = match decided.admission {
            Admission::Admitted => Decision::Admitted,
            Admission::Refused => Decision::Refused,
        };
        decided.change
    }
}
