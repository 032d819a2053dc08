//! One worker's sink.

mod shutdown;

use core::time::Duration;
use std::collections::VecDeque;

use portcullis_policy::host::{Host, Level};
use portcullis_policy::time::MonotonicTime;
use portcullis_policy::{CallOutReply, ConfigError, HostError, Trouble, Worker};

use super::answer::{Answer, ResponseBody};
use super::batch::{Attempt, Batch, Sent};
use super::collector::{Collector, Epoch, jitter};
use super::config::OtlpConfig;
use super::destination::Destination;
use super::encode::{self, Fit, Limits};
use super::metrics::Metrics;
use super::queue::{BatchLimits, Queue};
use super::record::{AttributeValue, Record};
use super::resource;
use shutdown::Lifecycle;

/// How often the exporter wants its tick: what is due is sent, and full batches are, at most this late.
pub const TICK: Duration = Duration::from_millis(100);

/// How much longer than the call-out's own timeout an answer is waited for. The host reports timeouts by itself; this is
/// for answers that get lost on the way, so that no batch stays under way for ever.
const GRACE: Duration = Duration::from_secs(1);

/// How much of the buffer that records are encoded in is kept: what ordinary records need.
const KEPT_BUFFER: usize = 16 * 1024;

/// Queues records and sends them to the collector.
///
/// Records are sent from [`on_tick`](Self::on_tick) and [`on_reply`](Self::on_reply), never from
/// [`push`](Self::push): the end of an exchange costs an encoding and no call-out, and what comes between two ticks has
/// room in the queue.
#[derive(Debug)]
pub struct Exporter {
    config: OtlpConfig,
    destination: Destination,
    /// What each batch begins with.
    head: Vec<u8>,
    max_attribute: usize,
    /// What the records of a batch may take up, with the comma after the last.
    batch_limits: BatchLimits,
    queue: Queue,
    /// Requests under way or to be sent again, the oldest first.
    batches: VecDeque<Batch>,
    collector: Collector,
    /// It takes no records now.
    failing: Trouble,
    /// It takes some of them never.
    refusing: Trouble,
    metrics: Metrics,
    /// What the clock said last.
    clock: MonotonicTime,
    /// When what is queued is due, full batch or not: `flush_interval_ms` after a record came into the empty queue.
    flush_at: MonotonicTime,
    lifecycle: Lifecycle,
    /// Buffers to be used again.
    encoded: Vec<u8>,
    spare_bodies: Vec<Vec<u8>>,
}

