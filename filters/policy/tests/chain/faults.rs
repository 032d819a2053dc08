//! Hosts that fail: policies get an error, and nobody panics.

use portcullis_policy::host::{Direction, HeaderMap, Level};
use portcullis_policy::metrics::Counter;
use portcullis_policy::{
    Callbacks, Chain, ConfigError, EndOfStream, Exchange, Flow, HostError, Policy, Reply,
    Worker as PolicyWorker,
};
use portcullis_testkit::inprocess::{Fault, SharedData, TestHost, Worker};

/// Makes every host call that a policy can make on an exchange, and tells which of them failed.
struct TriesAll;

impl Policy for TriesAll {
    const NAME: &'static str = "tries-all";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn on_start(&mut self, worker: &mut PolicyWorker<'_>) -> Result<(), ConfigError> {
        Counter::define(worker.host(), Self::NAME, "starts").increment(worker.host());
        Ok(())
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        let call_out = exchange.call_out(&portcullis_policy::host::CallOut {
            cluster: "cluster",
            headers: &[(":method", b"GET"), (":path", b"/"), (":authority", b"x")],
            body: b"",
            timeout: core::time::Duration::from_secs(1),
        });
        let tried: [(&str, Result<(), HostError>); 8] = [
            ("call_out", call_out.map(|_| ())),
            ("remove_request_header", exchange.remove_request_header("x")),
            ("set_request_header", exchange.set_request_header(":path", b"/b")),
            ("request_headers", exchange.request_headers().map(|_| ())),
            ("headers", exchange.headers(HeaderMap::RequestHeaders).map(|_| ())),
            ("property", exchange.host().property(&["request", "time"]).map(|_| ())),
            ("set_property", exchange.host().set_property(&["x"], b"y")),
            ("set_shared", {
                exchange.host().set_shared("key", b"value", portcullis_policy::host::Write::Always)
            }),
        ];
        for (what, result) in tried {
            if result.is_err() {
                exchange.host().log(Level::Info, what);
            }
        }
        let _ = exchange.body(Direction::Request, 0..10);
        let _ = exchange.original_path();
        Flow::Reply(Box::new(Reply::new(403, "Forbidden", "test")))
    }
}

#[test]
fn each_fault_fails_the_calls_that_it_concerns_and_the_exchange_is_still_decided() {
    for (fault, failing) in [
        (None, &[][..]),
        // What cannot be read cannot be cleared of other spellings either.
        (
            Some(Fault::ReadHeaders),
            &["remove_request_header", "set_request_header", "request_headers", "headers"],
        ),
        (Some(Fault::WriteHeaders), &["remove_request_header", "set_request_header"]),
        (Some(Fault::ReadProperty), &["property"]),
        (Some(Fault::WriteProperty), &["set_property"]),
        (Some(Fault::WriteShared), &["set_shared"]),
        (Some(Fault::CallOut), &["call_out"]),
        (Some(Fault::DefineMetric), &[]),
    ] {
        let host = TestHost::new(SharedData::default());
        if let Some(fault) = fault {
            host.fail(fault);
        }
        let mut worker = Worker::start_with(Chain::new().then(TriesAll), host).unwrap();
        let id = worker.open();
        worker.host.give_property(id, &["request", "time"], &[0; 8]);

        worker.request_headers(id, [(":method", "GET"), (":path", "/a"), ("x", "y")], true);

        assert_eq!(worker.log_lines(Level::Info), failing, "{fault:?}");
        assert_eq!(worker.reply(id).status, 403, "{fault:?}");
        let started = if fault == Some(Fault::DefineMetric) { 0 } else { 1 };
        assert_eq!(worker.host.metric("portcullis.tries_all.starts"), started, "{fault:?}");
    }
}
