//! The beginning and the end of exchanges.

use portcullis_policy::host::{Direction, Level};
use portcullis_policy::{Chain, Engine, ExchangeId, Next};
use portcullis_testkit::inprocess::{SharedData, TestHost};

use crate::probe::{Bench, On, Say, Script};

#[test]
fn log_can_come_without_any_callback_before_it() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[])]);
    let id = bench.worker.open();

    bench.worker.finish(id);

    assert_eq!(bench.seen(), ["a log", "b log", "a close", "b close"]);
}

#[test]
fn the_engine_has_an_exchange_from_its_opening_to_its_end() {
    let host = TestHost::new(SharedData::default());
    let mut engine = Engine::new(Chain::new());
    let [id, other] = [ExchangeId(7), ExchangeId(8)];
    assert!(!engine.has(id));
    engine.open(&host, id);
    assert!(engine.has(id) && !engine.has(other));
    engine.close(&host, id);
    assert!(!engine.has(id));
}

#[test]
fn log_comes_to_policies_behind_one_that_replied_too() {
    let mut bench = Bench::new(&[("a", &[(On::RequestHeaders, Say::Reply(401))]), ("b", &[])]);
    let id = bench.begin();
    bench.seen();

    bench.worker.log(id);

    assert_eq!(bench.seen(), ["a log", "b log"]);
}

#[test]
fn an_exchange_that_reuses_a_slot_begins_afresh() {
    // Each script's answers are counted in the exchange's state: what leaks from one exchange shows in the next.
    const SCRIPTS: [Script; 4] = [
        &[(On::RequestHeaders, Say::Wait)],
        &[(On::RequestHeaders, Say::Reply(401))],
        &[(On::RequestHeaders, Say::NeedBody)],
        &[(On::RequestBody, Say::Wait)],
    ];
    for script in SCRIPTS {
        let mut bench = Bench::new(&[("a", script), ("b", &[])]);
        let mut lives = Vec::new();
        for _ in 0..3 {
            let id = bench.begin();
            bench.request_body(id, b"12", false);
            bench.response_headers(id, false);
            bench.worker.abort(id);
            lives.push((bench.seen(), bench.replied(id)));
        }
        assert_eq!(lives[0], lives[1]);
        assert_eq!(lives[1], lives[2]);
    }
}

#[test]
fn what_policies_know_of_an_exchange_ends_with_it() {
    use portcullis_policy::{
        Callbacks, Chain, ConfigError, EndOfStream, Exchange, Flow, Identity, Outcome, Policy, Verdict,
    };
    use portcullis_testkit::inprocess::Worker;

    /// Knows the caller of the first exchange only, and tells of everyone.
    struct Knows;
    impl Policy for Knows {
        const NAME: &'static str = "knows";
        const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
            .and(Callbacks::REQUEST_BODY)
            .and(Callbacks::RESPONSE_HEADERS)
            .and(Callbacks::RESPONSE_BODY);
        type Config = ();
        type State = u32;
        fn from_config((): ()) -> Result<Self, ConfigError> {
            Ok(Self)
        }
        fn on_request_headers(
            &mut self,
            state: &mut u32,
            exchange: &mut Exchange<'_>,
            _: EndOfStream,
        ) -> Flow {
            *state = state.saturating_add(1);
            if exchange.request_headers().is_ok_and(|headers| headers.contains("first")) {
                exchange.set_identity(Identity { client_id: "one".to_owned(), ..Identity::default() }.into());
                exchange.record(Outcome { policy: "knows", verdict: Verdict::Passed, reason: "first" });
                let _ = exchange.set_request_header(":path", b"/changed");
            }
            Flow::Continue
        }
        fn on_log(&mut self, state: &mut u32, exchange: &mut Exchange<'_>) {
            let told = format!(
                "{state} {:?} {:?} {:?}",
                exchange.identity().map(|identity| &identity.client_id),
                exchange.original_path().map(String::from_utf8_lossy),
                exchange.outcomes().iter().map(ToString::to_string).collect::<Vec<_>>(),
            );
            exchange.host().log(Level::Info, &told);
        }
    }

    let mut worker = Worker::start(Chain::new().then(Knows)).unwrap();
    let first = worker.request([(":path", "/one?a=b"), ("first", "")]);
    worker.finish(first);
    let second = worker.request([(":path", "/two")]);
    worker.finish(second);
    let third = worker.open();
    worker.finish(third);

    assert_eq!(
        worker.log_lines(Level::Info),
        [
            r#"1 Some("one") Some("/one?a=b") ["knows:passed:first"]"#,
            r#"1 None Some("/two") []"#,
            "0 None None []",
        ]
    );
}

