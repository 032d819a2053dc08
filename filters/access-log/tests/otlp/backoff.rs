//! When a collector that fails is asked again.

use std::time::Duration;

use portcullis_access_log::otlp::OtlpConfig;
use portcullis_access_log::otlp::config::Retry;
use portcullis_policy::host::{CallToken, Clock};
use portcullis_policy::time::{MonotonicTime, Timestamp};
use portcullis_testkit::inprocess::Fault;

use crate::support::{Bench, config, ms};

/// The pauses between failures, in ticks of 100 ms.
fn pauses(bench: &mut Bench, failures: usize) -> Vec<Duration> {
    (0..failures)
        .map(|_| {
            bench.answer(503);
            bench.wait_for_request().1
        })
        .collect()
}

fn retrying(initial_ms: u32, max_ms: u32, max_elapsed_ms: u32) -> OtlpConfig {
    OtlpConfig { retry: Retry { initial_ms, max_ms, max_elapsed_ms }, ..config() }
}

#[test]
fn pauses_double_up_to_the_longest_less_up_to_a_half_at_random() {
    let mut bench = Bench::start(retrying(1_000, 10_000, 86_400_000));
    bench.send("a");
    let pauses = pauses(&mut bench, 20);
    let full = [1_000, 2_000, 4_000, 8_000].into_iter().chain([10_000; 16]).map(ms);
    for (pause, full) in pauses.iter().zip(full) {
        // A tick may come up to 100 ms late.
        assert!((full / 2..=full + ms(100)).contains(pause), "{pause:?} of {full:?} in {pauses:?}");
    }
    let last = &pauses[4..];
    assert!(last.iter().any(|pause| pause != &last[0]), "they differ: {last:?}");
}

#[test]
fn an_answer_makes_pauses_short_again() {
    let mut bench = Bench::start(retrying(1_000, 60_000, 86_400_000));
    bench.send("a");
    assert!(pauses(&mut bench, 6)[5] >= ms(16_000));
    bench.answer(200);
    bench.log(["b"]);
    bench.wait_for_request();
    assert!(pauses(&mut bench, 1)[0] <= ms(1_100));
}

#[test]
fn no_other_batch_is_sent_to_a_collector_that_is_left_alone() {
    let mut bench =
        Bench::start(OtlpConfig { max_batch: 1, max_in_flight: 2, ..retrying(10_000, 10_000, 86_400_000) });
    bench.log(["a", "b", "c"]);
    bench.tick();
    let [first, second] = [0, 1].map(|at| bench.worker.pending_calls()[at].token);
    bench.worker.answer(first, 503, &[], b"");
    bench.worker.fail_call(second);
    bench.worker.advance(ms(4_900));
    assert!(bench.worker.pending_calls().is_empty());
    bench.worker.advance(ms(5_200));
    assert_eq!(bench.lines_under_way(), [["a"], ["b"]], "in their order");
}

#[test]
fn retry_after_is_honoured_in_seconds_and_as_a_date() {
    // The in-process host begins at this second.
    for value in ["30", "Thu, 01 Jan 2026 00:00:30 GMT", "Thursday, 01-Jan-26 00:00:30 GMT"] {
        for status in [429, 503] {
            let mut bench = Bench::start(retrying(100, 100, 86_400_000));
            bench.send("a");
            bench.answer_with(status, &[("retry-after", value)], b"");
            let (_, pause) = bench.wait_for_request();
            // A tick has passed by when it is sent, and another may when it is due.
            assert!((ms(29_900)..=ms(30_100)).contains(&pause), "{status} {value}: {pause:?}");
        }
    }
}

/// Two requests under way.
fn two_under_way(config: OtlpConfig) -> (Bench, [CallToken; 2]) {
    let mut bench = Bench::start(OtlpConfig { max_batch: 1, max_in_flight: 2, ..config });
    bench.log(["a", "b"]);
    bench.tick();
    let tokens = [0, 1].map(|at| bench.worker.pending_calls()[at].token);
    (bench, tokens)
}

#[test]
fn retry_after_is_honoured_although_another_request_is_answered() {
    for status in [200, 400] {
        let (mut bench, [first, second]) = two_under_way(retrying(100, 100, 86_400_000));
        bench.worker.answer(first, 503, &[("retry-after", "30")], b"");
        bench.worker.answer(second, status, &[], b"");
        bench.log(["c"]);
        bench.worker.advance(ms(29_900));
        assert!(bench.worker.pending_calls().is_empty(), "{status}");
        bench.tick();
        assert_eq!(bench.lines_under_way(), [["a"], ["c"]], "{status}");
    }
}

#[test]
fn an_answer_to_another_request_ends_a_pause_that_was_not_asked_for() {
    let (mut bench, [first, second]) = two_under_way(retrying(60_000, 60_000, 86_400_000));
    bench.worker.answer(first, 503, &[], b"");
    assert_eq!(bench.lines_under_way(), [["b"]]);
    bench.worker.answer(second, 200, &[], b"");
    assert_eq!(bench.lines_under_way(), [["a"]]);
}

