//! A policy that does nothing but export, on the in-process host.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use portcullis_access_log::otlp::{AttributeValue, Exporter, OtlpConfig, Record, Severity};
use portcullis_policy::{CallOutReply, Callbacks, Chain, ConfigError, Exchange, Policy, Shutdown, Worker};
use portcullis_testkit::inprocess::{self, RecordedCall, SharedData, TestHost};

use crate::request;

/// One record for each exchange: the header `line`, of the exchange's `traceparent`.
struct Sink {
    exporter: Exporter,
    queued: Rc<Cell<usize>>,
}

impl Policy for Sink {
    const NAME: &'static str = "sink";
    const CALLBACKS: Callbacks =
        Callbacks::LOG.and(Callbacks::TICK).and(Callbacks::CALL_OUT).and(Callbacks::SHUTDOWN);
    type Config = OtlpConfig;
    type State = ();

    fn from_config(config: OtlpConfig) -> Result<Self, ConfigError> {
        Ok(Self { exporter: Exporter::new(config)?, queued: Rc::default() })
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.exporter.start(worker)
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(self.exporter.tick_period())
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        self.exporter.on_tick(worker);
        self.queued.set(self.exporter.queued());
    }

    fn on_call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        self.exporter.on_reply(reply, worker);
        self.queued.set(self.exporter.queued());
    }

    fn on_shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        let answer = self.exporter.on_shutdown(worker);
        self.queued.set(self.exporter.queued());
        answer
    }

    fn on_log(&mut self, (): &mut (), exchange: &mut Exchange<'_>) {
        let now = exchange.host().now();
        let headers = exchange.request_headers().unwrap().clone();
        let record = Record {
            time: now,
            observed: now,
            severity: Severity::Info,
            body: headers.first("line").unwrap_or_default(),
            traceparent: headers.first("traceparent"),
        };
        let attributes = [
            ("http.request.method", AttributeValue::Text(b"GET")),
            ("http.response.status_code", AttributeValue::Int(200)),
        ];
        self.exporter.push(&record, attributes, exchange.host());
        self.queued.set(self.exporter.queued());
    }
}

/// A worker with the sink.
pub(crate) struct Bench {
    pub(crate) worker: inprocess::Worker,
    queued: Rc<Cell<usize>>,
}

/// The defaults, but what is logged before a tick is due by that tick.
pub(crate) fn config() -> OtlpConfig {
    OtlpConfig { flush_interval_ms: 100, ..OtlpConfig::to_cluster("collector") }
}

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl Bench {
    pub(crate) fn start(config: OtlpConfig) -> Self {
        Self::start_on(TestHost::new(SharedData::default()), config)
    }

    pub(crate) fn start_on(host: TestHost, config: OtlpConfig) -> Self {
        let sink = Sink::from_config(config).expect("a good configuration");
        let queued = Rc::clone(&sink.queued);
        let worker = inprocess::Worker::start_with(Chain::new().then(sink), host).expect("it starts");
        Self { worker, queued }
    }

    /// Logs these lines, each as the end of an exchange.
    pub(crate) fn log<L: AsRef<[u8]>>(&mut self, lines: impl IntoIterator<Item = L>) {
        for line in lines {
            let id = self.worker.request([(":path", &b"/"[..]), ("line", line.as_ref())]);
            self.worker.finish(id);
        }
    }

    /// Logs this line and lets it be sent, which takes a tick with [`config`].
    pub(crate) fn send(&mut self, line: &str) -> RecordedCall {
        self.log([line]);
        self.tick();
        self.worker.pending_call()
    }

    pub(crate) fn tick(&mut self) {
        self.worker.advance(ms(100));
    }

    /// Lets ticks pass until a request is sent, and says how long that took.
    pub(crate) fn wait_for_request(&mut self) -> (RecordedCall, Duration) {
        for ticks in 1..100_000 {
            self.tick();
            if let [call] = &self.worker.pending_calls()[..] {
                return (call.clone(), ms(100) * ticks);
            }
        }
        panic!("no request was sent");
    }

    /// Answers the only request under way.
    pub(crate) fn answer(&mut self, status: u16) {
        self.answer_with(status, &[], b"");
    }

    pub(crate) fn answer_with(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        let call = self.worker.pending_call();
        self.worker.answer(call.token, status, headers, body);
    }

    /// The lines of the requests under way.
    pub(crate) fn lines_under_way(&self) -> Vec<Vec<String>> {
        self.worker.pending_calls().iter().map(|call| request::lines(&call.body)).collect()
    }

    pub(crate) fn queued(&self) -> usize {
        self.queued.get()
    }

    /// Whether the host was told, once, that the shutdown it waited for is complete.
    pub(crate) fn has_ended(&self) -> bool {
        let times = self.worker.host.shutdowns_completed();
        assert!(times <= 1, "told {times} times");
        times == 1
    }

    /// A metric of the exporter.
    pub(crate) fn metric(&self, name: &str) -> usize {
        let value = self.worker.host.metric(&format!("portcullis.access_log.otlp_{name}"));
        usize::try_from(value).expect("not negative")
    }
}
