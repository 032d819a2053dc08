//! The end of the plugin: what is queued goes out at once, within its time.

use portcullis_access_log::otlp::OtlpConfig;
use portcullis_policy::Shutdown;
use portcullis_testkit::inprocess::Fault;

use crate::support::{Bench, config, ms};

#[test]
fn with_nothing_left_it_is_done_at_once() {
    let mut bench = Bench::start(config());
    assert_eq!(bench.worker.shut_down(), Shutdown::Done);
    let mut bench = Bench::start(config());
    bench.send("a");
    bench.answer(200);
    assert_eq!(bench.worker.shut_down(), Shutdown::Done);
    assert_eq!(bench.worker.host.calls_sent(), 1);
}

#[test]
fn everything_is_sent_at_once_and_the_end_waits_for_the_answers() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, ..config() });
    bench.send("0");
    bench.log(["a", "b", "c", "d", "e"]);
    assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
    assert_eq!(bench.lines_under_way(), [vec!["0"], vec!["a", "b"], vec!["c", "d"], vec!["e"]]);
    for call in bench.worker.pending_calls() {
        assert!(bench.queued() > 0);
        bench.worker.answer(call.token, 200, &[], b"");
    }
    assert_eq!((bench.metric("exported"), bench.queued(), bench.metric("queued")), (6, 0, 0));
    assert!(bench.has_ended());
}

#[test]
fn the_pause_after_a_failure_is_cut_short() {
    let mut bench = Bench::start(config());
    bench.send("a");
    bench.answer_with(503, &[("retry-after", "60")], b"");
    bench.log(["b"]);
    assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
    assert_eq!(bench.lines_under_way(), [["a"], ["b"]]);
}

#[test]
fn what_fails_meanwhile_is_sent_again_as_long_as_there_is_time() {
    let mut bench = Bench::start(config());
    bench.send("a");
    assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
    bench.answer(503);
    let (_, pause) = bench.wait_for_request();
    assert!((ms(500)..=ms(1_100)).contains(&pause), "{pause:?}");
    bench.answer(200);
    assert_eq!((bench.metric("exported"), bench.metric("dropped_at_shutdown")), (1, 0));
    assert!(bench.has_ended());
}

#[test]
fn what_is_left_when_time_is_up_is_dropped_and_counted() {
    for unreachable in [false, true] {
        let mut bench = Bench::start(OtlpConfig { max_batch: 2, shutdown_ms: 2_000, ..config() });
        if unreachable {
            bench.worker.host.fail(Fault::CallOut);
        }
        bench.log(["a", "b", "c"]);
        assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
        bench.worker.advance(ms(1_900));
        assert!(!bench.has_ended());
        bench.worker.advance(ms(200));
        assert!(bench.has_ended());
        let given_up = [bench.metric("dropped_at_shutdown"), bench.metric("unanswered_at_shutdown")];
        assert_eq!(given_up, if unreachable { [3, 0] } else { [0, 3] });
        assert_eq!((bench.queued(), bench.metric("queued")), (0, 0));
    }
}

#[test]
fn what_has_failed_is_dropped_and_what_is_under_way_is_counted_as_unanswered() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, shutdown_ms: 2_000, ..config() });
    bench.log(["a", "b", "c"]);
    assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
    let [first, _] = &bench.worker.pending_calls()[..] else { panic!("two requests") };
    bench.worker.answer(first.token, 503, &[("retry-after", "60")], b"");
    bench.worker.advance(ms(2_000));
    assert!(bench.has_ended());
    assert_eq!((bench.metric("dropped_at_shutdown"), bench.metric("unanswered_at_shutdown")), (2, 1));
}

#[test]
fn with_no_time_at_all_nothing_more_is_sent_and_everything_is_counted_for_what_it_is() {
    let mut bench = Bench::start(OtlpConfig { shutdown_ms: 0, ..config() });
    bench.send("a");
    bench.log(["b", "c"]);
    assert_eq!(bench.worker.shut_down(), Shutdown::Done);
    assert_eq!(bench.lines_under_way(), [["a"]]);
    assert_eq!((bench.metric("unanswered_at_shutdown"), bench.metric("dropped_at_shutdown")), (1, 2));
    assert_eq!((bench.queued(), bench.metric("queued"), bench.metric("exported")), (0, 0, 0));
}

#[test]
fn an_exchange_that_ends_during_the_shutdown_is_exported_too() {
    let mut bench = Bench::start(config());
    bench.send("a");
    assert_eq!(bench.worker.shut_down(), Shutdown::Pending);
    bench.log(["b"]);
    bench.answer(200);
    assert_eq!(bench.lines_under_way(), [["b"]]);
    bench.answer(200);
    assert!(bench.has_ended());
    assert_eq!(bench.metric("exported"), 2);
}
