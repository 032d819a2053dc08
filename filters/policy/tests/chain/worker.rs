//! Callbacks that belong to no exchange, and wakes from callbacks that do.

use std::time::Duration;

use portcullis_policy::host::{CallOut, Level};
use portcullis_policy::{
    Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, HeaderList, Next, Policy,
    Worker as PolicyWorker,
};
use portcullis_testkit::inprocess::{Fate, Fault, SharedData, TestHost, Worker};

/// Ticks at its own period, and tells of it.
struct Ticks(&'static str, Option<Duration>);

impl Policy for Ticks {
    const NAME: &'static str = "ticks";
    const CALLBACKS: Callbacks = Callbacks::TICK;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Err(ConfigError::new("period", "missing"))
    }

    fn tick_period(&self) -> Option<Duration> {
        self.1
    }

    fn on_tick(&mut self, worker: &mut PolicyWorker<'_>) {
        worker.host().log(Level::Info, self.0);
    }
}

#[test]
fn the_worker_ticks_at_the_shortest_period_that_a_policy_wants() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for (periods, ticks_in_a_minute) in [
        ([seconds(20), seconds(5), seconds(60)], 12),
        ([None, seconds(30), None], 2),
        ([seconds(60), None, seconds(90)], 1),
        ([None, None, None], 0),
    ] {
        let [a, b, c] = periods;
        let chain = Chain::new().then(Ticks("a", a)).then(Ticks("b", b)).then(Ticks("c", c));
        let mut worker = Worker::start(chain).unwrap();

        worker.advance(Duration::from_secs(60));

        let expected: Vec<&str> = ["a", "b", "c"].repeat(ticks_in_a_minute);
        assert_eq!(worker.log_lines(Level::Info), expected, "{periods:?}");
    }
}

#[test]
fn a_host_that_refuses_the_tick_is_refused_when_a_policy_needs_it() {
    for (period, refused) in [(Some(Duration::from_secs(1)), true), (None, false)] {
        let host = TestHost::new(SharedData::default());
        host.fail(Fault::Tick);
        let started = Worker::start_with(Chain::new().then(Ticks("a", period)), host);
        assert_eq!(started.is_err(), refused, "{period:?}");
    }
}

/// Makes one call-out for each request and lets the request wait for it.
#[derive(Default)]
struct Asks(Vec<(portcullis_policy::host::CallToken, ExchangeId)>);

impl Policy for Asks {
    const NAME: &'static str = "asks";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        let headers: &[(&str, &[u8])] = &[(":method", b"GET"), (":path", b"/"), (":authority", b"x")];
        let request = CallOut { cluster: "cluster", headers, body: b"", timeout: Duration::from_secs(1) };
        match exchange.call_out(&request) {
            Ok(token) => self.0.push((token, exchange.id())),
            Err(_) => return Flow::Continue,
        }
        // The focus is the exchange's again: its headers can be read.
        match exchange.request_headers() {
            Ok(_) => Flow::Wait,
            Err(_) => Flow::Continue,
        }
    }

    fn on_call_out_reply(&mut self, reply: portcullis_policy::CallOutReply, worker: &mut PolicyWorker<'_>) {
        let body = worker.host().call_out_body(usize::MAX).unwrap_or_default();
        let told =
            format!("{} headers, {} bytes: {}", reply.headers, reply.body, String::from_utf8_lossy(&body));
        worker.host().log(Level::Info, &told);
        if let Some((_, id)) = self.0.iter().find(|(token, _)| *token == reply.token) {
            worker.wake(*id);
        }
    }
}

#[test]
fn a_call_out_s_reply_reaches_every_policy_and_wakes_the_exchange_of_the_one_that_asked() {
    let mut worker = Worker::start(Chain::new().then(Asks::default()).then(Asks::default())).unwrap();
    let id = worker.request([(":method", "GET")]);
    assert_eq!(worker.fate(id), Fate::Held);

    worker.answer(worker.pending_call().token, 200, &[("x", "y")], b"yes");
    assert_eq!(worker.log_lines(Level::Info), ["2 headers, 3 bytes: yes"; 2]);
    assert_eq!(worker.fate(id), Fate::Held, "the second policy has asked in its turn");
    worker.fail_call(worker.pending_call().token);

    assert_eq!(worker.log_lines(Level::Info).last().unwrap(), "0 headers, 0 bytes: ");
    assert_eq!(worker.fate(id), Fate::Admitted);
    assert_eq!(worker.host.calls_sent(), 2);
}

#[test]
fn a_reply_for_an_exchange_that_was_aborted_does_nothing() {
    let mut worker = Worker::start(Chain::new().then(Asks::default())).unwrap();
    let id = worker.request([(":method", "GET")]);
    let token = worker.pending_call().token;
    worker.abort(id);

    worker.answer_raw(token, HeaderList::new(), b"");

    assert_eq!(worker.fate(id), Fate::Held);
    assert_eq!(worker.open_exchanges(), 0);
}

/// Wakes its own exchange at once, or the one that waits for it.
#[derive(Default)]
struct Leads {
    waiting: Option<ExchangeId>,
}

impl Policy for Leads {
    const NAME: &'static str = "leads";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        match (self.waiting.take(), end) {
            (Some(waiting), _) => {
                exchange.wake(waiting);
                Flow::Continue
            }
            (None, EndOfStream::Yes) => {
                self.waiting = Some(exchange.id());
                Flow::Wait
            }
            (None, EndOfStream::No) => {
                exchange.wake(exchange.id());
                Flow::Wait
            }
        }
    }
}

#[test]
fn an_exchange_can_wake_another() {
    let mut worker = Worker::start(Chain::new().then(Leads::default())).unwrap();
    let first = worker.request([(":method", "GET")]);
    assert_eq!(worker.fate(first), Fate::Held);

    let second = worker.request([(":method", "GET")]);

    assert_eq!(worker.fate(first), Fate::Admitted);
    assert_eq!(worker.fate(second), Fate::Admitted);
}

#[test]
fn an_exchange_that_wakes_itself_goes_on_with_the_callback_s_own_result() {
    // To resume a message that is still in its callback is of no use: Envoy holds a response when that returns.
    let mut worker = Worker::start(Chain::new().then(Leads::default())).unwrap();
    let id = worker.open();

    assert_eq!(worker.request_headers(id, [(":method", "GET")], false), Next::Continue);
}
