//! Policies that must see a body before they decide.

use portcullis_policy::Next;
use portcullis_policy::host::{Direction, Level};

use crate::probe::{Bench, On, Say, Script};

const NEEDS_THREE: Script = &[
    (On::RequestHeaders, Say::NeedBody),
    (On::RequestBody, Say::NeedBody),
    (On::RequestBody, Say::NeedBody),
];

#[test]
fn everything_is_held_until_the_policy_has_seen_enough() {
    let mut bench = Bench::new(&[("a", &[]), ("b", NEEDS_THREE), ("c", &[])]);
    let id = bench.begin();
    assert_eq!(bench.seen(), ["a request headers", "b request headers"]);

    assert_eq!(bench.request_body(id, b"12", false), Next::Hold);
    assert_eq!(bench.request_body(id, b"345", false), Next::Hold);
    assert_eq!(
        bench.seen(),
        ["a request body 0..2", "b request body 0..2", "a request body 2..5", "b request body 2..5"]
    );
    assert_eq!(bench.upstream_got(id), b"");

    assert_eq!(bench.request_body(id, b"6", true), Next::Continue);
    assert_eq!(
        bench.seen(),
        [
            "a request body 5..6 end",
            "b request body 5..6 end",
            "c request headers",
            "c request body 0..6 end",
        ]
    );
    assert_eq!(bench.upstream_got(id), b"123456");
}

#[test]
fn the_policy_decides_in_the_trailers_when_they_end_the_message() {
    let mut bench = Bench::new(&[("a", NEEDS_THREE), ("b", &[])]);
    let id = bench.begin();
    bench.request_body(id, b"12", false);
    assert_eq!(bench.request_body(id, b"345", false), Next::Hold);
    bench.seen();

    assert_eq!(bench.request_trailers(id), Next::Continue);

    assert_eq!(
        bench.seen(),
        ["a request trailers", "b request headers", "b request body 0..5", "b request trailers"]
    );
    assert_eq!(bench.upstream_got(id), b"12345");
}

#[test]
fn each_policy_that_needs_the_body_gets_all_of_it() {
    let needs_two: Script = &[(On::RequestHeaders, Say::NeedBody), (On::RequestBody, Say::NeedBody)];
    let mut bench = Bench::new(&[("a", needs_two), ("b", needs_two)]);
    let id = bench.begin();

    bench.request_body(id, b"12", false);
    assert_eq!(bench.request_body(id, b"3", false), Next::Hold, "b has seen one piece");
    assert_eq!(
        bench.seen(),
        [
            "a request headers",
            "a request body 0..2",
            "a request body 2..3",
            "b request headers",
            "b request body 0..3",
        ]
    );
    assert_eq!(bench.request_body(id, b"4", true), Next::Continue);
    assert_eq!(bench.seen(), ["a request body 3..4 end", "b request body 3..4 end"]);
    assert_eq!(bench.upstream_got(id), b"1234");
}

#[test]
fn to_need_more_of_a_message_that_has_ended_is_an_error_not_a_hang() {
    const NEEDS_FOREVER: Script = &[
        (On::RequestHeaders, Say::NeedBody),
        (On::RequestBody, Say::NeedBody),
        (On::RequestTrailers, Say::NeedBody),
    ];
    type Ending = fn(&mut Bench, portcullis_policy::ExchangeId) -> Next;
    let endings: [(&str, Ending); 4] = [
        ("headers", |bench, id| bench.worker.request_headers(id, [(":method", "GET")], true)),
        ("body", |bench, id| {
            bench.worker.request_headers(id, [(":method", "GET")], false);
            bench.request_body(id, b"1", true)
        }),
        ("an empty body", |bench, id| {
            bench.worker.request_headers(id, [(":method", "GET")], false);
            bench.request_body(id, b"", true)
        }),
        ("trailers", |bench, id| {
            bench.worker.request_headers(id, [(":method", "GET")], false);
            bench.request_trailers(id)
        }),
    ];
    for (what, end) in endings {
        let mut bench = Bench::new(&[("a", NEEDS_FOREVER), ("b", &[])]);
        let id = bench.worker.open();

        assert_eq!(end(&mut bench, id), Next::Hold, "{what}");

        assert_eq!(bench.replied(id), Some(500), "{what}");
        assert!(!bench.seen().iter().any(|line| line.starts_with('b')), "{what}");
        let complaints = bench.worker.log_lines(Level::Error);
        assert!(complaints.iter().any(|line| line.starts_with("probe: ")), "{complaints:?}");
    }
}

#[test]
fn a_wait_in_a_body_callback_keeps_what_has_come_since() {
    let mut bench = Bench::new(&[("a", &[(On::RequestBody, Say::Wait)]), ("b", &[])]);
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"12", false), Next::Hold);
    assert_eq!(bench.request_body(id, b"345", true), Next::Hold);
    assert_eq!(bench.seen(), ["a request headers", "b request headers", "a request body 0..2"]);

    bench.wake("a", id);

    assert_eq!(bench.seen(), ["a wake", "a request body 2..5 end", "b request body 0..5 end"]);
    assert_eq!(bench.upstream_got(id), b"12345");
}

