//! Hosts that deliver no body while headers are held: whoever needs it is refused, and nothing hangs or slips through.

use std::time::Duration;

use portcullis_policy::host::{Direction, Level};
use portcullis_policy::{ExchangeId, Next, outcome_property};
use portcullis_testkit::inprocess::{BodyDelivery, Fate, Fault};

use crate::probe::{Bench, On, Say, Script};

const NEEDS_BODY: Script = &[(On::RequestHeaders, Say::NeedBody)];
const TICK: Duration = Duration::from_secs(1);

fn bench(delivery: BodyDelivery) -> Bench {
    let bench = Bench::new(&[("a", NEEDS_BODY), ("b", &[])]);
    bench.worker.host.deliver_bodies(delivery);
    bench
}

/// The request's first bytes come, and it is held long enough for the engine to be sure.
fn starve(bench: &mut Bench) -> ExchangeId {
    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"first", false), Next::Hold);
    bench.worker.advance(TICK);
    bench.worker.advance(TICK);
    id
}

fn errors(bench: &Bench) -> Vec<String> {
    bench.worker.log_lines(Level::Error)
}

#[test]
fn a_request_whose_body_is_withheld_is_refused_with_a_word_on_what_is_missing() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    let id = starve(&mut bench);
    assert_eq!(bench.replied(id), Some(500));
    assert_eq!(bench.worker.reply(id).code_details, "portcullis_body_withheld");
    assert_eq!(bench.seen(), ["a request headers"], "nobody has seen the body");
    assert_eq!(errors(&bench).len(), 1);
    assert!(errors(&bench)[0].contains("allow_on_headers_stop_iteration: true"), "{:?}", errors(&bench));
    assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 1);
}

fn filter_state(bench: &Bench, id: ExchangeId) -> Option<Vec<u8>> {
    bench.worker.host.property_of(id, &[&outcome_property("probe")])
}

#[test]
fn the_filter_state_says_why_a_request_was_refused_for_want_of_its_body() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    let id = bench.begin();
    assert_eq!(filter_state(&bench, id), None, "nothing is decided yet");
    bench.worker.advance(Duration::from_secs(32));
    assert_eq!(bench.replied(id), Some(408));
    assert_eq!(filter_state(&bench, id).unwrap(), b"probe:failed-closed:body-timeout");

    let after_a_while = starve(&mut bench);
    let at_once = bench.begin();
    for id in [after_a_while, at_once] {
        assert_eq!(bench.replied(id), Some(500));
        assert_eq!(filter_state(&bench, id).unwrap(), b"probe:failed-closed:body-withheld");
    }
}

#[test]
fn the_log_says_once_a_minute_that_bodies_do_not_come_however_many() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    let warnings = |bench: &Bench| bench.worker.log_lines(Level::Warn).len();
    for (round, expected) in [(0, 1), (1, 1), (2, 2)] {
        let ids: Vec<_> = (0..3).map(|_| bench.begin()).collect();
        bench.worker.advance(Duration::from_secs(33));
        for id in ids {
            assert_eq!(bench.replied(id), Some(408), "{round}");
        }
        assert_eq!(warnings(&bench), expected, "{round}");
    }
}

#[test]
fn the_log_says_once_a_minute_that_a_body_was_not_delivered_however_many() {
    let mut bench = bench(BodyDelivery::WhileHeadersAreHeld);
    let first = bench.begin();
    bench.request_body(first, b"first", true);
    bench.worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
    for expected in [1, 1, 1, 2, 2] {
        let ids = [starve(&mut bench), starve(&mut bench)];
        bench.worker.advance(Duration::from_secs(16));
        for id in ids {
            assert_eq!(bench.replied(id), Some(500));
        }
        assert_eq!(errors(&bench).len(), expected);
    }
    assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 10, "all of them count");
}

#[test]
fn after_the_first_all_are_refused_at_once_but_for_a_probe_now_and_then() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    starve(&mut bench);
    for _ in 0..3 {
        let id = bench.begin();
        assert_eq!(bench.replied(id), Some(500));
    }
    assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 4);

    bench.worker.advance(Duration::from_secs(10));
    let probe = bench.begin();
    assert_eq!(bench.worker.fate(probe), Fate::Held, "the one that tries again");
    let other = bench.begin();
    assert_eq!(bench.replied(other), Some(500));
    bench.request_body(probe, b"first", false);
    bench.worker.advance(17 * TICK);
    assert_eq!(bench.replied(probe), Some(500));
    assert_eq!(errors(&bench).len(), 1, "the log has said it");
}

