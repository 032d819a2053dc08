//! What responses say of the windows that they fell in.
//!
//! Nothing here depends on how fast anything was. Each request was decided on at some moment between its sending and
//! the receipt of its response, and what is judged holds for any such moment.

use std::time::Duration;

use crate::load::Shot;

/// How many windows have been used up: each has exactly one admission that left nothing.
pub(crate) fn used_up(shots: &[Shot]) -> usize {
    shots.iter().filter(|shot| shot.admitted() && shot.remaining == 0).count()
}

/// What is wrong.
pub(crate) struct Judgement {
    /// Amounts of remaining quota that were reported more often than there were windows. In a window every admission
    /// leaves another amount.
    pub(crate) overfull: Vec<u64>,
    /// How many windows began, for certain, less than a period after the one before.
    pub(crate) short: usize,
    /// Refusals for which there is no window that could have been used up then.
    pub(crate) unfounded: Vec<Shot>,
}

pub(crate) fn judge(shots: &[Shot], max: u64, period: Duration) -> Judgement {
    let admissions = |remaining: u64| {
        shots.iter().filter(move |shot| shot.admitted() && shot.remaining == remaining).copied()
    };
    let mut first: Vec<Shot> = admissions(max - 1).collect();
    first.sort_by_key(|shot| shot.received);
    let last: Vec<Shot> = admissions(0).collect();

    let overfull = (0..max).filter(|remaining| admissions(*remaining).count() > first.len()).collect();
    let short =
        first.windows(2).filter(|pair| pair[1].received.duration_since(pair[0].sent) < period).count();
    let refusals = shots.iter().filter(|shot| !shot.admitted()).copied();
    let unfounded = refusals
        .filter(|refusal| {
            !first.iter().any(|first| {
                let may_be_open = |sent| sent < first.received + period;
                may_be_open(refusal.sent)
                    && first.sent < refusal.received
                    && last.iter().any(|last| {
                        last.sent < refusal.received && may_be_open(last.sent) && first.sent <= last.received
                    })
            })
        })
        .collect();
    Judgement { overfull, short, unfounded }
}

#[test]
fn wrong_windows_are_found_out() {
    let start = std::time::Instant::now();
    let shot = |at_ms: u64, status, remaining| {
        let sent = start + Duration::from_millis(at_ms);
        Shot { sent, received: sent + Duration::from_millis(1), status, remaining }
    };
    let period = Duration::from_millis(100);
    let good = vec![
        shot(0, 200, 1),
        shot(2, 200, 0),
        shot(4, 429, 0),
        shot(99, 429, 0),
        shot(102, 200, 1),
        shot(150, 200, 0),
    ];
    let verdict = |shots: &[Shot]| {
        let Judgement { overfull, short, unfounded } = judge(shots, 2, period);
        (overfull, short, unfounded.len())
    };
    assert_eq!(verdict(&good), (vec![], 0, 0));
    assert_eq!(verdict(&[&good[..], &[shot(160, 200, 0)]].concat()), (vec![0], 0, 0));
    assert_eq!(verdict(&[&good[..], &[shot(120, 200, 1)]].concat()), (vec![], 1, 0));
    assert_eq!(verdict(&[&good[..], &[shot(2, 429, 0)]].concat()).2, 0, "it may have come second");
    assert_eq!(verdict(&[&good[..], &[shot(110, 429, 0)]].concat()).2, 1);
    assert_eq!(verdict(&[&good[..], &[shot(300, 429, 0)]].concat()).2, 1);
    assert_eq!(used_up(&good), 2);
}
