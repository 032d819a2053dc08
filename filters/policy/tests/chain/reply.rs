//! A policy that replies in the upstream's stead.

use portcullis_policy::host::Direction;
use portcullis_policy::{ExchangeId, Next};

use crate::probe::{Bench, On, Say, Script};

/// A whole request comes, in three parts, and `b` is woken: whatever `b` answers, it has had its chance.
fn send_whole_request(bench: &mut Bench) -> ExchangeId {
    let id = bench.begin();
    bench.request_body(id, b"123", false);
    bench.request_trailers(id);
    bench.wake("b", id);
    id
}

#[test]
fn a_reply_from_any_request_callback_ends_the_request_there() {
    for (from, script, seen_by_b) in [
        ("headers", &[(On::RequestHeaders, Say::Reply(401))] as Script, 1),
        ("body", &[(On::RequestBody, Say::Reply(401))], 2),
        ("trailers", &[(On::RequestTrailers, Say::Reply(401))], 3),
        ("wake", &[(On::RequestHeaders, Say::Wait), (On::Wake, Say::Reply(401))], 2),
    ] {
        let mut bench = Bench::new(&[("a", &[]), ("b", script), ("c", &[])]);

        let id = send_whole_request(&mut bench);

        assert_eq!(bench.replied(id), Some(401), "{from}");
        let seen = bench.seen();
        let by = |policy: &str| seen.iter().filter(|line| line.starts_with(policy)).count();
        assert_eq!(by("b "), seen_by_b, "{from}: {seen:?}");
        assert_eq!(by("c "), by("b ").saturating_sub(if from == "wake" { 2 } else { 1 }), "{from}: {seen:?}");
    }
}

#[test]
fn nothing_of_the_request_goes_on_after_a_reply() {
    let mut bench = Bench::new(&[("a", &[(On::RequestHeaders, Say::Reply(403))]), ("b", &[])]);
    let id = bench.begin();
    bench.seen();

    assert_eq!(bench.request_body(id, b"123", false), Next::Hold);
    assert_eq!(bench.request_trailers(id), Next::Hold);

    assert_eq!(bench.seen(), [""; 0]);
    assert_eq!(bench.upstream_got(id), b"");
}

#[test]
fn a_policy_that_waits_is_not_asked_once_another_has_replied() {
    // b waits; then body comes, which a refuses.
    let mut bench = Bench::new(&[
        ("a", &[(On::RequestBody, Say::Reply(413))]),
        ("b", &[(On::RequestHeaders, Say::Wait)]),
    ]);
    let id = bench.begin();
    bench.request_body(id, b"123", true);
    assert_eq!(bench.replied(id), Some(413));
    bench.seen();

    bench.wake("b", id);

    assert_eq!(bench.seen(), [""; 0]);
}

#[test]
fn the_response_passes_only_policies_that_have_seen_the_request() {
    let mut bench =
        Bench::new(&[("a", &[]), ("b", &[(On::RequestHeaders, Say::Reply(401))]), ("c", &[]), ("d", &[])]);
    let id = bench.begin();
    bench.seen();

    // The host sends the reply through the response callbacks, as it does with an upstream's response.
    assert_eq!(bench.response_headers(id, false), Next::Continue);
    assert_eq!(bench.worker.body(id, Direction::Response, b"no", true), Next::Continue);

    assert_eq!(
        bench.seen(),
        ["b response headers", "a response headers", "b response body 0..2 end", "a response body 0..2 end"]
    );
}

#[test]
fn a_reply_of_the_host_s_own_passes_policies_that_are_done_with_the_request_and_ends_the_wait() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[(On::RequestHeaders, Say::Wait)]), ("c", &[])]);
    let id = bench.begin();
    bench.seen();

    // A timeout of the host's, say.
    assert_eq!(bench.response_headers(id, true), Next::Continue);

    assert_eq!(bench.seen(), ["a response headers end"]);

    bench.wake("b", id);
    assert_eq!(bench.seen(), [""; 0], "nothing is left to be decided");
    assert_eq!(bench.worker.body(id, Direction::Request, b"late", true), Next::Hold);
    assert_eq!(bench.worker.host.passed_body(id, Direction::Request), b"");
}

#[test]
fn a_reply_from_any_response_callback_ends_the_response_there() {
    for (from, script) in [
        ("headers", &[(On::ResponseHeaders, Say::Reply(502))] as Script),
        ("body", &[(On::ResponseBody, Say::Reply(502))]),
        ("trailers", &[(On::ResponseTrailers, Say::Reply(502))]),
        ("wake", &[(On::ResponseHeaders, Say::Wait), (On::Wake, Say::Reply(502))]),
    ] {
        let mut bench = Bench::new(&[("a", &[]), ("b", script)]);
        let id = bench.worker.request([(":method", "GET")]);
        bench.response_headers(id, false);
        bench.worker.body(id, Direction::Response, b"12", false);
        bench.worker.trailers(id, Direction::Response);
        bench.wake("b", id);
        assert_eq!(bench.replied(id), Some(502), "{from}");
        bench.seen();

        // The host should not deliver more of the upstream's response; if it does, nothing of it goes on.
        assert_eq!(bench.worker.body(id, Direction::Response, b"345", false), Next::Hold, "{from}");
        assert_eq!(bench.worker.trailers(id, Direction::Response), Next::Hold, "{from}");

        assert_eq!(bench.seen(), [""; 0], "{from}");
        assert!(
            !bench.worker.host.passed_body(id, Direction::Response).ends_with(b"345"),
            "{from}: the rest of the response went on"
        );
    }
}

#[test]
fn a_reply_to_a_request_whose_response_has_begun_ends_both() {
    let mut bench = Bench::new(&[
        ("a", &[(On::RequestBody, Say::Reply(413))]),
        ("b", &[(On::ResponseHeaders, Say::Wait)]),
    ]);
    let id = bench.begin();
    bench.response_headers(id, false);
    bench.request_body(id, b"123", true);
    assert_eq!(bench.replied(id), Some(413));
    bench.seen();

    bench.wake("b", id);
    assert_eq!(bench.worker.body(id, Direction::Response, b"12", true), Next::Hold);

    assert_eq!(bench.seen(), [""; 0]);
}

#[test]
fn a_reply_speaks_the_language_of_the_request() {
    let mut bench = Bench::new(&[("a", &[(On::RequestHeaders, Say::Reply(403))])]);

    let id = bench.worker.request([("content-type", "application/soap+xml")]);

    let reply = bench.worker.reply(id);
    assert_eq!(reply.headers[0], ("content-type", b"application/soap+xml; charset=utf-8".to_vec()));
}