/// A filter before this one may hold every body for some seconds, which looks like a field that is missing.
#[test]
fn a_worker_behind_a_filter_that_holds_bodies_for_seconds_heals() {
    for held_when_the_verdict_falls in [true, false] {
        let mut bench = bench(BodyDelivery::WhileHeadersAreHeld);
        let first = begin_received(&mut bench);
        let second = held_when_the_verdict_falls.then(|| {
            bench.worker.advance(TICK);
            begin_received(&mut bench)
        });
        bench.worker.advance(2 * TICK);
        assert_eq!(bench.replied(first), Some(500), "as far as can be known by then");
        let id = second.unwrap_or_else(|| {
            bench.worker.advance(Duration::from_secs(10));
            begin_received(&mut bench)
        });
        bench.worker.advance(12 * TICK);
        assert_eq!(bench.worker.fate(id), Fate::Held);
        assert_eq!(bench.request_body(id, b"late", true), Next::Continue);
        assert_eq!(bench.upstream_got(id), b"late");

        let others = [begin_received(&mut bench), begin_received(&mut bench)];
        bench.worker.advance(12 * TICK);
        for id in others {
            assert_eq!(bench.request_body(id, b"late", true), Next::Continue, "nobody is refused any more");
        }
        assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 1);
    }
}

/// A request's headers come, and the host has some of its body, which it may deliver later.
fn begin_received(bench: &mut Bench) -> ExchangeId {
    let id = bench.begin();
    bench.worker.host.give_property(id, &["request", "total_size"], &1000u64.to_le_bytes());
    id
}

#[test]
fn a_host_that_delivers_after_all_is_believed() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    starve(&mut bench);
    bench.worker.host.deliver_bodies(BodyDelivery::WhileHeadersAreHeld);
    bench.worker.advance(Duration::from_secs(10));
    let probe = bench.begin();
    assert_eq!(bench.request_body(probe, b"first", true), Next::Continue);
    let next = bench.begin();
    assert_eq!(bench.worker.fate(next), Fate::Held);
    assert_eq!(bench.request_body(next, b"first", true), Next::Continue);
}

#[test]
fn a_client_that_sends_nothing_waits_as_long_as_it_likes_once_bodies_have_been_seen() {
    let mut bench = bench(BodyDelivery::WhileHeadersAreHeld);
    let first = bench.begin();
    bench.request_body(first, b"first", true);
    let id = bench.begin();
    bench.worker.advance(Duration::from_secs(3600));
    assert_eq!(bench.worker.fate(id), Fate::Held);
    assert_eq!(errors(&bench), [""; 0]);
}

/// An empty body is nothing that the host could be caught withholding.
#[test]
fn an_empty_body_that_is_withheld_does_not_hang_for_ever() {
    for trailers in [false, true] {
        let mut bench = bench(BodyDelivery::AfterHeaders);
        let id = bench.begin();
        bench.request_body(id, b"", !trailers);
        if trailers {
            bench.request_trailers(id);
        }
        // It counts from the first look, a tick after the headers.
        bench.worker.advance(Duration::from_secs(30));
        assert_eq!(bench.worker.fate(id), Fate::Held);
        bench.worker.advance(TICK);
        assert_eq!(bench.replied(id), Some(408));
        assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 0);
        let next = bench.begin();
        assert_eq!(bench.worker.fate(next), Fate::Held, "nothing is proven");
    }
}

