//! The part of a key's quota that a worker has taken ahead.

use super::fixed_window::{FixedWindow, Window};
use super::limits::MAX_LIMITS;
use super::rule::{Admission, Change, Decided, Rule, decide};
use super::standing::Standings;

/// A lease takes at most this part of what remains, so that the last requests of a quota are not all with one worker.
const SHARE: u64 = 8;
/// How many leases a worker holds: sets by the key's hash, and leases in each.
const SETS: u64 = 512;
const LEASES_PER_SET: usize = 8;

/// The name of a lease's key: its whole hash.
type Id = [u64; 2];

/// Requests that are counted already and have not come yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    left: u64,
    since: u64,
    /// When the first of its windows ends. What is left can be given back to the others until `kept_until`.
    serves_until: u64,
    kept_until: u64,
    /// The windows it was taken from, in the order of the limits, with what was counted in them after it was.
    windows: [Window; MAX_LIMITS],
}

/// The leases of a worker. They never take more room than this; a key for which there is none is counted exactly.
#[derive(Debug)]
pub(super) struct Leases {
    sets: Vec<Vec<(Id, Lease)>>,
}

/// Whether a worker holds a lease of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holding {
    /// It does.
    Lease(Lease),
    /// It does not.
    Nothing,
    /// It does not, and there is no room for one.
    NoRoom,
}

impl Lease {
    /// Whether nothing is left, or no window in which it could be used or given back.
    fn is_over(&self, now: u64) -> bool {
        self.left == 0 || now >= self.kept_until || now < self.since
    }

    /// Uses one request, and says how the limits stand then. `None` when nothing is left, when one of the windows has
    /// ended, or when these limits (`max` can differ from those it was taken under) have no quota for it.
    fn spend(&mut self, rules: &[FixedWindow], now: u64) -> Option<Standings> {
        if self.left == 0 || now < self.since || now >= self.serves_until {
            return None;
        }
        let left = self.left.saturating_sub(1);
        let mut standings = Standings::new();
        for (rule, window) in rules.iter().zip(&self.windows) {
            let spent = Window { count: window.count.saturating_sub(self.left), ..*window };
            if !rule.has_room(&spent) {
                return None;
            }
            standings
                .push(rule.standing(&Window { count: window.count.saturating_sub(left), ..*window }, now));
        }
        self.left = left;
        Some(standings)
    }

    /// What is left of it in the window of its `limit`th limit, if that is still the one it was taken from.
    fn unused(&self, limit: usize, window: &Window) -> u64 {
        match self.windows.get(limit) {
            Some(taken) if taken.start == window.start => self.left,
            _ => 0,
        }
    }
}

/// Counts a request, and up to `batch - 1` more that are to come, against all limits or, if one of them refuses,
/// none. What is left of the lease that the worker holds is given back first, with the same write. Says in
/// `standings` how the limits stand then, for this worker.
pub(super) fn take(
    rules: &[FixedWindow],
    states: &mut [u8],
    now: u64,
    batch: u64,
    held: Option<&Lease>,
    standings: &mut Standings,
) -> (Decided, Option<Lease>) {
    let mut windows = [Window { start: 0, count: 0 }; MAX_LIMITS];
    let mut room = u64::MAX;
    let chunks = states.chunks_exact(FixedWindow::STATE_LEN);
    for (limit, ((rule, bytes), window)) in rules.iter().zip(chunks).zip(&mut windows).enumerate() {
        (*window, _) = rule.read(bytes, now);
        window.count = window.count.saturating_sub(held.map_or(0, |lease| lease.unused(limit, window)));
        room = room.min(rule.room(window));
    }
    if room == 0 {
        // Nothing is given back either: what is left may serve when the window that refuses has ended. To this worker's
        // clients it is not taken.
        let decided = decide(rules, states, now, standings);
        standings.clear();
        for (rule, window) in rules.iter().zip(&windows) {
            standings.push(rule.standing(window, now));
        }
        return (decided, None);
    }
    let requests = batch.min(room.div_ceil(SHARE)).max(1);
    let left = requests.saturating_sub(1);
    let mut lease = Lease { left, since: now, serves_until: u64::MAX, kept_until: 0, windows };
    standings.clear();
    let chunks = states.chunks_exact_mut(FixedWindow::STATE_LEN);
    for ((rule, bytes), window) in rules.iter().zip(chunks).zip(&mut lease.windows) {
        window.count = window.count.saturating_add(requests);
        rule.write(window, bytes);
        lease.serves_until = lease.serves_until.min(rule.end(window));
        lease.kept_until = lease.kept_until.max(rule.end(window));
        standings.push(rule.standing(&Window { count: window.count.saturating_sub(left), ..*window }, now));
    }
    let expires = lease.kept_until;
    let decided = Decided { admission: Admission::Admitted, change: Change::Written, expires };
    (decided, Some(lease))
}

impl Leases {
    /// Room for leases; the memory for them is taken as they come.
    pub(super) fn new() -> Self {
        Self { sets: (0..SETS).map(|_| Vec::new()).collect() }
    }

    /// No room for any.
    pub(super) const fn none() -> Self {
        Self { sets: Vec::new() }
    }

