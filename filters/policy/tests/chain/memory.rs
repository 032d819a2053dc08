//! What open exchanges take of a worker's memory, and what comes of those that would take too much.

use portcullis_policy::host::{Direction, Level};
use portcullis_policy::{
    Callbacks, Chain, ConfigError, EndOfStream, Exchange, Flow, HeldMemory, Next, Policy, Reply,
};
use portcullis_testkit::inprocess::{Fate, Worker};

/// Refuses requests that say so, has those wait that say so, and shows at the end what it knows of the request.
struct Gate<const LOGS: bool>;

impl<const LOGS: bool> Policy for Gate<LOGS> {
    const NAME: &'static str = "gate";
    const CALLBACKS: Callbacks = if LOGS {
        Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY).and(Callbacks::LOG)
    } else {
        Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY)
    };
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        let headers = exchange.request_headers().unwrap();
        if headers.contains("refuse") {
            return Flow::Reply(Box::new(Reply::new(401, "Unauthorized", "test")));
        }
        if headers.contains("wait") { Flow::Wait } else { Flow::PassRest }
    }

    fn on_log(&mut self, (): &mut (), exchange: &mut Exchange<'_>) {
        let outcomes: Vec<String> = exchange.outcomes().iter().map(ToString::to_string).collect();
        let known = exchange.known_request_headers().is_some();
        let path = exchange.request_headers().ok().and_then(|headers| headers.first(":path"));
        let path = path.map(|path| String::from_utf8_lossy(path).into_owned());
        exchange.host().log(Level::Info, &format!("{known} {path:?} {outcomes:?}"));
    }
}

const LARGE: usize = 20_000;

fn headers(kind: &'static str) -> Vec<(&'static str, Vec<u8>)> {
    vec![(":path", b"/a".to_vec()), (kind, vec![b'x'; LARGE])]
}

fn worker<const LOGS: bool>(most: usize) -> Worker {
    Worker::start(Chain::new().then(Gate::<LOGS>).with_max_exchange_bytes(most)).unwrap()
}

#[test]
fn the_copy_of_a_refused_request_s_headers_is_dropped_at_once() {
    let mut worker = worker::<true>(1 << 20);
    let id = worker.request(headers("refuse"));
    assert!(matches!(worker.fate(id), Fate::Replied(reply) if reply.status == 401));
    assert!(HeldMemory::of_worker() < 2000, "{}", HeldMemory::of_worker());
    worker.finish(id);
    assert_eq!(worker.log_lines(Level::Info), ["false Some(\"/a\") []"], "the host has them for the log");
    assert_eq!(HeldMemory::of_worker(), 0);
}

#[test]
fn the_copy_of_an_admitted_request_s_headers_stays_only_for_policies_that_may_look_back() {
    let mut logs = worker::<true>(1 << 20);
    let id = logs.request(headers("pass"));
    assert!(HeldMemory::of_worker() > LARGE);
    logs.finish(id);
    assert_eq!(logs.log_lines(Level::Info), ["true Some(\"/a\") []"]);
    assert_eq!(HeldMemory::of_worker(), 0);

    let mut looks_no_more = worker::<false>(1 << 20);
    let id = looks_no_more.request(headers("pass"));
    assert_eq!(looks_no_more.fate(id), Fate::Admitted);
    assert!(HeldMemory::of_worker() < 2000);
}

#[test]
fn exchanges_beyond_the_bound_are_refused_counted_and_logged_until_others_are_over() {
    let mut worker = worker::<true>(3 * (LARGE + 2000));
    let waiting: Vec<_> = (0..4).map(|_| worker.request(headers("wait"))).collect();
    assert!(waiting.iter().all(|id| worker.fate(*id) == Fate::Held), "the fourth begins within the bound");
    let held = HeldMemory::of_worker();

    let refused: Vec<_> = (0..100).map(|_| worker.request(headers("pass"))).collect();

    for id in &refused {
        let Fate::Replied(reply) = worker.fate(*id) else { panic!("it is refused") };
        assert_eq!((reply.status, reply.code_details), (503, "portcullis_memory_full"));
    }
    assert_eq!(HeldMemory::of_worker(), held, "nothing is kept of them");
    assert_eq!(worker.host.metric("portcullis.engine.memory_refused"), 100);
    // The reply passes, and the rest of the request does not.
    worker.response_headers(refused[0], [(":status", "503")], true);
    worker.host.take_reads();
    for id in refused {
        worker.finish(id);
    }
    let lines = worker.log_lines(Level::Info);
    assert_eq!(lines.len(), 100);
    assert_eq!(lines[0], "false Some(\"/a\") [\"engine:failed-closed:memory-full\"]");
    assert_eq!(HeldMemory::of_worker(), held);

    for id in waiting {
        worker.abort(id);
    }
    let id = worker.request(headers("pass"));
    assert_eq!(worker.fate(id), Fate::Admitted);
}

#[test]
fn what_an_exchange_without_memory_sends_after_its_headers_goes_nowhere() {
    let mut worker = worker::<true>(0);
    let id = worker.open();
    worker.request_headers(id, headers("pass"), false);
    assert_eq!(worker.body(id, Direction::Request, b"body", true), Next::Hold);
    assert!(matches!(worker.fate(id), Fate::Replied(reply) if reply.status == 503));
    assert_eq!(worker.host.metric("portcullis.engine.memory_refused"), 1);
}

/// What a policy keeps of an exchange is counted until the exchange is over, and refused beyond the bound.
#[test]
fn what_policies_keep_is_counted_with_the_rest() {
    struct Keeps;
    impl Policy for Keeps {
        const NAME: &'static str = "keeps";
        const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY);
        type Config = ();
        type State = ();

        fn from_config((): ()) -> Result<Self, ConfigError> {
            Ok(Self)
        }

        fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
            let kept = exchange.keep(60_000).is_ok();
            exchange.host().log(Level::Info, &format!("{kept}"));
            Flow::Wait
        }
    }
    let mut worker = Worker::start(Chain::new().then(Keeps).with_max_exchange_bytes(100_000)).unwrap();
    let ids = [worker.request(headers("a")), worker.request(headers("b"))];
    assert_eq!(worker.log_lines(Level::Info), ["true", "false"]);
    assert!(HeldMemory::of_worker() > 60_000);
    for id in ids {
        worker.abort(id);
    }
    assert_eq!(HeldMemory::of_worker(), 0);
}
