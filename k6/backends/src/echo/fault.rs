//! The ways in which the upstream can be told to answer wrongly. A load script that does not notice one of them would
//! not notice a gateway that does the same.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use hyper::StatusCode;
use hyper::header::CONTENT_TYPE;

use crate::reply::Reply;

/// How late a slow reply is.
const SLOWNESS: Duration = Duration::from_secs(3);

/// What is wrong with a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fault {
    /// The body's first byte is another; its length is right
    WrongBody,
    /// The content type is left out
    DroppedHeader,
    /// The reply is right, and 3 seconds late
    Slow,
    /// The status is 201
    WrongStatus,
}

impl Fault {
    /// How much later than directed the reply is.
    pub(crate) fn delay(self) -> Duration {
        match self {
            Self::Slow => SLOWNESS,
            Self::WrongBody | Self::DroppedHeader | Self::WrongStatus => Duration::ZERO,
        }
    }

    /// The proper reply, made wrong.
    pub(crate) fn apply(self, mut reply: Reply) -> Reply {
        match self {
            Self::WrongBody => return reply.map(|body| body.spoilt()),
            Self::DroppedHeader => {
                reply.headers_mut().remove(CONTENT_TYPE);
            }
            // Of the same class as the proper one, so that only who looks closely notices.
            Self::WrongStatus => *reply.status_mut() = StatusCode::CREATED,
            Self::Slow => {}
        }
        reply
    }
}

/// Which replies are wrong: every Nth, over all connections.
pub(crate) struct Faults {
    fault: Option<Fault>,
    every: NonZeroU64,
    requests: AtomicU64,
}

impl Faults {
    pub(crate) fn new(fault: Option<Fault>, every: NonZeroU64) -> Self {
        Self { fault, every, requests: AtomicU64::new(0) }
    }

    /// What is to be wrong with the reply to the request that has just come.
    pub(crate) fn next(&self) -> Option<Fault> {
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        self.fault.filter(|_| before % self.every == self.every.get() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_six(every: u64) -> Vec<bool> {
        let faults = Faults::new(Some(Fault::Slow), NonZeroU64::new(every).expect("not zero"));
        (0..6).map(|_| faults.next().is_some()).collect()
    }

    #[test]
    fn befall_every_nth_request() {
        assert_eq!(first_six(1), [true; 6]);
        assert_eq!(first_six(3), [false, false, true, false, false, true]);
    }

    #[test]
    fn befall_no_request_if_there_is_none() {
        let faults = Faults::new(None, NonZeroU64::MIN);
        assert_eq!(faults.next(), None);
    }
}
