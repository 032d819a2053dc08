//! A policy that waits, and what becomes of the exchange meanwhile and afterwards.

use portcullis_policy::Next;
use portcullis_policy::host::Direction;
use portcullis_testkit::inprocess::Fate;

use crate::probe::{Bench, On, Say, Script};

const WAITS: Script = &[(On::RequestHeaders, Say::Wait)];

#[test]
fn a_wait_stops_the_chain_there_and_a_wake_resumes_it_there() {
    let mut bench = Bench::new(&[("a", &[]), ("b", WAITS), ("c", &[])]);

    let id = bench.worker.request([(":method", "GET")]);
    assert_eq!(bench.seen(), ["a request headers end", "b request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Held);

    bench.wake("b", id);
    assert_eq!(bench.seen(), ["b wake", "c request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Admitted);
}

#[test]
fn what_comes_during_a_wait_is_held_and_shown_after_it_once_and_in_order() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let id = bench.begin();

    assert_eq!(bench.request_body(id, b"123", false), Next::Hold);
    assert_eq!(bench.request_body(id, b"45", false), Next::Hold);
    assert_eq!(bench.request_trailers(id), Next::Hold);
    assert_eq!(bench.seen(), ["a request headers"], "nothing more before the wake");
    assert_eq!(bench.upstream_got(id), b"");

    bench.wake("a", id);
    assert_eq!(
        bench.seen(),
        [
            "a wake",
            "a request body 0..5",
            "a request trailers",
            "b request headers",
            "b request body 0..5",
            "b request trailers",
        ]
    );
    assert_eq!(bench.upstream_got(id), b"12345");
}

#[test]
fn a_body_that_ends_during_a_wait_ends_for_everybody_after_it() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"123", true), Next::Hold);
    bench.seen();

    bench.wake("a", id);

    assert_eq!(
        bench.seen(),
        ["a wake", "a request body 0..3 end", "b request headers", "b request body 0..3 end"]
    );
    assert_eq!(bench.upstream_got(id), b"123");
}

#[test]
fn an_empty_end_during_a_wait_makes_the_headers_the_end_for_later_policies() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"", true), Next::Hold);
    bench.seen();

    bench.wake("a", id);

    assert_eq!(bench.seen(), ["a wake", "a request body 0..0 end", "b request headers end"]);
}

#[test]
fn after_a_wait_the_rest_of_the_body_streams() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let id = bench.begin();
    bench.request_body(id, b"123", false);
    bench.wake("a", id);
    bench.seen();

    assert_eq!(bench.request_body(id, b"45", true), Next::Continue);

    assert_eq!(bench.seen(), ["a request body 0..2 end", "b request body 0..2 end"]);
    assert_eq!(bench.upstream_got(id), b"12345");
}

