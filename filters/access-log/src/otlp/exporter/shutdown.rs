//! The end of the plugin.

use core::time::Duration;

use portcullis_policy::host::Host;
use portcullis_policy::time::MonotonicTime;
use portcullis_policy::{Shutdown, Worker};

use super::{Exporter, count};

/// Whether the plugin is being taken down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifecycle {
    /// It is not.
    Running,
    /// It is: everything is sent at once, and given up at this time.
    Draining(MonotonicTime),
}

impl Exporter {
    /// Sends all that is left at once, and again until the collector has taken it or `shutdown_ms` have passed. When
    /// they have, nothing more is sent and everything is given up: with 0 that is at once.
    pub fn on_shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        let host = worker.host();
        self.clock = host.monotonic().unwrap_or(self.clock);
        let until = match self.lifecycle {
            Lifecycle::Draining(until) => until,
            Lifecycle::Running => {
                let until = self.clock.after(Duration::from_millis(self.config.shutdown_ms.into()));
                self.lifecycle = Lifecycle::Draining(until);
                self.collector.end_pauses();
                until
            }
        };
        if until <= self.clock {
            self.give_up_everything(host);
            return Shutdown::Done;
        }
        self.advance(host);
        if self.queued() == 0 { Shutdown::Done } else { Shutdown::Pending }
    }

    /// Forgets all records. The collector may have taken those of the requests that are under way: they are counted
    /// apart from those that it cannot have.
    fn give_up_everything(&mut self, host: &dyn Host) {
        let under_way = self.batches.iter().filter(|batch| !batch.is_ready());
        let unanswered = under_way.fold(0usize, |sum, batch| sum.saturating_add(batch.records));
        let dropped = self.queued().saturating_sub(unanswered);
        self.queue.clear();
        self.batches.clear();
        self.metrics.unanswered_at_shutdown.add(host, count(unanswered));
        self.metrics.dropped_at_shutdown.add(host, count(dropped));
        self.metrics.queued.tell(host, 0);
    }
}
