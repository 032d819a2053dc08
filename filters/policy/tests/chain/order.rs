//! Who is called when.

use portcullis_policy::Next;
use portcullis_policy::host::Direction;

use crate::probe::Bench;

#[test]
fn request_callbacks_run_from_the_first_policy_to_the_last() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[]), ("c", &[])]);

    let id = bench.begin();
    assert_eq!(bench.seen(), ["a request headers", "b request headers", "c request headers"]);
    assert_eq!(bench.request_body(id, b"12345", false), Next::Continue);
    assert_eq!(bench.seen(), ["a request body 0..5", "b request body 0..5", "c request body 0..5"]);
    assert_eq!(bench.request_trailers(id), Next::Continue);
    assert_eq!(bench.seen(), ["a request trailers", "b request trailers", "c request trailers"]);
}

#[test]
fn response_callbacks_run_from_the_last_policy_to_the_first() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[]), ("c", &[])]);
    let id = bench.begin();
    bench.seen();

    assert_eq!(bench.response_headers(id, false), Next::Continue);
    assert_eq!(bench.seen(), ["c response headers", "b response headers", "a response headers"]);
    assert_eq!(bench.worker.body(id, Direction::Response, b"123", false), Next::Continue);
    assert_eq!(bench.seen(), ["c response body 0..3", "b response body 0..3", "a response body 0..3"]);
    assert_eq!(bench.worker.trailers(id, Direction::Response), Next::Continue);
    assert_eq!(bench.seen(), ["c response trailers", "b response trailers", "a response trailers"]);
}

#[test]
fn log_and_close_run_from_the_first_policy_to_the_last() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[])]);
    let id = bench.begin();
    bench.seen();

    bench.worker.finish(id);

    assert_eq!(bench.seen(), ["a log", "b log", "a close", "b close"]);
}

#[test]
fn a_request_without_a_body_ends_with_its_headers() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[])]);

    bench.worker.request([(":method", "GET")]);

    assert_eq!(bench.seen(), ["a request headers end", "b request headers end"]);
}

#[test]
fn pieces_of_a_streamed_body_are_shown_as_they_pass() {
    let mut bench = Bench::new(&[("a", &[])]);
    let id = bench.begin();
    bench.seen();

    bench.request_body(id, b"123", false);
    bench.request_body(id, b"45", false);
    bench.request_body(id, b"", true);

    assert_eq!(bench.seen(), ["a request body 0..3", "a request body 0..2", "a request body 0..0 end"]);
    assert_eq!(bench.upstream_got(id), b"12345");
}

#[test]
fn a_chain_without_policies_lets_everything_pass() {
    let mut bench = Bench::new(&[]);
    let id = bench.begin();

    assert_eq!(bench.request_body(id, b"12345", true), Next::Continue);
    assert_eq!(bench.response_headers(id, true), Next::Continue);
    bench.worker.finish(id);

    assert_eq!(bench.upstream_got(id), b"12345");
    assert_eq!(bench.worker.open_exchanges(), 0);
}

#[test]
fn a_chain_names_its_policies_in_order() {
    use portcullis_policy::{Callbacks, Chain, ConfigError, Policy};

    struct First;

    #[derive(serde::Deserialize)]
    struct Level {
        #[serde(rename = "level")]
        _level: u8,
    }

    impl Policy for First {
        const NAME: &'static str = "first";
        const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
            .and(Callbacks::REQUEST_BODY)
            .and(Callbacks::RESPONSE_HEADERS)
            .and(Callbacks::RESPONSE_BODY);
        type Config = Level;
        type State = ();
        fn from_config(_: Level) -> Result<Self, ConfigError> {
            Ok(Self)
        }
    }

    let chain = Chain::new().then(First).then_configured::<First>(br#"{"level":7}"#).unwrap();
    assert_eq!(chain.names().collect::<Vec<_>>(), ["first", "first"]);
    let refused = Chain::new().then_configured::<First>(br#"{"level":"secret"}"#).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "level: expected u8, found string");
}