#[test]
fn policies_that_wait_one_after_the_other_decide_one_after_the_other() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", WAITS), ("c", &[])]);
    let id = bench.worker.request([(":method", "GET")]);
    bench.seen();

    bench.wake("a", id);
    assert_eq!(bench.seen(), ["a wake", "b request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Held);
    bench.wake("b", id);
    assert_eq!(bench.seen(), ["b wake", "c request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Admitted);
}

#[test]
fn a_policy_may_wait_again_when_it_is_woken() {
    let mut bench =
        Bench::new(&[("a", &[(On::RequestHeaders, Say::Wait), (On::Wake, Say::Wait)]), ("b", &[])]);
    let id = bench.worker.request([(":method", "GET")]);

    bench.wake("a", id);
    assert_eq!(bench.worker.fate(id), Fate::Held);
    bench.wake("a", id);

    assert_eq!(bench.seen(), ["a request headers end", "a wake", "a wake", "b request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Admitted);
}

#[test]
fn a_wait_in_any_request_callback_holds_the_request_until_the_wake() {
    for on in [On::RequestHeaders, On::RequestBody, On::RequestTrailers] {
        let script: Script = match on {
            On::RequestHeaders => WAITS,
            On::RequestBody => &[(On::RequestBody, Say::Wait)],
            _ => &[(On::RequestTrailers, Say::Wait)],
        };
        let mut bench = Bench::new(&[("a", script), ("b", &[])]);
        let id = bench.begin();
        bench.request_body(id, b"123", false);
        assert_eq!(bench.request_trailers(id), Next::Hold, "{on:?}");
        let passed = if on == On::RequestTrailers { b"123".as_slice() } else { b"" };
        assert_eq!(bench.upstream_got(id), passed, "{on:?}");
        assert!(!bench.seen().contains(&"b request trailers".to_owned()), "{on:?}");

        bench.wake("a", id);

        assert_eq!(bench.upstream_got(id), b"123", "{on:?}");
        assert_eq!(bench.seen().last().unwrap(), "b request trailers", "{on:?}");
    }
}

#[test]
fn a_wait_in_any_response_callback_holds_the_response_until_the_wake() {
    for (on, script) in [
        (On::ResponseHeaders, &[(On::ResponseHeaders, Say::Wait)] as Script),
        (On::ResponseBody, &[(On::ResponseBody, Say::Wait)]),
        (On::ResponseTrailers, &[(On::ResponseTrailers, Say::Wait)]),
    ] {
        let mut bench = Bench::new(&[("a", &[]), ("b", script)]);
        let id = bench.worker.request([(":method", "GET")]);
        bench.response_headers(id, false);
        bench.worker.body(id, Direction::Response, b"123", false);
        assert_eq!(bench.worker.trailers(id, Direction::Response), Next::Hold, "{on:?}");
        assert!(!bench.seen().contains(&"a response trailers".to_owned()), "{on:?}");

        bench.wake("b", id);

        assert_eq!(bench.worker.host.passed_body(id, Direction::Response), b"123", "{on:?}");
        assert_eq!(bench.seen().last().unwrap(), "a response trailers", "{on:?}");
    }
}

#[test]
fn each_of_two_policies_that_wait_at_once_gets_its_own_wake() {
    // b waits on the headers; when body comes, a, which has passed the headers, waits on the body.
    for first in ["a", "b"] {
        let mut bench = Bench::new(&[("a", &[(On::RequestBody, Say::Wait)]), ("b", WAITS), ("c", &[])]);
        let id = bench.begin();
        bench.request_body(id, b"123", true);
        let second = if first == "a" { "b" } else { "a" };
        bench.seen();

        bench.wake(first, id);
        assert_eq!(bench.seen()[0], format!("{first} wake"));
        assert_eq!(bench.worker.fate(id), Fate::Held, "{second} still waits");
        bench.wake(second, id);

        assert_eq!(bench.seen()[0], format!("{second} wake"));
        assert_eq!(bench.worker.fate(id), Fate::Admitted);
        assert_eq!(bench.upstream_got(id), b"123");
    }
}

#[test]
fn request_and_response_that_wait_at_once_each_get_their_own_wake() {
    let mut bench =
        Bench::new(&[("a", &[(On::RequestBody, Say::Wait)]), ("b", &[(On::ResponseHeaders, Say::Wait)])]);
    let id = bench.begin();
    bench.request_body(id, b"123", true);
    // An upstream may answer before the request is complete.
    assert_eq!(bench.response_headers(id, true), Next::Hold);
    bench.seen();

    bench.wake("a", id);
    assert_eq!(bench.seen(), ["a wake", "b request body 0..3 end"]);
    assert_eq!(bench.upstream_got(id), b"123");
    bench.wake("b", id);
    assert_eq!(bench.seen(), ["b wake", "a response headers end"]);
}

#[test]
fn a_wake_is_spent_on_the_policy_that_asked_for_it() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", WAITS)]);
    let id = bench.worker.request([(":method", "GET")]);
    bench.seen();

    // Two reasons to wake for a, and b, which waits next, has had none.
    bench.wake_all("a", &[id, id]);

    assert_eq!(bench.seen(), ["a wake", "b request headers end"]);
    assert_eq!(bench.worker.fate(id), Fate::Held);
}

#[test]
fn a_wake_of_an_exchange_that_does_not_wait_does_nothing() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let id = bench.worker.request([(":method", "GET")]);
    bench.wake("b", id);
    assert_eq!(bench.worker.fate(id), Fate::Held, "b does not let a's exchange pass");
    bench.wake("a", id);
    bench.seen();

    bench.wake("a", id);

    assert_eq!(bench.seen(), [""; 0]);
}

#[test]
fn a_wake_of_an_exchange_that_is_gone_or_never_was_does_nothing() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let gone = bench.begin();
    bench.request_body(gone, b"123", true);
    bench.worker.abort(gone);
    assert_eq!(bench.seen(), ["a request headers", "a close", "b close"]);

    bench.wake_all("a", &[gone, portcullis_policy::ExchangeId(4_000_000)]);

    assert_eq!(bench.seen(), [""; 0]);
    assert_eq!(bench.upstream_got(gone), b"");
    assert_eq!(bench.worker.open_exchanges(), 0);
}

#[test]
fn several_exchanges_can_be_woken_at_once() {
    let mut bench = Bench::new(&[("a", WAITS), ("b", &[])]);
    let ids: Vec<_> = (0..3).map(|_| bench.worker.request([(":method", "GET")])).collect();

    bench.wake_all("a", &[ids[0], ids[2]]);

    assert_eq!(bench.worker.fate(ids[0]), Fate::Admitted);
    assert_eq!(bench.worker.fate(ids[1]), Fate::Held);
    assert_eq!(bench.worker.fate(ids[2]), Fate::Admitted);
}
