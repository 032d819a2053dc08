//! Lines of the log that each of many exchanges could give rise to.

use core::cell::Cell;
use core::time::Duration;

use crate::host::{Clock, Host, Level};
use crate::printable::Printable;
use crate::time::MonotonicTime;

/// How often the log says one thing, however many exchanges it is true of.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// How many bytes of a line are written: it may tell what somebody else has said.
const MAX_LINE: usize = 2048;

/// Something that the log says once a minute at the most, on one line of bounded length.
#[derive(Debug, Default)]
pub struct Complaint {
    last: Cell<Option<MonotonicTime>>,
}

impl Complaint {
    /// Writes the line, unless one has been written a short time ago. Gives whether it has.
    pub fn say(&self, level: Level, line: &str, host: &dyn Host) -> bool {
        let now = now(host);
        let is_due = self.last.get().is_none_or(|last| now.since(last) >= SAY_EVERY);
        if is_due {
            self.last.set(Some(now));
            host.log(level, &Printable::new(line, MAX_LINE).to_string());
        }
        is_due
    }
}

/// Something that fails for a while. The log says when it begins to, and when it is over: once for each time, and of one
/// time a minute at the most. So the log does not grow with how often it comes and goes, which somebody else decides.
#[derive(Debug, Default)]
pub struct Trouble {
    complaint: Complaint,
    told: Cell<bool>,
}

impl Trouble {
    /// It fails, for the first time or still. The line says so.
    pub fn lasts(&self, level: Level, line: &str, host: &dyn Host) {
        if !self.told.get() {
            self.told.set(self.complaint.say(level, line, host));
        }
    }

    /// It works. Gives whether the log has said that it did not, and should say so now.
    pub fn is_over(&self) -> bool {
        self.told.replace(false)
    }
}

/// By the clock that never steps, or by the wall clock where the host has no such clock.
pub(crate) fn now(clock: &(impl Clock + ?Sized)) -> MonotonicTime {
    clock.monotonic().unwrap_or_else(|_| MonotonicTime::from_nanos(clock.now().as_nanos()))
}
