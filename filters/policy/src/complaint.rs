//! Lines of the log that each of many exchanges could give rise to.

use core::cell::Cell;
use core::time::Duration;

use crate::host::{Clock, Host, Level};
use crate::time::MonotonicTime;

/// How often the log says one thing, however many exchanges it is true of.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// Something that the log says once a minute at the most.
#[derive(Debug, Default)]
pub struct Complaint {
    last: Cell<Option<MonotonicTime>>,
}

impl Complaint {
    /// Writes the line, unless one has been written a short time ago.
    pub fn say(&self, level: Level, line: &str, host: &dyn Host) {
        let now = now(host);
        if self.last.get().is_none_or(|last| now.since(last) >= SAY_EVERY) {
            self.last.set(Some(now));
            host.log(level, line);
        }
    }
}

/// By the clock that never steps, or by the wall clock where the host has no such clock.
pub(crate) fn now(clock: &(impl Clock + ?Sized)) -> MonotonicTime {
    clock.monotonic().unwrap_or_else(|_| MonotonicTime::from_nanos(clock.now().as_nanos()))
}