impl Exporter {
    /// An exporter that has not begun: [`start`](Self::start) it first.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(config: OtlpConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let bytes = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let ms = |number: u32| Duration::from_millis(number.into());
        Ok(Self {
            destination: Destination::new(&config),
            head: Vec::new(),
            max_attribute: bytes(config.max_attribute_bytes),
            batch_limits: BatchLimits {
                records: bytes(config.max_batch),
                bytes: bytes(config.max_batch_bytes),
            },
            queue: Queue::new(bytes(config.max_queue), bytes(config.max_queue_bytes)),
            batches: VecDeque::new(),
            collector: Collector::new(ms(config.retry.initial_ms), ms(config.retry.max_ms)),
            failing: Trouble::default(),
            refusing: Trouble::default(),
            metrics: Metrics::default(),
            clock: MonotonicTime::default(),
            flush_at: MonotonicTime::default(),
            lifecycle: Lifecycle::Running,
            encoded: Vec::new(),
            spare_bodies: Vec::new(),
            config,
        })
    }

    /// What it may take of memory, in bytes. The queue's bytes count twice: while it grows, it is there in its old and in its
    /// new place, and at the end of the plugin all of it goes into batches. So do the lengths of its records.
    pub(crate) fn most_memory(&self) -> usize {
        let OtlpConfig { max_queue, max_queue_bytes, max_batch_bytes, max_in_flight, .. } = self.config;
        let product =
            |one: u32, other: usize| usize::try_from(one).unwrap_or(usize::MAX).saturating_mul(other);
        let lengths = product(max_queue, 16);
        // One more, which is kept to be used again.
        let batches = product(max_in_flight.saturating_add(1), product(max_batch_bytes, 1));
        product(max_queue_bytes, 2).saturating_add(lengths).saturating_add(batches)
    }

    /// Defines the metrics and learns what Envoy calls itself.
    ///
    /// # Errors
    /// The host has no steady clock, or the resource is too long for a batch.
    pub fn start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        let host = worker.host();
        self.clock = host.monotonic().map_err(|_| {
            let problem = "the host does not tell the time; grant the capability clock_time_get";
            ConfigError::new("", problem)
        })?;
        self.metrics = Metrics::define(host);
        self.head = resource::head(&self.config.resource, host);
        let envelope = self.head.len().saturating_add(encode::TAIL.len());
        let most = usize::try_from(self.config.max_batch_bytes).unwrap_or(usize::MAX);
        if envelope > most / 2 {
            return Err(ConfigError::new("resource", "is too long: it takes up half of max_batch_bytes"));
        }
        // The comma after the last record goes.
        self.batch_limits.bytes = most.saturating_sub(envelope).saturating_add(1);
        Ok(())
    }

    /// Queues a record. A full queue drops its oldest for it; requests under way are not touched.
    ///
    /// No two attributes may have the same name (OTLP, `LogRecord.attributes`): names are written as they are.
    pub fn push<'a>(
        &mut self,
        record: &Record<'_>,
        attributes: impl IntoIterator<Item = (&'a str, AttributeValue<'a>)>,
        host: &dyn Host,
    ) {
        let limits = Limits { record: self.batch_limits.bytes, attribute: self.max_attribute };
        match encode::record(&mut self.encoded, record, attributes, limits) {
            Fit::Whole => self.enqueue(host),
            Fit::LineCut => {
                self.metrics.lines_cut.increment(host);
                self.enqueue(host);
            }
            Fit::TooLong => self.metrics.dropped_too_long.increment(host),
        }
        self.encoded.clear();
        self.encoded.shrink_to(KEPT_BUFFER);
    }

    /// Queues the record that is encoded.
    fn enqueue(&mut self, host: &dyn Host) {
        if self.queue.is_empty() {
            let now = host.monotonic().unwrap_or(self.clock);
            self.flush_at = now.after(Duration::from_millis(self.config.flush_interval_ms.into()));
        }
        let dropped = self.queue.push(&self.encoded);
        if dropped > 0 {
            self.metrics.dropped_queue_full.add(host, count(dropped));
        }
    }

    /// How many records are queued, under way or to be sent again.
    pub fn queued(&self) -> usize {
        self.batches.iter().fold(self.queue.len(), |sum, batch| sum.saturating_add(batch.records))
    }

    /// How often [`on_tick`](Self::on_tick) is wanted.
    pub fn tick_period(&self) -> Duration {
        TICK
    }

    /// Sends what is due, and gives up on answers that are overdue.
    pub fn on_tick(&mut self, worker: &mut Worker<'_>) {
        self.advance(worker.host());
    }

    /// Takes the answer to a request; the reply to a call-out of somebody else is left alone.
    pub fn on_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        let host = worker.host();
        let mut batches = self.batches.iter().enumerate();
        let Some((at, attempt)) = batches.find_map(|(at, batch)| Some((at, batch.attempt(reply.token)?)))
        else {
            return;
        };
        match (Answer::read(reply, host), attempt) {
            (Answer::Taken { rejected, body }, _) => self.taken(at, rejected, body, host),
            // The attempt under way will have an answer of its own.
            (_, Attempt::Earlier) => {}
            (Answer::Later { status, pause }, Attempt::Latest(sent_in)) => {
                if let Some(batch) = self.batches.get_mut(at) {
                    batch.failed();
                }
                self.collector_failed(sent_in, status, pause, host);
            }
            (Answer::Refused { status }, Attempt::Latest(_)) => {
                let records = self.end_batch(at);
                self.metrics.dropped_refused.add(host, count(records));
                self.collector.answered();
                let cluster = &self.config.cluster;
                let line = format!(
                    "access-log: the collector {cluster} refuses records with status {status}; they are dropped"
                );
                self.refusing.lasts(Level::Error, &line, host);
            }
        }
        self.advance(host);
    }

    /// Goes as far as time and the collector allow.
    fn advance(&mut self, host: &dyn Host) {
        // Without a clock nothing is due, and what must not be lost keeps waiting.
        self.clock = host.monotonic().unwrap_or(self.clock);
        self.give_up_on_lost_answers(host);
        self.drop_expired(host);
        while self.collector.is_open(self.clock) {
            let ready = self.batches.iter().position(Batch::is_ready);
            let Some(at) = ready.or_else(|| self.form_batch()) else {
                break;
            };
            // The backoff that begins with a failure would end the loop as well, if time went on. A clock that has
            // reached its largest value does not, and every pause is over at once.
            if self.send(at, host).is_err() {
                break;
            }
        }
        self.metrics.queued.tell(host, self.queued());
    }

    fn give_up_on_lost_answers(&mut self, host: &dyn Host) {
        let now = self.clock;
        let lost: Vec<Epoch> = self.batches.iter_mut().filter_map(|batch| batch.give_up(now)).collect();
        for sent_in in lost {
            self.collector_failed(sent_in, None, None, host);
        }
    }

    fn drop_expired(&mut self, host: &dyn Host) {
        while let Some(at) = self.batches.iter().position(|batch| batch.has_expired(self.clock)) {
            let records = self.end_batch(at);
            self.metrics.dropped_expired.add(host, count(records));
        }
    }

    /// Makes a batch of the oldest records if it is time for one, and gives its place.
    fn form_batch(&mut self) -> Option<usize> {
        let in_flight = u32::try_from(self.batches.len()).unwrap_or(u32::MAX);
        let is_time = match self.lifecycle {
            Lifecycle::Draining(_) => true,
            Lifecycle::Running if in_flight >= self.config.max_in_flight => false,
            // A flush that is due goes on, batch after batch, until the queue is empty.
            Lifecycle::Running => self.flush_at <= self.clock || self.queue.has_full_batch(self.batch_limits),
        };
        if !is_time || self.queue.is_empty() {
            return None;
        }
        let mut body = self.spare_bodies.pop().unwrap_or_default();
        let records_at_most = self.queue.bytes().min(self.batch_limits.bytes);
        body.reserve_exact(
            self.head.len().saturating_add(records_at_most).saturating_add(encode::TAIL.len()),
        );
        body.extend_from_slice(&self.head);
        let records = self.queue.take(self.batch_limits, &mut body);
        body.pop();
        body.extend_from_slice(encode::TAIL);
        let kept_for = Duration::from_millis(self.config.retry.max_elapsed_ms.into());
        self.batches.push_back(Batch::new(body, records, self.clock.after(kept_for)));
        self.batches.len().checked_sub(1)
    }

    fn send(&mut self, at: usize, host: &dyn Host) -> Result<(), HostError> {
        let Some(batch) = self.batches.get_mut(at) else {
            return Ok(());
        };
        let is_retry = batch.has_failed();
        let epoch = self.collector.epoch();
        match self.destination.send(&batch.body, host) {
            Ok(token) => {
                let deadline = self.clock.after(self.destination.timeout()).after(GRACE);
                batch.sent(Sent { token, deadline, epoch });
                self.metrics.sent.increment(host);
                if is_retry {
                    self.metrics.retried.increment(host);
                }
                Ok(())
            }
            // The cluster may come yet.
            Err(error) => {
                batch.failed();
                self.collector_failed(epoch, None, None, host);
                Err(error)
            }
        }
    }

    fn taken(&mut self, at: usize, rejected: usize, body: ResponseBody, host: &dyn Host) {
        let records = self.end_batch(at);
        let rejected = rejected.min(records);
        self.metrics.exported.add(host, count(records.saturating_sub(rejected)));
        if rejected > 0 {
            self.metrics.rejected_partial.add(host, count(rejected));
        }
        if body == ResponseBody::Strange {
            self.metrics.strange_answers.increment(host);
        }
        self.collector.answered();
        let (failed, refused) = (self.failing.is_over(), self.refusing.is_over());
        if failed || refused {
            let cluster = &self.config.cluster;
            host.log(Level::Info, &format!("access-log: the collector {cluster} takes records again"));
        }
    }

    fn collector_failed(
        &mut self,
        sent_in: Epoch,
        status: Option<u16>,
        pause: Option<Duration>,
        host: &dyn Host,
    ) {
        self.metrics.failed.increment(host);
        self.collector.failed(self.clock, sent_in, pause, jitter(self.clock));
        let cluster = &self.config.cluster;
        let what = status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
        let line = format!(
            "access-log: the collector {cluster} takes no records now ({what}); they are kept while there is room"
        );
        self.failing.lasts(Level::Warn, &line, host);
    }

    /// Forgets a batch, whatever has become of it. Gives how many records it had.
    fn end_batch(&mut self, at: usize) -> usize {
        let Some(Batch { mut body, records, .. }) = self.batches.remove(at) else {
            return 0;
        };
        let most = usize::try_from(self.config.max_in_flight).unwrap_or(usize::MAX);
        if self.spare_bodies.len() < most {
            body.clear();
            self.spare_bodies.push(body);
        }
        records
    }
}

fn count(records: usize) -> i64 {
    i64::try_from(records).unwrap_or(i64::MAX)
}
