//! A service that counts in the table's stead.

use std::time::Duration;

use portcullis_policy::ExchangeId;
use portcullis_policy::host::Direction;
use portcullis_testkit::inprocess::{Fate, Fault, Worker};
use serde_json::{Value, json};

use crate::support::*;

/// Two requests a minute by this gateway's own count, one for each tenant; the service is asked first.
fn asking(on_outage: &str, members: Value) -> Worker {
    let mut config = two_a_minute(members);
    config["key"] = json!([{"header": {"name": "t"}}]);
    config["service"] = json!({
        "cluster": "limits",
        "domain": "shop",
        "on_outage": on_outage,
        "max_waiting": 3,
        "request_headers": ["q"],
        "response_headers": ["r", "ratelimit", "x-ratelimit-limit", "retry-after"],
    });
    worker(&config)
}

/// A request of tenant `a`, which waits.
#[track_caller]
fn waiting(worker: &mut Worker) -> ExchangeId {
    let id = get(worker, &[("t", "a")]);
    assert_eq!(worker.fate(id), Fate::Held);
    id
}

/// `RateLimitResponse`s, field by field: `overall_code` (1), `statuses` (2: code, `current_limit`, `limit_remaining`,
/// `duration_until_reset`), `response_headers_to_add` (3), `request_headers_to_add` (4), `raw_body` (5).
const WITHIN: &[u8] = b"\x08\x01\x12\x0c\x08\x01\x12\x04\x08\x05\x10\x02\x18\x04\x22\x00\x1a\x06\x0a\x01r\x12\x011\x22\x06\x0a\x01q\x12\x012";
const OVER: &[u8] =
    b"\x08\x02\x12\x0c\x08\x02\x12\x04\x08\x05\x10\x02\x22\x02\x08\x1e\x1a\x06\x0a\x01r\x12\x011\x2a\x04slow";

/// The service answers the only question that is open.
#[track_caller]
fn answer(worker: &mut Worker, message: &[u8]) {
    let token = worker.pending_call().token;
    let body = [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()][..], message].concat();
    worker.answer_with_trailers(token, 200, &[], &body, &[("grpc-status", "0")]);
}

#[test]
fn holds_a_request_whole_until_the_service_lets_it_pass() {
    let mut worker = asking("closed", json!({"headers": "envoy"}));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("t", "a")], false);
    worker.body(id, Direction::Request, b"body", true);
    assert_eq!(worker.fate(id), Fate::Held);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"");
    answer(&mut worker, WITHIN);
    assert_eq!(worker.fate(id), Fate::Admitted);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"body");
    assert_eq!(outcome(&worker, id), "rate-limit:passed:admitted");
    assert_eq!(worker.host.upstream_headers(id).first("q"), Some(&b"2"[..]));
    worker.response_headers(id, [(":status", "200"), ("x-ratelimit-limit", "theirs")], true);
    let headers = worker.host.downstream_headers(id);
    for (name, expected) in [("x-ratelimit-limit", "5, 5;w=60"), ("x-ratelimit-remaining", "4"), ("r", "1")] {
        assert_eq!(headers.all(name).collect::<Vec<_>>(), [expected.as_bytes()], "{name}");
    }
}