#[test]
fn a_body_that_another_filter_holds_for_a_while_is_waited_for_once_bodies_have_been_seen() {
    let mut bench = bench(BodyDelivery::WhileHeadersAreHeld);
    let first = bench.begin();
    assert_eq!(bench.request_body(first, b"first", true), Next::Continue);
    bench.worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
    let id = starve(&mut bench);
    bench.worker.advance(Duration::from_secs(10));
    assert_eq!(bench.worker.fate(id), Fate::Held);
    let other = bench.begin();
    assert_eq!(bench.worker.fate(other), Fate::Held);
    bench.worker.advance(Duration::from_secs(10));
    assert_eq!(bench.replied(id), Some(500), "but not for ever");
    assert_eq!(bench.worker.fate(other), Fate::Held, "it has sent nothing");
    let next = bench.begin();
    assert_eq!(bench.worker.fate(next), Fate::Held, "the others are not blamed");
}

#[test]
fn a_policy_that_needs_the_body_when_it_is_woken_is_watched_too() {
    for (delivery, expected) in
        [(BodyDelivery::AfterHeaders, Some(500)), (BodyDelivery::WhileHeadersAreHeld, None)]
    {
        let waits_first: Script = &[(On::RequestHeaders, Say::Wait), (On::Wake, Say::NeedBody)];
        let mut bench = Bench::new(&[("a", waits_first)]);
        bench.worker.host.deliver_bodies(delivery);
        let id = bench.begin();
        bench.request_body(id, b"first", true);
        bench.wake("a", id);
        bench.worker.advance(3 * TICK);
        assert_eq!(bench.replied(id), expected, "{delivery:?}");
        if expected.is_none() {
            assert_eq!(bench.upstream_got(id), b"first");
        }
    }
}

#[test]
fn waiting_needs_no_delivery_and_loses_nothing() {
    let mut bench = Bench::new(&[("a", &[(On::RequestHeaders, Say::Wait)]), ("b", &[])]);
    bench.worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
    let id = bench.begin();
    bench.request_body(id, b"one ", false);
    bench.request_body(id, b"two", false);
    bench.request_trailers(id);
    bench.worker.advance(Duration::from_secs(60));
    assert_eq!(bench.worker.fate(id), Fate::Held);
    bench.wake("a", id);
    assert_eq!(bench.upstream_got(id), b"one two");
    assert_eq!(bench.worker.host.take_reads(), [""; 0], "nobody looks at those who only wait");
}

#[test]
fn a_client_that_has_gone_is_not_replied_to() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    let id = bench.begin();
    bench.request_body(id, b"first", false);
    bench.worker.advance(TICK);
    bench.worker.abort(id);
    bench.worker.advance(5 * TICK);
    assert_eq!(bench.replied(id), None);
    assert_eq!(errors(&bench), [""; 0]);
}

#[test]
fn many_slow_clients_are_looked_at_in_turns() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    let ids: Vec<_> = (0..1000).map(|_| bench.begin()).collect();
    bench.worker.host.take_reads();
    bench.worker.advance(TICK);
    assert_eq!(bench.worker.host.take_reads().len(), 2 * 64);
    bench.request_body(*ids.last().unwrap(), b"first", false);
    bench.worker.advance(20 * TICK);
    assert_eq!(bench.worker.fate(ids[0]), Fate::Held);
    bench.worker.advance(20 * TICK);
    assert_eq!(bench.replied(*ids.last().unwrap()), Some(500), "its turn has come");
}

#[test]
fn a_host_that_tells_nothing_is_complained_of_once() {
    let mut bench = bench(BodyDelivery::AfterHeaders);
    bench.worker.host.fail(Fault::ReadProperty);
    let id = starve(&mut bench);
    bench.worker.advance(5 * TICK);
    assert_eq!(bench.worker.fate(id), Fate::Held);
    assert_eq!(errors(&bench).len(), 1);
    assert!(errors(&bench)[0].contains("proxy_get_property"));
}

const NEEDS_RESPONSE_BODY: Script = &[(On::ResponseHeaders, Say::NeedBody)];

/// A response whose headers have come is held for its body.
fn answered(delivery: BodyDelivery) -> (Bench, ExchangeId) {
    let mut bench = Bench::new(&[("a", NEEDS_RESPONSE_BODY)]);
    bench.worker.host.deliver_bodies(delivery);
    let id = bench.worker.request([(":method", "GET"), (":path", "/")]);
    bench.response_headers(id, false);
    (bench, id)
}