#[test]
fn a_policy_may_need_the_body_when_it_is_woken() {
    let mut bench =
        Bench::new(&[("a", &[(On::RequestHeaders, Say::Wait), (On::Wake, Say::NeedBody)]), ("b", &[])]);
    let id = bench.begin();
    bench.seen();

    bench.wake("a", id);
    assert_eq!(bench.seen(), ["a wake"], "b has to wait for the body, too");
    assert_eq!(bench.request_body(id, b"12", true), Next::Continue);

    assert_eq!(bench.seen(), ["a request body 0..2 end", "b request headers", "b request body 0..2 end"]);
}

#[test]
fn a_response_body_can_be_needed_as_well() {
    let mut bench = Bench::new(&[("a", &[]), ("b", &[(On::ResponseHeaders, Say::NeedBody)])]);
    let id = bench.worker.request([(":method", "GET")]);
    bench.seen();

    assert_eq!(bench.response_headers(id, false), Next::Hold);
    assert_eq!(bench.seen(), ["b response headers"]);
    assert_eq!(bench.worker.body(id, Direction::Response, b"123", true), Next::Continue);

    assert_eq!(bench.seen(), ["b response body 0..3 end", "a response headers", "a response body 0..3 end"]);
    assert_eq!(bench.worker.host.passed_body(id, Direction::Response), b"123");
}

#[test]
fn a_policy_sees_nothing_more_of_a_message_whose_rest_it_lets_pass() {
    let mut bench = Bench::new(&[
        ("a", &[(On::RequestHeaders, Say::PassRest)]),
        ("b", &[(On::RequestHeaders, Say::NeedBody), (On::RequestBody, Say::PassRest)]),
        ("c", &[(On::ResponseBody, Say::PassRest)]),
    ]);
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"12", false), Next::Continue);
    assert_eq!(bench.request_body(id, b"3", false), Next::Continue);
    assert_eq!(bench.request_trailers(id), Next::Continue);
    assert_eq!(
        bench.seen(),
        [
            "a request headers",
            "b request headers",
            "b request body 0..2",
            "c request headers",
            "c request body 0..2",
            "c request body 0..1",
            "c request trailers",
        ]
    );
    assert_eq!(bench.upstream_got(id), b"123");

    assert_eq!(bench.response_headers(id, false), Next::Continue);
    assert_eq!(bench.worker.body(id, Direction::Response, b"1", false), Next::Continue);
    bench.seen();
    assert_eq!(bench.worker.body(id, Direction::Response, b"2", true), Next::Continue);
    assert_eq!(bench.seen(), ["b response body 0..1 end", "a response body 0..1 end"]);
}

#[test]
fn a_rest_that_no_policy_wants_to_see_passes_unseen() {
    const PASSES: Script = &[(On::RequestHeaders, Say::PassRest), (On::ResponseHeaders, Say::PassRest)];
    let mut bench =
        Bench::new(&[("a", PASSES), ("b", &[(On::RequestHeaders, Say::Wait), (On::Wake, Say::PassRest)])]);
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"12", false), Next::Hold, "b waits");
    bench.wake("b", id);
    assert_eq!(bench.request_body(id, b"3", true), Next::Continue);
    assert_eq!(bench.seen(), ["a request headers", "b request headers", "b wake"]);
    assert_eq!(bench.upstream_got(id), b"123");
}

#[test]
fn after_a_reply_no_rest_passes() {
    const WATCHES: Script = &[(On::ResponseBody, Say::Reply(502))];
    const LOOKS_AWAY: Script = &[(On::RequestHeaders, Say::PassRest), (On::ResponseBody, Say::Reply(502))];
    for replies in [WATCHES, LOOKS_AWAY] {
        let mut bench = Bench::new(&[("a", &[(On::RequestHeaders, Say::PassRest)]), ("b", replies)]);
        let id = bench.begin();
        assert_eq!(bench.request_body(id, b"12", false), Next::Continue);
        bench.response_headers(id, false);
        assert_eq!(bench.worker.body(id, Direction::Response, b"1", false), Next::Hold);
        assert_eq!(bench.worker.body(id, Direction::Response, b"2", true), Next::Hold);
        assert_eq!(bench.request_body(id, b"3", true), Next::Hold, "{replies:?}");
    }
}

#[test]
fn body_that_no_headers_went_before_concerns_nobody() {
    let mut bench = Bench::new(&[("a", &[])]);
    let id = bench.worker.open();

    assert_eq!(bench.request_body(id, b"1", true), Next::Continue);
    assert_eq!(bench.request_trailers(id), Next::Continue);
    assert_eq!(bench.worker.body(id, Direction::Response, b"1", true), Next::Continue);

    assert_eq!(bench.seen(), [""; 0]);
}
