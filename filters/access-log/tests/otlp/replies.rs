//! What is sent, and what each kind of answer does to it.

use std::time::Duration;

use portcullis_access_log::otlp::OtlpConfig;
use portcullis_policy::HeaderList;
use portcullis_policy::host::{CallToken, Clock, Level};
use portcullis_testkit::inprocess::Fault;

use crate::request;
use crate::support::{Bench, config, ms};

#[test]
fn sends_what_has_come_as_one_request_in_order() {
    let mut bench = Bench::start(OtlpConfig {
        authority: Some("otel.example:4318".to_owned()),
        path: "/tenant/v1/logs?x=1".to_owned(),
        headers: [("Authorization".to_owned(), "Bearer s3cret".into())].into(),
        resource: [("deployment.environment.name".to_owned(), "te\"st".to_owned())].into(),
        timeout_ms: 1_234,
        ..config()
    });
    bench.log(["one", "two", "three"]);
    assert_eq!(bench.worker.pending_calls().len(), 0, "the end of an exchange calls nobody");
    bench.tick();
    let call = bench.worker.pending_call();
    assert_eq!(call.cluster, "collector");
    assert_eq!(call.timeout, ms(1_234));
    for (name, value) in [
        (":method", "POST"),
        (":path", "/tenant/v1/logs?x=1"),
        (":authority", "otel.example:4318"),
        ("content-type", "application/json"),
        ("authorization", "Bearer s3cret"),
        ("user-agent", concat!("Portcullis-OTLP-Exporter/", env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(call.header(name).as_deref(), Some(value), "{name}");
    }
    let (resource, records) = request::read(&call.body);
    let expected = [("deployment.environment.name", "te\"st"), ("service.name", "envoy")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(resource, expected.into());
    assert_eq!(records.iter().map(|record| record.body.text()).collect::<Vec<_>>(), ["one", "two", "three"]);
    assert_eq!(bench.queued(), 3);
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.metric("sent"), bench.queued()), (3, 1, 0));
}

#[test]
fn authority_and_path_have_defaults() {
    let mut bench = Bench::start(config());
    let call = bench.send("one");
    assert_eq!(call.header(":authority").as_deref(), Some("collector"));
    assert_eq!(call.header(":path").as_deref(), Some("/v1/logs"));
}

#[test]
fn the_exporter_s_name_gives_way_to_a_configured_one() {
    let headers = [("User-Agent".to_owned(), "mine".into())].into();
    let mut bench = Bench::start(OtlpConfig { headers, ..config() });
    let call = bench.send("one");
    assert_eq!(call.headers.all("user-agent").collect::<Vec<_>>(), [b"mine"]);
}

#[test]
fn as_many_requests_are_under_way_as_allowed() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 1, max_in_flight: 3, ..config() });
    bench.log(["a", "b", "c", "d"]);
    bench.tick();
    assert_eq!(bench.lines_under_way(), [["a"], ["b"], ["c"]]);
    let second = bench.worker.pending_calls()[1].token;
    bench.worker.answer(second, 200, &[], b"");
    assert_eq!(bench.lines_under_way(), [["a"], ["c"], ["d"]]);
}

#[test]
fn a_batch_is_no_longer_than_allowed() {
    let mut bench = Bench::start(OtlpConfig { max_batch_bytes: 65_536, ..config() });
    let line = "x".repeat(5_000);
    bench.log((0..40).map(|_| &line));
    bench.tick();
    let mut sizes = Vec::new();
    while bench.queued() > 0 {
        sizes.push(bench.worker.pending_call().body.len());
        bench.answer(200);
    }
    assert_eq!(bench.metric("exported"), 40);
    assert!(sizes.len() >= 4 && sizes.iter().all(|size| *size <= 65_536), "{sizes:?}");
    assert!(sizes[0] > 60_000, "as many as fit: {sizes:?}");
}