#[test]
fn a_response_whose_body_is_withheld_is_replaced_with_a_word_on_what_is_missing() {
    for trailers in [false, true] {
        let (mut bench, id) = answered(BodyDelivery::AfterHeaders);
        bench.worker.body(id, Direction::Response, b"all of it", !trailers);
        if trailers {
            bench.worker.trailers(id, Direction::Response);
        }
        assert_eq!(bench.replied(id), None);
        bench.worker.advance(2 * TICK);
        assert_eq!(bench.replied(id), Some(500), "{trailers}");
        assert_eq!(bench.worker.host.metric("portcullis.probe.body_withheld"), 1);
        assert_eq!(filter_state(&bench, id).unwrap(), b"probe:failed-closed:body-withheld");
        assert!(errors(&bench)[0].contains("allow_on_headers_stop_iteration: true"), "{:?}", errors(&bench));

        let next = bench.worker.request([(":method", "GET"), (":path", "/")]);
        bench.response_headers(next, false);
        assert_eq!(bench.replied(next), Some(500), "what is known is not tried again");
    }
}

#[test]
fn a_response_that_its_upstream_does_not_go_on_with_is_waited_for() {
    let (mut bench, id) = answered(BodyDelivery::AfterHeaders);
    bench.worker.body(id, Direction::Response, b"some", false);
    bench.worker.advance(Duration::from_secs(29));
    assert_eq!(bench.replied(id), None, "there may be filters that hold it");
    bench.worker.advance(Duration::from_secs(3));
    assert_eq!(bench.replied(id), Some(504));
    assert_eq!(filter_state(&bench, id).unwrap(), b"probe:failed-closed:body-timeout");

    let (mut bench, id) = answered(BodyDelivery::WhileHeadersAreHeld);
    bench.worker.advance(Duration::from_secs(20));
    assert_eq!(bench.worker.body(id, Direction::Response, b"late", true), Next::Continue);
    assert_eq!(bench.worker.host.passed_body(id, Direction::Response), b"late");
}

#[test]
fn a_policy_that_needs_more_of_a_body_that_is_coming_is_not_refused() {
    const STREAMS: Script = &[(On::RequestBody, Say::NeedBody), (On::ResponseHeaders, Say::NeedBody)];
    let mut bench = Bench::new(&[("a", STREAMS)]);
    bench.worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
    let withheld = bench.worker.request([(":method", "GET"), (":path", "/")]);
    bench.response_headers(withheld, false);
    bench.worker.body(withheld, Direction::Response, b"all of it", true);
    bench.worker.advance(2 * TICK);
    assert_eq!(bench.replied(withheld), Some(500), "bodies are known not to come while headers are held");

    let id = bench.begin();
    assert_eq!(bench.request_body(id, b"so", false), Next::Hold);
    bench.worker.advance(Duration::from_secs(60));
    assert_eq!(bench.request_body(id, b"me", true), Next::Continue);
    assert_eq!(bench.replied(id), None);
    assert_eq!(bench.upstream_got(id), b"some");
}

#[test]
fn a_latency_that_says_nothing_does_not_say_that_the_response_has_come() {
    let (mut bench, id) = answered(BodyDelivery::AfterHeaders);
    bench.worker.host.give_property(id, &["response", "backend_latency"], b"");
    bench.worker.advance(Duration::from_secs(29));
    assert_eq!(bench.replied(id), None);
}

#[test]
fn what_is_known_of_the_host_is_known_of_both_directions() {
    let (mut bench, id) = answered(BodyDelivery::WhileHeadersAreHeld);
    bench.worker.body(id, Direction::Response, b"x", true);
    let slow = bench.worker.request([(":method", "GET"), (":path", "/")]);
    bench.response_headers(slow, false);
    bench.worker.advance(Duration::from_secs(3600));
    assert_eq!(bench.replied(slow), None);
    assert_eq!(bench.worker.body(slow, Direction::Response, b"x", true), Next::Continue);
}

#[test]
fn a_response_that_has_its_body_is_not_looked_at() {
    let (mut bench, id) = answered(BodyDelivery::WhileHeadersAreHeld);
    bench.worker.body(id, Direction::Response, b"x", true);
    bench.worker.host.take_reads();
    bench.worker.advance(5 * TICK);
    assert_eq!(bench.worker.host.take_reads(), [""; 0]);
}
