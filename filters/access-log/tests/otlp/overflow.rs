//! What is kept while the collector takes nothing, and what goes.

use portcullis_access_log::otlp::OtlpConfig;

use crate::request;
use crate::support::{Bench, config, ms};

#[test]
fn a_full_queue_drops_its_oldest_and_counts_them() {
    let mut bench = Bench::start(OtlpConfig { max_queue: 3, max_batch: 3, ..config() });
    bench.log(["a", "b", "c", "d", "e"]);
    assert_eq!((bench.metric("dropped_queue_full"), bench.queued()), (2, 3));
    bench.tick();
    assert_eq!(bench.lines_under_way(), [["c", "d", "e"]]);
}

#[test]
fn what_is_under_way_or_to_be_sent_again_is_not_dropped_for_what_comes() {
    let mut bench = Bench::start(OtlpConfig { max_queue: 2, max_batch: 2, ..config() });
    bench.log(["a", "b"]);
    bench.tick();
    bench.log(["c", "d", "e"]);
    bench.answer(503);
    bench.log(["f"]);
    assert_eq!((bench.metric("dropped_queue_full"), bench.queued()), (2, 4));
    bench.wait_for_request();
    assert_eq!(bench.lines_under_way(), [["a", "b"]]);
    bench.answer(200);
    assert_eq!(bench.lines_under_way(), [["e", "f"]]);
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.queued()), (4, 0));
}

#[test]
fn the_queue_is_bounded_in_bytes() {
    let mut bench = Bench::start(OtlpConfig { max_queue_bytes: 65_536, max_batch_bytes: 65_536, ..config() });
    let line = "x".repeat(6_000);
    bench.log((0..100).map(|at| format!("{at} {line}")));
    assert!(bench.queued() <= 65_536 / 6_000 && bench.queued() >= 9, "{}", bench.queued());
    assert_eq!(bench.metric("dropped_queue_full") + bench.queued(), 100);
    bench.tick();
    let mut last = Vec::new();
    while bench.queued() > 0 {
        last = request::lines(&bench.worker.pending_call().body);
        bench.answer(200);
    }
    assert_eq!(last.last().unwrap(), &format!("99 {line}"), "the newest is still there");
}

#[test]
fn a_long_line_is_cut_so_that_it_fits_a_batch() {
    let mut bench = Bench::start(OtlpConfig { max_batch_bytes: 65_536, ..config() });
    bench.log(["\0".repeat(100_000)]);
    bench.tick();
    let call = bench.worker.pending_call();
    assert!((65_531..=65_536).contains(&call.body.len()), "as much as fits: {}", call.body.len());
    let lines = request::lines(&call.body);
    let kept = lines[0].strip_suffix('…').expect("a mark");
    assert!(lines.len() == 1 && kept.len() > 10_000 && kept.bytes().all(|byte| byte == 0));
    assert_eq!((bench.metric("lines_cut"), bench.metric("dropped_too_long")), (1, 0));
}

#[test]
fn a_line_may_take_up_a_whole_batch() {
    let mut bench = Bench::start(OtlpConfig { max_batch_bytes: 65_536, ..config() });
    let line = "x".repeat(65_000);
    bench.log([line.as_str(), "short"]);
    bench.tick();
    assert!(bench.lines_under_way() == [[line]]);
    bench.answer(200);
    assert_eq!(bench.lines_under_way(), [["short"]]);
    assert_eq!(bench.metric("lines_cut"), 0);
}

#[test]
fn ten_thousand_records_a_second_fit_between_two_ticks() {
    let mut bench = Bench::start(config());
    let line = "x".repeat(700);
    for _ in 0..20 {
        bench.log((0..1_000).map(|_| &line));
        bench.tick();
        while !bench.worker.pending_calls().is_empty() {
            bench.answer(200);
        }
    }
    bench.worker.advance(ms(1_000));
    while !bench.worker.pending_calls().is_empty() {
        bench.answer(200);
    }
    assert_eq!((bench.metric("dropped_queue_full"), bench.metric("exported")), (0, 20_000));
}

#[test]
fn an_outage_of_half_a_second_at_that_rate_loses_nothing() {
    let mut bench = Bench::start(config());
    for tick in 0..5 {
        bench.log((0..1_000).map(|at| format!("{tick} {at}")));
        bench.tick();
        if let [call] = &bench.worker.pending_calls()[..] {
            let token = call.token;
            bench.worker.fail_call(token);
        }
    }
    assert_eq!((bench.metric("dropped_queue_full"), bench.queued()), (0, 5_000));
    let mut lines = Vec::new();
    while bench.queued() > 0 {
        if bench.worker.pending_calls().is_empty() {
            bench.wait_for_request();
        }
        lines.extend(request::lines(&bench.worker.pending_call().body));
        bench.answer(200);
    }
    let expected = (0..5).flat_map(|tick| (0..1_000).map(move |at| format!("{tick} {at}")));
    assert!(lines.into_iter().eq(expected), "all, in order");
}
