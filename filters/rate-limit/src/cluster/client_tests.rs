//! The client in a policy that does nothing but ask, on a host in the test's own process.

use std::collections::BTreeSet;

use portcullis_policy::host::Clock;
use portcullis_policy::{Callbacks, Chain, ConfigError, EndOfStream, Flow, HeaderMap, Policy, Reply};
use portcullis_testkit::inprocess::{Fate, Fault, RecordedCall, Worker as TestWorker};
use prost::Message;

use super::super::messages::{HeaderValue, RateLimitRequest, RateLimitResponse, code};
use super::super::reply::tests::{response, status};
use super::*;

const CONFIG: &[u8] =
    br#"{"cluster": "ratelimit", "domain": "shop", "max_waiting": 3, "request_headers": ["X-Limited"]}"#;

/// Lets those pass who are within their limits, refuses others with 429, and outages with 503.
struct Asker {
    config: ServiceConfig,
    service: Option<RateLimitService>,
    gone: BTreeSet<ExchangeId>,
}

impl Policy for Asker {
    const NAME: &'static str = "asker";
    const CALLBACKS: Callbacks =
        Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY).and(Callbacks::CALL_OUT).and(Callbacks::TICK);
    type Config = ServiceConfig;
    type State = Option<CallToken>;

    fn from_config(config: ServiceConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, service: None, gone: BTreeSet::new() })
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        let metrics = ServiceMetrics::define(worker.host(), None);
        self.service = Some(RateLimitService::new(&self.config, metrics));
        Ok(())
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(Duration::from_millis(100))
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        let released = self.service.as_mut().unwrap().on_tick(worker);
        self.release(released, worker);
    }

    fn on_call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        let released = self.service.as_mut().unwrap().on_reply(reply, worker);
        self.release(released, worker);
    }

    fn on_request_headers(
        &mut self,
        state: &mut Option<CallToken>,
        exchange: &mut Exchange<'_>,
        _: EndOfStream,
    ) -> Flow {
        let service = self.service.as_mut().unwrap();
        let mut description = service.describe(None);
        let path = exchange.request_headers().unwrap().first(":path");
        service.describe_part("path", path, &mut description);
        match service.ask(&description, exchange) {
            Asked::Pending(call) => {
                *state = Some(call);
                Flow::Wait
            }
            Asked::Outage(outage) => out(outage),
        }
    }

    fn on_wake(&mut self, state: &mut Option<CallToken>, exchange: &mut Exchange<'_>) -> Flow {
        if exchange.request_headers().unwrap().contains("x-sleeps-on") {
            return Flow::Wait;
        }
        let call = state.take().unwrap();
        match self.service.as_mut().unwrap().collect(call).unwrap() {
            Answer::Outage(outage) => out(outage),
            Answer::Ruled(ruling) if ruling.ruled == Ruled::Over => refuse(429, "over"),
            Answer::Ruled(ruling) => {
                ruling.request_headers.append_to(HeaderMap::RequestHeaders, exchange).unwrap();
                Flow::Continue
            }
        }
    }

    fn on_close(&mut self, state: &mut Option<CallToken>, id: ExchangeId) {
        self.gone.insert(id);
        if let Some(call) = *state {
            self.service.as_mut().unwrap().forget(call);
        }
    }
}

impl Asker {
    fn release(&mut self, released: impl IntoIterator<Item = ExchangeId>, worker: &mut Worker<'_>) {
        for id in released {
            assert!(!self.gone.contains(&id), "released, and gone before");
            worker.wake(id);
        }
    }

    fn worker() -> TestWorker {
        TestWorker::start(Chain::new().then_configured::<Self>(CONFIG).unwrap()).unwrap()
    }
}

fn refuse(status: u16, why: &'static str) -> Flow {
    Flow::Reply(Box::new(Reply::new(status, "Refused", why)))
}

fn out(outage: Outage) -> Flow {
    refuse(503, outage.as_str())
}