#[test]
fn a_request_from_before_a_failure_that_fails_after_its_pause_does_not_double_it() {
    let (mut bench, [first, second]) = two_under_way(retrying(1_000, 60_000, 86_400_000));
    bench.worker.answer(first, 503, &[], b"");
    bench.worker.advance(ms(1_100));
    assert_eq!(bench.lines_under_way(), [["b"], ["a"]]);
    bench.worker.answer(second, 503, &[], b"");
    assert_eq!(bench.lines_under_way(), [["a"], ["b"]], "there is no pause");
    for call in bench.worker.pending_calls() {
        bench.worker.answer(call.token, 503, &[], b"");
    }
    bench.worker.advance(ms(900));
    assert!(bench.worker.pending_calls().is_empty());
    bench.worker.advance(ms(1_200));
    assert_eq!(bench.lines_under_way(), [["a"], ["b"]], "the second pause is of two seconds at the most");
    assert_eq!(bench.metric("failed"), 4);
}

#[test]
fn retry_after_cannot_silence_the_exporter() {
    for value in ["86400", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"] {
        let mut bench = Bench::start(retrying(100, 100, 86_400_000));
        bench.send("a");
        bench.answer_with(503, &[("retry-after", value)], b"");
        assert_eq!(bench.wait_for_request().1, ms(300_000), "{value}");
    }
}

#[test]
fn retry_after_does_not_make_a_pause_shorter() {
    for value in ["0", "Thu, 01 Jan 1970 00:00:00 GMT", "-5", "soon"] {
        let mut bench = Bench::start(retrying(10_000, 10_000, 86_400_000));
        bench.send("a");
        bench.answer_with(503, &[("retry-after", value)], b"");
        assert!(bench.wait_for_request().1 >= ms(5_000), "{value}");
    }
}

#[test]
fn a_batch_that_is_too_old_is_dropped_and_counted_and_the_next_has_its_turn() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, ..retrying(1_000, 1_000, 10_000) });
    bench.log(["a", "b", "c"]);
    bench.tick();
    let begun = bench.worker.host.now();
    while bench.metric("dropped_expired") == 0 {
        if let [call] = &bench.worker.pending_calls()[..] {
            let token = call.token;
            bench.worker.answer(token, 503, &[], b"");
        } else {
            bench.tick();
        }
    }
    assert_eq!(bench.worker.host.now().since(begun), ms(10_000));
    assert_eq!((bench.metric("dropped_expired"), bench.queued()), (2, 1));
    bench.worker.advance(ms(1_000));
    assert_eq!(bench.lines_under_way(), [["c"]]);
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.queued()), (1, 0));
}

#[test]
fn a_batch_under_way_is_not_too_old() {
    let mut bench = Bench::start(OtlpConfig { timeout_ms: 60_000, ..retrying(1_000, 1_000, 5_000) });
    bench.send("a");
    bench.worker.advance(ms(30_000));
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.metric("dropped_expired")), (1, 0));
}

#[test]
fn with_no_time_for_retries_each_batch_is_sent_once() {
    let mut bench = Bench::start(retrying(1_000, 1_000, 0));
    bench.send("a");
    bench.answer(503);
    bench.worker.advance(ms(60_000));
    assert_eq!((bench.metric("dropped_expired"), bench.queued(), bench.worker.host.calls_sent()), (1, 0, 1));
}

#[test]
fn steps_of_the_wall_clock_change_nothing() {
    let mut bench = Bench::start(retrying(2_000, 2_000, 86_400_000));
    bench.send("a");
    bench.answer(503);
    for time in [0, u64::MAX / 2] {
        bench.worker.host.set_time(Timestamp::from_nanos(time));
        bench.worker.host.tick_now();
        bench.worker.advance(ms(400));
        assert!(bench.worker.pending_calls().is_empty());
    }
    let (_, pause) = bench.wait_for_request();
    assert!(pause + ms(800) >= ms(1_000) && pause <= ms(1_300), "{pause:?}");
}

#[test]
fn while_the_host_has_no_clock_nothing_is_sent_and_nothing_lost() {
    let mut bench = Bench::start(config());
    bench.send("a");
    bench.worker.host.fail(Fault::Clock);
    bench.answer(503);
    bench.log(["b"]);
    bench.worker.advance(ms(60_000));
    assert_eq!((bench.worker.pending_calls().len(), bench.queued()), (0, 2));
    bench.worker.host.mend(Fault::Clock);
    bench.wait_for_request();
    bench.answer(200);
    assert_eq!(bench.lines_under_way(), [["b"]]);
}

#[test]
fn a_clock_at_its_end_stops_nothing_but_the_pauses() {
    let mut bench = Bench::start(config());
    bench.worker.host.fail(Fault::CallOut);
    bench.log(["a"]);
    bench.worker.host.set_monotonic(MonotonicTime::from_nanos(u64::MAX));
    bench.tick();
    assert_eq!((bench.metric("failed"), bench.queued()), (1, 1));
}