    /// Serves a request from the lease of its key, if there is one that can, and says how the limits stand then.
    pub(super) fn spend(&mut self, id: &Id, rules: &[FixedWindow], now: u64) -> Option<Standings> {
        let (_, lease) = self.set(id)?.iter_mut().find(|(of, _)| of == id)?;
        lease.spend(rules, now)
    }

    /// What the worker holds of a key, or could.
    pub(super) fn holding(&mut self, id: &Id, now: u64) -> Holding {
        let Some(set) = self.set(id) else { return Holding::NoRoom };
        match set.iter().find(|(of, _)| of == id) {
            Some((_, lease)) if !lease.is_over(now) => Holding::Lease(*lease),
            _ if set.len() < LEASES_PER_SET || set.iter().any(|(_, lease)| lease.is_over(now)) => {
                Holding::Nothing
            }
            _ => Holding::NoRoom,
        }
    }

    /// Holds a lease in place of the one that the worker held of the key.
    pub(super) fn hold(&mut self, id: Id, lease: Lease) {
        if let Some(set) = self.set(&id) {
            set.retain(|(of, other)| *of != id && !other.is_over(lease.since));
            if lease.left > 0 && set.len() < LEASES_PER_SET {
                set.push((id, lease));
            }
        }
    }

    fn set(&mut self, id: &Id) -> Option<&mut Vec<(Id, Lease)>> {
        let [_, low] = id;
        // Other bits than those that name the bucket; the lowest says whose entry it is.
        self.sets.get_mut(usize::try_from((low >> 1) % SETS).ok()?)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.sets.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::limits::Quota;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rules() -> [FixedWindow; 1] {
        [FixedWindow::new(&Quota { max: 1000, period: Duration::from_secs(1), burst: 0 })]
    }

    fn id(number: u64) -> Id {
        [number, number << 1]
    }

    /// A lease of 8 requests at a time, of which the first was used.
    fn lease(now: u64) -> Lease {
        take(&rules(), &mut [0; 16], now, 8, None, &mut Standings::new()).1.unwrap()
    }

    #[test]
    fn there_are_never_more_leases_than_room() {
        let mut leases = Leases::new();
        let mut refused = 0;
        for number in 0..20_000 {
            match leases.holding(&id(number), SECOND) {
                Holding::Nothing => leases.hold(id(number), lease(SECOND)),
                Holding::NoRoom => refused += 1,
                Holding::Lease(_) => panic!("nobody has taken it"),
            }
        }
        assert_eq!((leases.len(), refused), (4096, 20_000 - 4096));
        assert!(matches!(leases.holding(&id(5), SECOND), Holding::Lease(_)), "none was pushed out");
    }

    #[test]
    fn leases_that_are_over_make_room() {
        let mut leases = Leases::new();
        for number in 0..LEASES_PER_SET as u64 {
            leases.hold(id(number * SETS), lease(SECOND));
        }
        let another = id(99 * SETS);
        assert!(matches!(leases.holding(&another, 2 * SECOND - 1), Holding::NoRoom));
        assert!(matches!(leases.holding(&another, 2 * SECOND), Holding::Nothing), "its window has ended");
        for _ in 1..8 {
            assert!(leases.spend(&id(0), &rules(), SECOND).is_some());
        }
        assert!(leases.spend(&id(0), &rules(), SECOND).is_none());
        assert!(matches!(leases.holding(&another, SECOND), Holding::Nothing), "it is used up");
        leases.hold(another, lease(SECOND));
        assert!(matches!(leases.holding(&another, SECOND), Holding::Lease(_)));
        assert_eq!(leases.len(), LEASES_PER_SET);
    }

    #[test]
    fn keeps_no_lease_that_is_used_up_and_none_beyond_the_room_for_them() {
        let mut leases = Leases::new();
        leases.hold(id(0), Lease { left: 0, ..lease(SECOND) });
        assert_eq!(leases.len(), 0);
        for number in 0..=LEASES_PER_SET as u64 {
            leases.hold(id(number * SETS), lease(SECOND));
        }
        assert_eq!(leases.len(), LEASES_PER_SET);
    }

    #[test]
    fn serves_only_in_its_window_and_under_a_clock_that_does_not_go_back() {
        for (now, serves) in
            [(SECOND - 1, false), (SECOND, true), (2 * SECOND - 1, true), (2 * SECOND, false)]
        {
            assert_eq!(lease(SECOND).spend(&rules(), now).is_some(), serves, "at {now}");
        }
    }

    #[test]
    fn takes_less_when_the_quota_runs_out() {
        let mut state = [0; 16];
        let taken: Vec<u64> = core::iter::from_fn(|| {
            let (_, lease) = take(&rules(), &mut state, SECOND, 100, None, &mut Standings::new());
            lease.map(|lease| lease.left + 1)
        })
        .collect();
        assert_eq!(taken[..3], [100, 100, 100]);
        assert!(taken.windows(2).all(|pair| pair[1] <= pair[0]), "{taken:?}");
        assert_eq!((taken.last(), taken.iter().sum()), (Some(&1), 1000));
    }
}