fn request(worker: &mut TestWorker) -> ExchangeId {
    worker.request([(":method", "GET"), (":path", "/a"), ("x-limited", "no")])
}

fn asked(worker: &mut TestWorker) -> (ExchangeId, RecordedCall) {
    let id = request(worker);
    assert_eq!(worker.fate(id), Fate::Held);
    (id, worker.pending_call())
}

fn answer(worker: &mut TestWorker, token: CallToken, response: &RateLimitResponse) {
    let headers = [("content-type", "application/grpc")];
    worker.answer_with_trailers(token, 200, &headers, &frame::wrap(response), &[("grpc-status", "0")]);
}

fn metric(worker: &TestWorker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.rate_limit.service_{name}"))
}

#[track_caller]
fn assert_outage(worker: &TestWorker, id: ExchangeId, outage: Outage, counter: &str) {
    let reply = worker.reply(id);
    assert_eq!((reply.status, reply.code_details), (503, outage.as_str()));
    assert_eq!(metric(worker, counter), 1, "{counter}");
}

#[test]
fn asks_in_grpc_over_an_http_call_out() {
    let mut worker = Asker::worker();
    let (_, call) = asked(&mut worker);

    assert_eq!(call.cluster, "ratelimit");
    assert_eq!(call.timeout, Duration::from_millis(20));
    for (name, value) in [
        (":method", "POST"),
        (":path", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"),
        (":authority", "ratelimit"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("grpc-timeout", "20m"),
    ] {
        assert_eq!(call.header(name).as_deref(), Some(value), "{name}");
    }
    let request = RateLimitRequest::decode(frame::unwrap(&call.body).unwrap()).unwrap();
    assert_eq!(request.domain, "shop");
    assert_eq!(request.descriptors.len(), 1);
    let entry = &request.descriptors[0].entries[0];
    assert_eq!((entry.key.as_str(), entry.value.as_str()), ("path", "/a"));
    assert_eq!(metric(&worker, "calls"), 1);
}

#[test]
fn lets_pass_and_refuses_as_the_service_says() {
    let mut worker = Asker::worker();
    let limit = status(code::OK, 5, 1, 3, 1);

    let (within, call) = asked(&mut worker);
    answer(&mut worker, call.token, &response(code::OK, std::slice::from_ref(&limit)));
    assert_eq!(worker.fate(within), Fate::Admitted);

    let (over, call) = asked(&mut worker);
    answer(&mut worker, call.token, &response(code::OVER_LIMIT, &[limit]));
    assert_eq!(worker.reply(over).status, 429);

    assert_eq!(
        (metric(&worker, "ok"), metric(&worker, "over_limit"), metric(&worker, "no_limit")),
        (1, 1, 0)
    );
}

#[test]
fn counts_answers_in_which_a_descriptor_has_no_limit() {
    const TWO: &[u8] = br#"{"cluster": "ratelimit", "domain": "shop", "descriptors": [{}, {"entries": [{"key": "per", "value": "day"}]}]}"#;
    let limited = status(code::OK, 5, 1, 3, 1);
    let mut unlimited = status(code::OK, 0, 0, 0, 0);
    unlimited.current_limit = None;
    for (config, statuses, expected) in [
        (CONFIG, vec![limited.clone()], 0),
        (CONFIG, vec![unlimited.clone()], 1),
        (CONFIG, vec![], 1),
        (TWO, vec![limited.clone(), limited.clone()], 0),
        (TWO, vec![limited.clone(), unlimited.clone()], 1),
        (TWO, vec![unlimited, limited.clone()], 1),
        (TWO, vec![limited], 1),
    ] {
        let mut worker = TestWorker::start(Chain::new().then_configured::<Asker>(config).unwrap()).unwrap();
        let (id, call) = asked(&mut worker);
        answer(&mut worker, call.token, &response(code::OK, &statuses));
        assert_eq!(worker.fate(id), Fate::Admitted);
        assert_eq!((metric(&worker, "ok"), metric(&worker, "no_limit")), (1, expected), "{statuses:?}");
    }
}

#[test]
fn appends_the_headers_that_the_service_wants_added() {
    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    let header =
        |key: &str| HeaderValue { key: key.to_owned(), value: "yes".to_owned(), raw_value: Vec::new() };
    let headers = vec![header("x-limited"), header("x-portcullis-client-id"), header(":path")];
    let response = RateLimitResponse { request_headers_to_add: headers, ..response(code::OK, &[]) };
    answer(&mut worker, call.token, &response);

    let upstream = worker.host.upstream_headers(id);
    assert_eq!(upstream.all("x-limited").collect::<Vec<_>>(), [&b"no"[..], b"yes"]);
    assert_eq!(upstream.all(":path").collect::<Vec<_>>(), [b"/a"]);
    assert!(!upstream.contains("x-portcullis-client-id"));
    assert_eq!(metric(&worker, "headers_refused"), 2);
}

/// A service that always asks for it writes one line a minute.
#[test]
fn complains_once_of_headers_that_are_not_permitted() {
    let mut worker = Asker::worker();
    for key in ["authorization", "x\n[error] forged", "x-envoy-upstream-rq-timeout-ms"] {
        let (_, call) = asked(&mut worker);
        let headers = vec![HeaderValue { key: key.to_owned(), value: "1".to_owned(), raw_value: Vec::new() }];
        let response = RateLimitResponse { request_headers_to_add: headers, ..response(code::OK, &[]) };
        answer(&mut worker, call.token, &response);
    }
    let log = worker.host.log_lines(Level::Warn);
    let lines: Vec<_> = log.iter().filter(|line| line.contains("service.request_headers")).collect();
    assert_eq!(lines.len(), 1, "{log:?}");
    assert!(lines[0].contains("such as authorization:"), "{lines:?}");
    assert_eq!(metric(&worker, "headers_refused"), 3);
}

type Fields<'a> = &'a [(&'a str, &'a str)];
/// Status, headers, body and trailers of a reply; what it is, and which counter says so.
type Case<'a> = (u16, Fields<'a>, &'a [u8], Fields<'a>, Outage, &'a str);

#[test]
fn tells_outages_apart() {
    let message = frame::wrap(&response(code::OK, &[]));
    let unknown = frame::wrap(&response(0, &[]));
    let long = vec![0; reply::MAX_BYTES + 1];
    let timeout = ("grpc-message", "upstream request timeout");
    let cases: &[Case<'_>] = &[
        (502, &[], b"", &[], Outage::Unavailable, "unavailable"),
        (503, &[], b"", &[], Outage::Unavailable, "unavailable"),
        (503, &[("x-envoy-overloaded", "true")], b"", &[], Outage::Overload, "overload"),
        (503, &[("retry-after", "1")], b"", &[], Outage::Overload, "overload"),
        (429, &[], b"", &[], Outage::Overload, "overload"),
        (
            200,
            &[("grpc-status", "14"), ("x-envoy-overloaded", "true")],
            b"",
            &[],
            Outage::Overload,
            "overload",
        ),
        (504, &[], b"", &[], Outage::Timeout, "timeout"),
        (404, &[("grpc-status", "0")], &message, &[("grpc-status", "0")], Outage::Error, "error"),
        // Trailers-Only.
        (200, &[("grpc-status", "14")], b"", &[], Outage::Unavailable, "unavailable"),
        (200, &[("grpc-status", "14"), timeout], b"", &[], Outage::Timeout, "timeout"),
        (200, &[("grpc-status", "4")], b"", &[], Outage::Timeout, "timeout"),
        (200, &[("grpc-status", "2")], b"", &[], Outage::Error, "error"),
        (200, &[("grpc-status", "8")], b"", &[], Outage::Overload, "overload"),
        (200, &[("grpc-status", "0")], b"", &[], Outage::Nonsense, "nonsense"),
        // The trailers have the last word.
        (200, &[], &message, &[("grpc-status", "2")], Outage::Error, "error"),
        (200, &[("grpc-status", "0")], &message, &[("grpc-status", "13")], Outage::Error, "error"),
        (200, &[], &message, &[], Outage::Nonsense, "nonsense"),
        (200, &[], &message, &[("grpc-status", "ok")], Outage::Nonsense, "nonsense"),
        (200, &[], &message, &[("grpc-status", "-1")], Outage::Nonsense, "nonsense"),
        (200, &[], b"<html>", &[("grpc-status", "0")], Outage::Nonsense, "nonsense"),
        (200, &[], &unknown, &[("grpc-status", "0")], Outage::Nonsense, "nonsense"),
        (200, &[], &long, &[("grpc-status", "0")], Outage::Nonsense, "nonsense"),
    ];
    for (status, headers, body, trailers, outage, counter) in cases {
        let mut worker = Asker::worker();
        let (id, call) = asked(&mut worker);
        worker.answer_with_trailers(call.token, *status, headers, body, trailers);
        assert_outage(&worker, id, *outage, counter);
    }
}

#[test]
fn reads_answers_up_to_the_longest_and_none_longer() {
    let mut longest = response(code::OVER_LIMIT, &[]);
    longest.raw_body = vec![b'x'; reply::MAX_BYTES / 2];
    let missing = reply::MAX_BYTES - frame::wrap(&longest).len();
    longest.raw_body.resize(longest.raw_body.len() + missing, b'x');
    assert_eq!(frame::wrap(&longest).len(), reply::MAX_BYTES);

    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    answer(&mut worker, call.token, &longest);
    assert_eq!(worker.reply(id).status, 429);

    longest.raw_body.push(b'x');
    let (id, call) = asked(&mut worker);
    answer(&mut worker, call.token, &longest);
    assert_outage(&worker, id, Outage::Nonsense, "nonsense");
}

#[test]
fn takes_a_call_that_breaks_off_for_an_outage() {
    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    worker.fail_call(call.token);
    assert_outage(&worker, id, Outage::Reset, "reset");
}

#[test]
fn takes_a_call_that_the_cluster_refuses_for_overload() {
    let mut worker = Asker::worker();
    worker.host.fail(Fault::CallOut);
    let id = request(&mut worker);
    assert_outage(&worker, id, Outage::Overload, "overload");
    assert_eq!((metric(&worker, "calls"), metric(&worker, "unreachable")), (1, 0));
}

#[test]
fn takes_a_call_to_no_cluster_for_an_outage() {
    let mut worker = Asker::worker();
    worker.host.fail(Fault::UnknownCluster);
    let id = request(&mut worker);
    assert_outage(&worker, id, Outage::Unreachable, "unreachable");
    assert_eq!(metric(&worker, "calls"), 0);
}

#[test]
fn takes_a_reply_that_cannot_be_read_for_an_outage() {
    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    worker.host.fail(Fault::ReadCallOut);
    answer(&mut worker, call.token, &response(code::OK, &[]));
    assert_outage(&worker, id, Outage::Reset, "reset");
}

#[test]
fn takes_a_host_without_a_clock_for_an_outage() {
    let mut worker = Asker::worker();
    worker.host.fail(Fault::Clock);
    let id = request(&mut worker);
    assert_outage(&worker, id, Outage::Host, "host_failed");

    worker.host.mend(Fault::Clock);
    let (id, call) = asked(&mut worker);
    worker.host.forget_call(call.token);
    worker.host.fail(Fault::Clock);
    worker.advance(Duration::from_millis(100));
    assert_outage(&worker, id, Outage::Timeout, "timeout");
}

#[test]
fn gives_up_when_the_host_reports_a_timeout() {
    let mut worker = Asker::worker();
    let (id, _) = asked(&mut worker);
    worker.advance(Duration::from_millis(19));
    assert_eq!(worker.fate(id), Fate::Held);
    worker.advance(Duration::from_millis(1));
    assert_outage(&worker, id, Outage::Timeout, "timeout");
}

#[test]
fn gives_up_on_an_answer_that_got_lost() {
    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    worker.host.forget_call(call.token);

    worker.advance(Duration::from_millis(1000));
    assert_eq!(worker.fate(id), Fate::Held);
    worker.advance(Duration::from_millis(200));
    assert_outage(&worker, id, Outage::Timeout, "timeout");
}

#[test]
fn does_not_give_up_early_because_the_wall_clock_was_set_ahead() {
    let mut worker = Asker::worker();
    let (id, call) = asked(&mut worker);
    worker.host.forget_call(call.token);
    worker.host.set_time(worker.host.now().after(Duration::from_secs(3600)));
    worker.advance(Duration::from_millis(500));
    assert_eq!(worker.fate(id), Fate::Held);
}

#[test]
fn bounds_those_who_wait_and_those_who_went_away() {
    let mut worker = Asker::worker();
    let first = request(&mut worker);
    request(&mut worker);
    let third = request(&mut worker);
    worker.abort(first);

    let fourth = request(&mut worker);
    assert_outage(&worker, fourth, Outage::Overload, "overload");

    let calls = worker.pending_calls();
    assert_eq!(calls.len(), 3);
    // The first is gone; its answer counts, and makes room.
    answer(&mut worker, calls[0].token, &response(code::OK, &[]));
    assert_eq!(metric(&worker, "ok"), 1);
    let fifth = request(&mut worker);
    assert_eq!(worker.fate(fifth), Fate::Held);
    answer(&mut worker, calls[2].token, &response(code::OK, &[]));
    assert_eq!(worker.fate(third), Fate::Admitted);
}

#[test]
fn keeps_the_answer_for_the_one_who_asked() {
    let mut worker = Asker::worker();
    let (first, second) = (request(&mut worker), request(&mut worker));
    let calls = worker.pending_calls();
    answer(&mut worker, calls[1].token, &response(code::OVER_LIMIT, &[]));
    assert_eq!((worker.fate(first), worker.reply(second).status), (Fate::Held, 429));
    answer(&mut worker, calls[0].token, &response(code::OK, &[]));
    assert_eq!(worker.fate(first), Fate::Admitted);
}

/// An exchange that is over before it is woken, for one.
#[test]
fn keeps_no_answer_for_those_who_go_away_without_it() {
    let mut worker = Asker::worker();
    for _ in 0..4 {
        let id = worker.request([(":method", "GET"), (":path", "/a"), ("x-sleeps-on", "")]);
        let call = worker.pending_call();
        answer(&mut worker, call.token, &response(code::OK, &[]));
        assert_eq!(worker.fate(id), Fate::Held);
        worker.abort(id);
    }
    assert_eq!(metric(&worker, "overload"), 0);
    let (id, call) = asked(&mut worker);
    answer(&mut worker, call.token, &response(code::OK, &[]));
    assert_eq!(worker.fate(id), Fate::Admitted);
}

/// Every policy of a chain gets the answers to all of them.
#[test]
fn leaves_answers_to_others_alone() {
    let one = Chain::new().then_configured::<Asker>(CONFIG).unwrap();
    let mut worker = TestWorker::start(one.then_configured::<Asker>(CONFIG).unwrap()).unwrap();
    let (id, first) = asked(&mut worker);
    answer(&mut worker, first.token, &response(code::OK, &[]));
    assert_eq!(worker.fate(id), Fate::Held);

    let second = worker.pending_call();
    assert_ne!(second.token, first.token);
    answer(&mut worker, second.token, &response(code::OK, &[]));
    assert_eq!((worker.fate(id), metric(&worker, "ok")), (Fate::Admitted, 2));
}

#[test]
fn opens_for_outages_of_the_service_only() {
    use Outage::*;
    for outage in [Unreachable, Unavailable, Reset, Timeout, Error, Nonsense] {
        assert!(outage.may_open(), "{outage:?}");
    }
    assert!(!Overload.may_open() && !Host.may_open());
}
