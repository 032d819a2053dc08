//! Callbacks that belong to no exchange, and wakes from callbacks that do.

use std::time::Duration;

use portcullis_policy::host::{CallOut, Clock, Direction, Level};
use portcullis_policy::time::{MonotonicTime, Timestamp};
use portcullis_policy::{
    BodyEvent, Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, HeaderList, Next,
    Policy, SecretName, Shutdown, Worker as PolicyWorker,
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
    let refusal = "the host refused a periodic tick, which is needed: \
                   internal failure, or a capability that is not granted";
    for (period, refused) in [(Some(Duration::from_secs(1)), Some(refusal)), (None, None)] {
        let host = TestHost::new(SharedData::default());
        host.fail(Fault::Tick);
        let started = Worker::start_with(Chain::new().then(Ticks("a", period)), host);
        assert_eq!(started.err().map(|error| error.to_string()).as_deref(), refused, "{period:?}");
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

/// Says which of its kind it is, and does not end before it has been asked twice.
#[derive(Default)]
struct Lingers {
    asked: usize,
}

impl Policy for Lingers {
    const NAME: &'static str = "lingers";
    const CALLBACKS: Callbacks = Callbacks::TICK.and(Callbacks::LOG).and(Callbacks::SHUTDOWN);
    type Config = ();
    type State = usize;

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }

    fn on_start(&mut self, worker: &mut PolicyWorker<'_>) -> Result<(), ConfigError> {
        worker.host().log(Level::Info, &format!("instance {}", worker.instance()));
        Ok(())
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn on_shutdown(&mut self, _: &mut PolicyWorker<'_>) -> Shutdown {
        self.asked = self.asked.saturating_add(1);
        if self.asked < 2 { Shutdown::Pending } else { Shutdown::Done }
    }

    fn on_log(&mut self, state: &mut usize, exchange: &mut Exchange<'_>) {
        *state = state.saturating_add(1);
        let path =
            exchange.request_headers().ok().and_then(|headers| headers.first(":path")).map(<[u8]>::to_vec);
        let line = format!("{state} {:?}", path.map(String::from_utf8));
        exchange.host().log(Level::Info, &line);
    }
}

#[test]
fn a_policy_is_told_how_many_of_its_kind_stand_before_it() {
    let chain = Chain::new()
        .then(Lingers::default())
        .then(Ticks("other", None))
        .then(Lingers::default())
        .then(Lingers::default());
    let worker = Worker::start(chain).unwrap();
    assert_eq!(worker.log_lines(Level::Info), ["instance 0", "instance 1", "instance 2"]);
}

/// Looks for secrets under these names, and tells all that it knows of.
struct Guards(Vec<SecretName>);

impl Policy for Guards {
    const NAME: &'static str = "guards";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self(Vec::new()))
    }

    fn secret_names(&self) -> Vec<SecretName> {
        self.0.clone()
    }

    fn on_start(&mut self, worker: &mut PolicyWorker<'_>) -> Result<(), ConfigError> {
        worker.host().log(Level::Info, &format!("{:?}", worker.secret_names()));
        Ok(())
    }
}

#[test]
fn every_policy_is_told_the_names_of_all_secrets() {
    let names = [SecretName::Header("x-key".into()), SecretName::Parameter("key".into())];
    let [header, parameter] = names.clone().map(|name| Guards(vec![name]));
    let chain = Chain::new().then(header).then(Guards(Vec::new())).then(parameter);
    let worker = Worker::start(chain).unwrap();
    assert_eq!(worker.log_lines(Level::Info), vec![format!("{names:?}"); 3]);
}

#[test]
fn the_host_waits_until_every_policy_is_done_and_is_told_once() {
    let mut worker = Worker::start(Chain::new().then(Lingers::default()).then(Ticks("a", None))).unwrap();
    worker.advance(Duration::from_secs(3));
    assert_eq!(worker.host.shutdowns_completed(), 0);

    assert_eq!(worker.shut_down(), Shutdown::Pending);
    assert_eq!(worker.host.shutdowns_completed(), 0);
    worker.advance(Duration::from_secs(1));
    assert_eq!(worker.host.shutdowns_completed(), 1);
    worker.advance(Duration::from_secs(5));
    assert_eq!(worker.host.shutdowns_completed(), 1);
}

#[test]
fn a_host_that_need_not_wait_is_not_told_anything() {
    let mut worker = Worker::start(Chain::new().then(Ticks("a", Some(Duration::from_secs(1))))).unwrap();
    assert_eq!(worker.shut_down(), Shutdown::Done);
    worker.advance(Duration::from_secs(5));
    assert_eq!(worker.host.shutdowns_completed(), 0);
}

#[test]
fn an_access_logger_sees_each_exchange_by_itself() {
    let mut worker = Worker::start(Chain::new().then(Lingers::default())).unwrap();
    for path in ["/a", "/b"] {
        let id = worker.open_unseen();
        worker.unseen_headers(id, Direction::Request, [(":path", path)]);
        worker.log_as_access_logger(id);
        assert_eq!(worker.open_exchanges(), 0);
    }
    let lines = worker.log_lines(Level::Info);
    assert_eq!(lines, ["instance 0", "1 Some(Ok(\"/a\"))", "1 Some(Ok(\"/b\"))"]);
}

/// Needs what it is told to need, and tells what it sees.
struct Needs(Callbacks);

impl Policy for Needs {
    const NAME: &'static str = "needs";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY);
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self(Self::CALLBACKS))
    }

    fn callbacks(&self) -> Callbacks {
        self.0
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        exchange.host().log(Level::Info, "request");
        Flow::Continue
    }

    fn on_response_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        exchange.host().log(Level::Info, "response");
        Flow::Continue
    }

    fn on_response_body(&mut self, (): &mut (), exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        exchange.host().log(Level::Info, &format!("response {:?}", body.fresh));
        Flow::Continue
    }
}

#[test]
fn messages_that_no_policy_needs_pass_them_all_by() {
    for (needs, expected) in [
        (Callbacks::REQUEST_HEADERS, vec!["request"]),
        (Callbacks::RESPONSE_HEADERS, vec!["response"]),
        (Callbacks::RESPONSE_BODY, vec!["response", "response 0..3", "response 0..2"]),
        (Callbacks::NONE, vec![]),
    ] {
        let mut worker = Worker::start(Chain::new().then(Needs(needs))).unwrap();
        let id = worker.request([(":path", "/")]);
        assert_eq!(worker.fate(id), Fate::Admitted);
        assert_eq!(worker.response_headers(id, [(":status", "200")], false), Next::Continue);
        assert_eq!(worker.body(id, Direction::Response, b"abc", false), Next::Continue);
        assert_eq!(worker.body(id, Direction::Response, b"de", true), Next::Continue);
        assert_eq!(worker.host.passed_body(id, Direction::Response), b"abcde");
        assert_eq!(worker.log_lines(Level::Info), expected);
    }
}

#[test]
fn the_monotonic_clock_goes_on_when_the_wall_clock_is_set() {
    let mut worker = Worker::start(Chain::new()).unwrap();
    let before = worker.host.monotonic().unwrap();
    worker.advance(Duration::from_secs(2));
    worker.host.set_time(Timestamp::from_nanos(7));
    worker.advance(Duration::from_secs(3));
    assert_eq!(worker.host.monotonic().unwrap().since(before), Duration::from_secs(5));
    assert_eq!(worker.host.now(), Timestamp::from_nanos(3_000_000_007));
    assert_eq!(MonotonicTime::from_nanos(5).since(MonotonicTime::from_nanos(7)), Duration::ZERO);
}