#[test]
fn any_2xx_takes_the_records_whatever_the_body() {
    for (status, body, exported, rejected, strange) in [
        (200, "", 3, 0, 0),
        (200, "{}", 3, 0, 0),
        (200, r#"{"partialSuccess":{}}"#, 3, 0, 0),
        (202, "", 3, 0, 0),
        (204, "", 3, 0, 0),
        (299, "{}", 3, 0, 0),
        (200, r#"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}"#, 1, 2, 0),
        (200, r#"{"partialSuccess":{"rejectedLogRecords":3}}"#, 0, 3, 0),
        // More than there were.
        (200, r#"{"partialSuccess":{"rejectedLogRecords":"9223372036854775807"}}"#, 0, 3, 0),
        (200, r#"{"partialSuccess":{"rejectedLogRecords":"-1"}}"#, 3, 0, 0),
        (200, "<html>welcome</html>", 3, 0, 1),
        (200, "\u{0}\u{1}", 3, 0, 1),
    ] {
        let mut bench = Bench::start(config());
        bench.log(["a", "b", "c"]);
        bench.tick();
        bench.answer_with(status, &[("content-type", "application/json")], body.as_bytes());
        let counted = ["exported", "rejected_partial", "strange_answers"].map(|name| bench.metric(name));
        assert_eq!(counted, [exported, rejected, strange], "{status} {body}");
        bench.worker.advance(ms(600_000));
        assert_eq!((bench.queued(), bench.worker.host.calls_sent()), (0, 1), "{status} {body}");
    }
}

#[test]
fn an_endless_body_is_not_read() {
    let mut bench = Bench::start(config());
    bench.send("a");
    bench.answer_with(200, &[], &vec![b'{'; 10_000_000]);
    assert_eq!((bench.metric("exported"), bench.metric("strange_answers")), (1, 1));
}

#[test]
fn what_may_be_taken_later_is_sent_again_as_it_was() {
    type Failure = (&'static str, fn(&mut Bench, CallToken));
    let failures: [Failure; 9] = [
        ("429", |bench, token| bench.worker.answer(token, 429, &[], b"{}")),
        ("502", |bench, token| bench.worker.answer(token, 502, &[], b"")),
        ("503", |bench, token| bench.worker.answer(token, 503, &[("retry-after", "?")], b"")),
        ("504", |bench, token| bench.worker.answer(token, 504, &[], b"")),
        ("reset", |bench, token| bench.worker.fail_call(token)),
        ("no status", |bench, token| {
            bench.worker.answer_raw(token, [("x", "y")].into_iter().collect::<HeaderList>(), b"{}");
        }),
        ("status of nothing", |bench, token| {
            bench.worker.answer_raw(token, [(":status", "ok")].into_iter().collect::<HeaderList>(), b"{}");
        }),
        ("timeout", |bench, _| bench.worker.advance(ms(10_000))),
        ("unreadable", |bench, token| {
            bench.worker.host.fail(Fault::ReadCallOut);
            bench.worker.answer(token, 200, &[], b"");
            bench.worker.host.mend(Fault::ReadCallOut);
        }),
    ];
    for (name, fail) in failures {
        let mut bench = Bench::start(config());
        let first = bench.send("a");
        fail(&mut bench, first.token);
        assert_eq!((bench.metric("failed"), bench.queued()), (1, 1), "{name}");
        let (again, _) = bench.wait_for_request();
        assert_eq!((&again.body, again.headers.len()), (&first.body, first.headers.len()), "{name}");
        bench.answer(200);
        let counted = ["exported", "sent", "retried"].map(|metric| bench.metric(metric));
        assert_eq!((counted, bench.queued()), ([1, 2, 1], 0), "{name}");
        bench.worker.advance(ms(600_000));
        assert_eq!(bench.worker.host.calls_sent(), 2, "{name}");
    }
}

#[test]
fn what_is_refused_for_good_is_dropped_and_the_next_is_sent() {
    for status in [100, 301, 400, 401, 403, 404, 408, 413, 415, 500, 501, 505, 599] {
        let mut bench = Bench::start(OtlpConfig { max_batch: 2, ..config() });
        bench.log(["a", "b", "c"]);
        bench.tick();
        bench.answer_with(status, &[("retry-after", "60")], b"");
        assert_eq!(bench.lines_under_way(), [["c"]], "{status}");
        assert_eq!(bench.metric("dropped_refused"), 2, "{status}");
        bench.answer(200);
        assert_eq!(
            (bench.metric("exported"), bench.metric("retried"), bench.queued()),
            (1, 0, 0),
            "{status}"
        );
    }
}

#[test]
fn a_cluster_that_is_not_there_yet_is_waited_for() {
    let mut bench = Bench::start(config());
    bench.worker.host.fail(Fault::CallOut);
    bench.log(["a"]);
    bench.worker.advance(ms(20_000));
    assert_eq!((bench.queued(), bench.metric("sent")), (1, 0));
    assert!(bench.metric("failed") >= 4);
    bench.worker.host.mend(Fault::CallOut);
    let (call, _) = bench.wait_for_request();
    assert_eq!(request::lines(&call.body), ["a"]);
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.queued()), (1, 0));
}

#[test]
fn an_answer_that_is_lost_on_the_way_is_given_up() {
    let mut bench = Bench::start(OtlpConfig { timeout_ms: 500, ..config() });
    let lost = bench.send("a");
    bench.worker.host.forget_call(lost.token);
    let (again, waited) = bench.wait_for_request();
    assert_eq!(again.body, lost.body);
    assert!(waited >= ms(1_500), "not before its timeout and a second: {waited:?}");
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.metric("failed"), bench.queued()), (1, 1, 0));
}

/// A bench whose only request was given up although its answer may still come; how far it has come since.
fn given_up(bench: &mut Bench, ticks: u32) -> CallToken {
    let overdue = bench.send("a").token;
    let late = bench.worker.host.monotonic().unwrap().after(ms(60_000));
    bench.worker.host.set_monotonic(late);
    bench.worker.host.tick_now();
    for _ in 0..ticks {
        bench.worker.advance(ms(100));
    }
    overdue
}

#[test]
fn a_late_acknowledgement_counts_and_spares_the_retry() {
    let mut bench = Bench::start(config());
    let overdue = given_up(&mut bench, 1);
    assert_eq!((bench.metric("failed"), bench.worker.host.calls_sent()), (1, 1));
    bench.worker.answer(overdue, 200, &[], b"");
    bench.worker.advance(ms(600_000));
    assert_eq!((bench.metric("exported"), bench.queued(), bench.worker.host.calls_sent()), (1, 0, 1));
}

#[test]
fn a_batch_is_counted_once_when_two_attempts_are_acknowledged() {
    let mut bench = Bench::start(config());
    let overdue = given_up(&mut bench, 15);
    assert_eq!(bench.worker.host.calls_sent(), 2);
    bench.worker.answer(overdue, 200, &[], b"");
    assert_eq!((bench.metric("exported"), bench.queued()), (1, 0));
    bench.answer(200);
    bench.worker.advance(ms(600_000));
    assert_eq!((bench.metric("exported"), bench.worker.host.calls_sent()), (1, 2));
}

#[test]
fn a_late_refusal_leaves_the_attempt_under_way_alone() {
    for status in [400, 503] {
        let mut bench = Bench::start(config());
        let overdue = given_up(&mut bench, 15);
        bench.worker.answer(overdue, status, &[], b"");
        assert_eq!((bench.metric("dropped_refused"), bench.queued()), (0, 1), "{status}");
        bench.answer(200);
        assert_eq!((bench.metric("exported"), bench.queued()), (1, 0), "{status}");
    }
}

#[test]
fn the_log_tells_of_changes_only_and_of_no_secret() {
    let headers = [("authorization".to_owned(), "Bearer s3cret".into())].into();
    let mut bench = Bench::start(OtlpConfig { headers, ..config() });
    for status in [503, 503, 503, 200, 200, 400, 400, 200] {
        bench.log(["a"]);
        if bench.worker.pending_calls().is_empty() {
            bench.wait_for_request();
        }
        bench.answer(status);
    }
    let lines = bench.worker.log_lines(Level::Info);
    assert_eq!(
        lines,
        [
            "access-log: the collector collector takes no records now (status 503); they are kept while there is room",
            "access-log: the collector collector takes records again",
            "access-log: the collector collector refuses records with status 400; they are dropped",
            "access-log: the collector collector takes records again",
        ]
    );
}

/// The collector decides how often it changes its mind, and not how much is logged.
#[test]
fn a_collector_that_comes_and_goes_does_not_flood_the_log() {
    let mut bench = Bench::start(config());
    let mut waited = Duration::ZERO;
    for status in [503, 200, 400, 200].repeat(25) {
        bench.log(["a"]);
        if bench.worker.pending_calls().is_empty() {
            waited += bench.wait_for_request().1;
        }
        bench.answer(status);
    }
    let minutes = usize::try_from(waited.as_secs()).unwrap() / 60;
    let lines = bench.worker.log_lines(Level::Info);
    assert!(lines.len() <= 4 * (minutes + 1), "{minutes} minutes: {lines:#?}");
}

#[test]
fn without_metrics_it_exports_all_the_same() {
    let host = portcullis_testkit::inprocess::TestHost::new(Default::default());
    host.fail(Fault::DefineMetric);
    let mut bench = Bench::start_on(host, config());
    bench.send("a");
    bench.answer(200);
    assert_eq!(bench.queued(), 0);
}

#[test]
fn the_gauge_follows_what_is_kept() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, ..config() });
    bench.log(["a", "b", "c"]);
    bench.tick();
    assert_eq!(bench.metric("queued"), 3);
    bench.answer(200);
    assert_eq!(bench.metric("queued"), 1);
    bench.answer(200);
    assert_eq!(bench.metric("queued"), 0);
}