#[test]
fn the_original_path_is_kept_though_nobody_had_read_the_headers_before_the_change() {
    use portcullis_policy::{Callbacks, Chain, ConfigError, EndOfStream, Exchange, Flow, Policy};
    use portcullis_testkit::inprocess::Worker;

    struct Changes;
    impl Policy for Changes {
        const NAME: &'static str = "changes";
        const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
            .and(Callbacks::REQUEST_BODY)
            .and(Callbacks::RESPONSE_HEADERS)
            .and(Callbacks::RESPONSE_BODY);
        type Config = ();
        type State = ();
        fn from_config((): ()) -> Result<Self, ConfigError> {
            Ok(Self)
        }
        fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
            let _ = exchange.set_request_header(":path", b"/changed");
            let _ = exchange.set_request_header(":path", b"/changed-again");
            let path = exchange.original_path().map(<[u8]>::to_vec).unwrap_or_default();
            let now = exchange
                .request_headers()
                .ok()
                .and_then(|headers| headers.first(":path"))
                .unwrap_or_default();
            let told = format!("{} -> {}", String::from_utf8_lossy(&path), String::from_utf8_lossy(now));
            exchange.host().log(Level::Info, &told);
            Flow::Continue
        }
    }

    let mut worker = Worker::start(Chain::new().then(Changes)).unwrap();
    worker.request([(":path", "/as-it-came?q")]);

    assert_eq!(worker.log_lines(Level::Info), ["/as-it-came?q -> /changed-again"]);
}

#[test]
fn a_callback_for_an_exchange_that_is_not_open_refuses_it() {
    type Callback = fn(&mut Bench, portcullis_policy::ExchangeId) -> Next;
    let callbacks: [(&str, Callback); 4] = [
        ("request headers", |bench, id| bench.worker.request_headers(id, [(":method", "GET")], true)),
        ("request body", |bench, id| bench.request_body(id, b"1", true)),
        ("request trailers", |bench, id| bench.request_trailers(id)),
        ("response headers", |bench, id| bench.response_headers(id, true)),
    ];
    for (what, callback) in callbacks {
        let mut bench = Bench::new(&[("a", &[])]);
        let id = bench.worker.open();
        bench.worker.abort(id);
        bench.seen();

        assert_eq!(callback(&mut bench, id), Next::Hold, "{what}");

        assert_eq!(bench.replied(id), Some(500), "{what}");
        assert_eq!(bench.seen(), [""; 0], "{what}");
        assert_eq!(bench.worker.log_lines(Level::Error).len(), 1, "{what}");
    }
}

#[test]
fn log_and_close_of_an_exchange_that_is_not_open_do_nothing() {
    let mut bench = Bench::new(&[("a", &[])]);
    let id = bench.worker.open();
    bench.worker.finish(id);
    bench.seen();

    bench.worker.finish(id);

    assert_eq!(bench.seen(), [""; 0]);
    // The slot was given back once: two exchanges that are open at the same time do not share it.
    let (one, two) = (bench.begin(), bench.begin());
    bench.worker.abort(one);
    assert_eq!(bench.request_body(two, b"1", true), Next::Continue);
    assert_eq!(bench.worker.open_exchanges(), 1);
}

#[test]
fn a_response_without_a_request_before_it_passes_all_policies() {
    // A module that exports no request callbacks still has its response callbacks.
    let mut bench = Bench::new(&[("a", &[]), ("b", &[])]);
    let id = bench.worker.open();

    assert_eq!(bench.response_headers(id, false), Next::Continue);
    assert_eq!(bench.worker.body(id, Direction::Response, b"1", true), Next::Continue);

    assert_eq!(
        bench.seen(),
        ["b response headers", "a response headers", "b response body 0..1 end", "a response body 0..1 end"]
    );
}