#[test]
fn tells_a_refused_client_what_the_service_says() {
    let mut worker = asking("closed", json!({"headers": "mule", "rejection": {"body": {"text": "ours"}}}));
    let id = waiting(&mut worker);
    answer(&mut worker, OVER);
    assert_eq!(status(&worker, id), 429);
    assert_eq!(outcome(&worker, id), "rate-limit:rejected:quota-exceeded");
    for (name, expected) in [
        ("retry-after", "30"),
        ("x-ratelimit-limit", "5"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "30000"),
        ("content-type", "text/plain"),
    ] {
        assert_eq!(reply_header(&worker, id, name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(worker.reply(id).body, b"slow");
    // The service's own headers join the reply on its way out.
    worker.response_headers(id, [(":status", "429"), ("x-ratelimit-limit", "5")], true);
    let headers = worker.host.downstream_headers(id);
    assert_eq!(headers.first("r"), Some(&b"1"[..]));
    assert_eq!(headers.all("x-ratelimit-limit").count(), 1);
}

/// Nothing to the request, and to the response what tells how the limits stand.
#[test]
fn adds_no_header_that_the_configuration_does_not_permit() {
    let mut config = two_a_minute(json!({"key": []}));
    config["service"] = json!({"cluster": "limits", "domain": "shop"});
    let mut worker = worker(&config);
    let field = |tag: u8, text: &str| [&[tag, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let wish = |tag: u8, name: &str| {
        let header = [field(0x0a, name), field(0x12, "1")].concat();
        [&[tag, u8::try_from(header.len()).unwrap()][..], &header].concat()
    };
    let (to_response, to_request) = (0x1a, 0x22);
    let names = ["authorization", "expect", "x-envoy-original-path", "x-envoy-upstream-rq-timeout-ms", "x.y"];
    let mut message = vec![0x08, 0x01];
    names.iter().for_each(|name| message.extend(wish(to_request, name)));
    ["set-cookie", "RateLimit-Limit"].iter().for_each(|name| message.extend(wish(to_response, name)));
    // Longer than `answer` writes.
    let id = get(&mut worker, &[("t", "a")]);
    let token = worker.pending_call().token;
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let body = [&[0], &length[..], &message].concat();
    worker.answer_with_trailers(token, 200, &[], &body, &[("grpc-status", "0")]);
    assert!(is_admitted(&worker, id));
    for name in names {
        assert!(!worker.host.upstream_headers(id).contains(name), "{name}");
    }
    worker.response_headers(id, [(":status", "200")], true);
    let headers = worker.host.downstream_headers(id);
    assert_eq!((headers.first("ratelimit-limit"), headers.first("set-cookie")), (Some(&b"1"[..]), None));
    assert_eq!(metric(&worker, "service_headers_refused"), 6);
}

#[test]
fn a_client_cannot_send_a_header_that_the_service_may_set() {
    let mut worker = asking("closed", json!({"scope": {"exempt": [{"path_prefix": "/free"}]}}));
    for path in ["/free", "/"] {
        let id = worker.request([(":path", path), ("t", "a"), ("q", "forged"), ("q", "too")]);
        if path == "/" {
            answer(&mut worker, WITHIN);
        }
        let headers = worker.host.upstream_headers(id);
        let expected: &[&[u8]] = if path == "/" { &[b"2"] } else { &[] };
        assert_eq!(headers.all("q").collect::<Vec<_>>(), expected, "{path}");
    }
}

#[test]
fn a_request_that_cannot_be_cleaned_of_such_headers_never_passes() {
    for members in [json!({"on_failure": "open"}), json!({"mode": "shadow"})] {
        for fault in [Fault::ReadHeaders, Fault::WriteHeaders] {
            let mut worker = asking("open", members.clone());
            worker.host.fail(fault);
            let id = get(&mut worker, &[("t", "a"), ("q", "forged")]);
            assert_eq!(status(&worker, id), 503, "{members} {fault:?}");
            assert_eq!(outcome(&worker, id), "rate-limit:failed-closed:host");
        }
    }
}

#[test]
fn lets_pass_in_shadow_mode_what_the_service_refuses() {
    let mut worker = asking("closed", json!({"mode": "shadow"}));
    let id = waiting(&mut worker);
    // With a header to add to the request, as in `WITHIN`.
    answer(&mut worker, &[OVER, b"\x22\x06\x0a\x01q\x12\x012"].concat());
    assert!(is_admitted(&worker, id));
    assert_eq!(outcome(&worker, id), "rate-limit:passed:shadow-exceeded");
    assert_eq!(metric(&worker, "shadow_rejected"), 1);
    assert_eq!(worker.host.upstream_headers(id).first("q"), Some(&b"2"[..]));
}

/// How requests fare whose service says nothing, one after the other.
#[track_caller]
fn fare(worker: &mut Worker, n: usize) -> Vec<(Option<u16>, String)> {
    (0..n)
        .map(|_| {
            let id = waiting(worker);
            let token = worker.pending_call().token;
            worker.fail_call(token);
            let status = match worker.fate(id) {
                Fate::Replied(reply) => Some(reply.status),
                _ => None,
            };
            (status, outcome(worker, id))
        })
        .collect()
}

#[test]
fn counts_by_itself_while_the_service_is_out_if_told_to() {
    let mut worker = asking("local", json!({}));
    let expected = [
        (None, "rate-limit:passed:admitted"),
        (None, "rate-limit:passed:admitted"),
        (Some(429), "rate-limit:rejected:quota-exceeded"),
    ];
    assert_eq!(fare(&mut worker, 3), expected.map(|(status, outcome)| (status, outcome.to_owned())));
    // A service that is there again decides again.
    let id = waiting(&mut worker);
    answer(&mut worker, WITHIN);
    assert!(is_admitted(&worker, id));
}

#[test]
fn refuses_or_lets_pass_while_the_service_is_out_if_told_to() {
    for (on_outage, mode, expected) in [
        ("closed", "enforce", (Some(503), "rate-limit:failed-closed:service-reset")),
        ("open", "enforce", (None, "rate-limit:failed-open:service-reset")),
        ("closed", "shadow", (None, "rate-limit:failed-open:service-reset")),
    ] {
        let mut worker = asking(on_outage, json!({"mode": mode}));
        let (status, outcome) = expected;
        assert_eq!(fare(&mut worker, 3), vec![(status, outcome.to_owned()); 3], "{on_outage} {mode}");
        let counter = if status.is_some() { "failed_closed" } else { "failed_open" };
        assert_eq!(metric(&worker, counter), 3);
    }
}

#[test]
fn does_not_open_the_gate_to_those_who_are_too_many() {
    let mut worker = asking("open", json!({}));
    for _ in 0..3 {
        waiting(&mut worker);
    }
    let id = get(&mut worker, &[("t", "a")]);
    assert_eq!(status(&worker, id), 503);
    assert_eq!(outcome(&worker, id), "rate-limit:failed-closed:service-overload");
}

#[test]
fn gives_up_on_answers_that_get_lost() {
    let mut worker = asking("closed", json!({}));
    let id = waiting(&mut worker);
    let token = worker.pending_call().token;
    worker.host.forget_call(token);
    worker.advance(Duration::from_secs(3));
    assert_eq!(status(&worker, id), 503);
    assert_eq!(outcome(&worker, id), "rate-limit:failed-closed:service-timeout");
}

#[test]
fn forgets_those_who_go_away_before_the_answer() {
    let mut worker = asking("closed", json!({}));
    let gone = waiting(&mut worker);
    worker.abort(gone);
    answer(&mut worker, WITHIN);
    assert_eq!(metric(&worker, "admitted"), 0);
    let id = waiting(&mut worker);
    answer(&mut worker, WITHIN);
    assert!(is_admitted(&worker, id));
    assert_eq!(worker.open_exchanges(), 1);
}

/// Envoy replies 408 itself to a request that takes too long, for one. The service answers all the same.
#[test]
fn a_response_of_the_host_s_own_during_the_wait_leaves_nothing_behind() {
    let mut worker = asking("closed", json!({"headers": "mule"}));
    // More than may wait at a time.
    for _ in 0..4 {
        let id = waiting(&mut worker);
        worker.response_headers(id, [(":status", "408")], true);
        assert_eq!(worker.host.downstream_headers(id).len(), 1);
        answer(&mut worker, WITHIN);
        worker.finish(id);
    }
    for _ in 0..4 {
        let id = waiting(&mut worker);
        worker.response_headers(id, [(":status", "408")], true);
        worker.finish(id);
        answer(&mut worker, OVER);
    }
    assert_eq!([metric(&worker, "host_failed"), metric(&worker, "failed_closed")], [0, 0]);
    assert_eq!((worker.open_exchanges(), worker.pending_calls().len()), (0, 0));
    let id = waiting(&mut worker);
    answer(&mut worker, WITHIN);
    assert!(is_admitted(&worker, id));
}

#[test]
fn leaves_it_to_on_failure_when_the_host_and_not_the_service_fails() {
    for (on_outage, on_failure, admits) in
        [("open", "closed", false), ("open", "open", true), ("closed", "open", true), ("local", "open", true)]
    {
        let mut worker = asking(on_outage, json!({"on_failure": on_failure}));
        worker.host.fail(Fault::Clock);
        let id = get(&mut worker, &[("t", "a")]);
        assert_eq!(worker.fate(id) == Fate::Admitted, admits, "{on_outage} {on_failure}");
        let verdict = if admits { "failed-open" } else { "failed-closed" };
        assert_eq!(outcome(&worker, id), format!("rate-limit:{verdict}:host"));
        assert_eq!([metric(&worker, "host_failed"), metric(&worker, "service_host_failed")], [1, 1]);
    }
}

#[test]
fn tells_of_the_limits_in_its_own_words_where_the_service_would_too() {
    // Retry-After and X-RateLimit-Limit among the headers to add, beside `r`.
    let add = |name: &str, value: &str| {
        let field = |tag: u8, text: &str| [&[tag, text.len() as u8], text.as_bytes()].concat();
        let header = [field(0x0a, name), field(0x12, value)].concat();
        [&[0x1a, header.len() as u8][..], &header].concat()
    };
    let more = [add("Retry-After", "7"), add("X-RateLimit-Limit", "7"), add("ratelimit", "theirs")].concat();
    let fields = |worker: &Worker, id: ExchangeId, name: &str| {
        let headers = worker.host.downstream_headers(id);
        headers.all(name).map(|value| String::from_utf8(value.to_vec()).unwrap()).collect::<Vec<_>>()
    };
    for (mode, status) in [("enforce", "429"), ("shadow", "200")] {
        let mut worker = asking("closed", json!({"headers": "mule", "mode": mode}));
        let id = waiting(&mut worker);
        answer(&mut worker, &[OVER, &more].concat());
        let own: Vec<(String, Vec<u8>)> = match worker.fate(id) {
            Fate::Replied(reply) => {
                reply.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
            }
            _ => Vec::new(),
        };
        let headers = std::iter::once((":status".to_owned(), status.into())).chain(own);
        worker.response_headers(id, headers, true);
        let retry_after: &[&str] = if mode == "enforce" { &["30"] } else { &[] };
        assert_eq!(fields(&worker, id, "retry-after"), retry_after, "{mode}");
        assert_eq!(fields(&worker, id, "x-ratelimit-limit"), ["5"], "{mode}");
        assert_eq!(fields(&worker, id, "ratelimit"), ["theirs"], "{mode}");
        assert_eq!(fields(&worker, id, "r"), ["1"], "{mode}");
    }
    // Where it has nothing to say itself, the service has the word.
    let mut worker = asking("closed", json!({"headers": "off"}));
    let id = waiting(&mut worker);
    answer(&mut worker, &[WITHIN, &more].concat());
    worker.response_headers(id, [(":status", "200")], true);
    assert_eq!(fields(&worker, id, "x-ratelimit-limit"), ["7"]);
    assert_eq!(fields(&worker, id, "retry-after"), ["7"]);
}

#[test]
fn says_when_to_come_again_if_the_service_does_not() {
    let mut worker = asking("local", json!({}));
    let id = waiting(&mut worker);
    answer(&mut worker, b"\x08\x02");
    assert_eq!(status(&worker, id), 429);
    assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("1"));
    worker.response_headers(id, [(":status", "429")], true);
    assert_eq!(worker.host.downstream_headers(id).len(), 1);
}

/// A descriptor's entries: `key` (1) and `value` (2), as `entries` (1).
fn entries(entries: &[(&str, &str)]) -> Vec<u8> {
    let field = |tag: u8, text: &[u8]| [&[tag, u8::try_from(text.len()).unwrap()], text].concat();
    let entry = |(key, value): &(&str, &str)| {
        field(0x0a, &[field(0x0a, key.as_bytes()), field(0x12, value.as_bytes())].concat())
    };
    entries.iter().flat_map(entry).collect()
}

#[test]
fn asks_about_the_key_s_parts() {
    let mut config = two_a_minute(json!({"key": [
        {"header": {"name": "X-Tenant"}}, {"query": {"name": "q"}}, {"source-address": {}}, "path", "method", "host",
        {"header": {"name": "absent"}},
    ]}));
    config["service"] = json!({"cluster": "limits", "domain": "shop"});
    let mut worker = worker(&config);
    let id = worker.open();
    worker.host.give_property(id, &["source", "address"], b"192.0.2.1:50000");
    let headers =
        [(":method", "GET"), (":path", "/a?q=b%20c"), (":authority", "Shop.test:80"), ("x-tenant", "acme")];
    worker.request_headers(id, headers, true);
    let body = worker.pending_call().body;
    let entries = entries(&[
        ("header_x-tenant", "acme"),
        ("query_q", "b c"),
        ("masked_remote_address", "192.0.2.1/32"),
        ("path", "/a"),
        ("method", "GET"),
        ("host", "shop.test"),
        ("header_absent", "-"),
    ]);
    assert!(body.windows(entries.len()).any(|window| window == entries), "{}", body.escape_ascii());
}

/// With client-id as a filter of its own, in a module of its own.
#[test]
fn tells_the_service_the_tier_of_a_client_that_is_no_part_of_the_key() {
    let mut config = two_a_minute(json!({"key": ["path"]}));
    config["service"] = json!({"cluster": "limits", "domain": "shop", "tier_entry": "plan"});
    let mut worker = worker(&config);
    let id = worker.open();
    worker.host.give_property(id, &["portcullis.client_id"], b"acme");
    worker.request_headers(id, [(":path", "/"), ("x-portcullis-client-tier", "gold")], true);
    let body = worker.pending_call().body;
    let expected = entries(&[("plan", "gold"), ("path", "/")]);
    assert!(body.windows(expected.len()).any(|window| window == expected), "{}", body.escape_ascii());
}

#[test]
fn refuses_an_admitted_request_that_the_upstream_cannot_be_told_of() {
    let mut worker = asking("open", json!({}));
    let id = waiting(&mut worker);
    worker.host.fail(Fault::WriteHeaders);
    answer(&mut worker, WITHIN);
    assert_eq!(status(&worker, id), 503);
    assert_eq!(outcome(&worker, id), "rate-limit:failed-closed:host");
}
