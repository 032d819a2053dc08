//! How long records wait for each other.

use portcullis_access_log::otlp::OtlpConfig;
use portcullis_testkit::inprocess::Fault;

use crate::request;
use crate::support::{Bench, config, ms};

#[test]
fn records_wait_for_each_other_no_longer_than_the_flush_interval() {
    let mut bench = Bench::start(OtlpConfig { flush_interval_ms: 2_000, ..config() });
    // At the start, right after a batch, and after a long time without records.
    for idle in [0, 0, 60_000] {
        bench.worker.advance(ms(idle));
        bench.log(["first"]);
        bench.worker.advance(ms(1_000));
        bench.log(["second"]);
        bench.worker.advance(ms(900));
        assert!(bench.worker.pending_calls().is_empty(), "after {idle} ms without records");
        bench.log(["third"]);
        bench.tick();
        assert_eq!(bench.lines_under_way(), [["first", "second", "third"]], "{idle}");
        bench.answer(200);
    }
}

#[test]
fn what_a_full_batch_leaves_waits_no_longer_for_that() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, flush_interval_ms: 2_000, ..config() });
    bench.log(["a"]);
    bench.worker.advance(ms(1_000));
    bench.log(["b", "c"]);
    bench.tick();
    assert_eq!(bench.lines_under_way(), [["a", "b"]]);
    bench.answer(200);
    let (call, waited) = bench.wait_for_request();
    assert_eq!(request::lines(&call.body), ["c"]);
    assert!(waited <= ms(2_000), "{waited:?}");
}

#[test]
fn a_record_that_comes_while_the_host_has_no_clock_is_sent_when_it_has_one() {
    let mut bench = Bench::start(OtlpConfig { flush_interval_ms: 2_000, ..config() });
    bench.worker.host.fail(Fault::Clock);
    bench.log(["a"]);
    bench.worker.advance(ms(60_000));
    assert!(bench.worker.pending_calls().is_empty());
    bench.worker.host.mend(Fault::Clock);
    bench.tick();
    assert_eq!(bench.lines_under_way(), [["a"]]);
}

#[test]
fn a_full_batch_waits_for_the_tick_and_not_for_the_flush() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 3, flush_interval_ms: 60_000, ..config() });
    bench.log(["a", "b"]);
    bench.worker.advance(ms(1_000));
    assert!(bench.worker.pending_calls().is_empty());
    bench.log(["c", "d"]);
    bench.tick();
    assert_eq!(bench.lines_under_way(), [["a", "b", "c"]]);
    bench.answer(200);
    assert!(bench.worker.pending_calls().is_empty(), "the rest is no full batch");
    assert_eq!(bench.queued(), 1);
}

#[test]
fn what_is_due_follows_answer_by_answer_without_waiting_for_ticks() {
    let mut bench = Bench::start(OtlpConfig { max_batch: 2, ..config() });
    bench.log(["a", "b", "c", "d", "e"]);
    bench.tick();
    for expected in [vec!["a", "b"], vec!["c", "d"], vec!["e"]] {
        assert_eq!(bench.lines_under_way(), [expected]);
        bench.answer(200);
    }
    assert_eq!((bench.metric("exported"), bench.metric("sent"), bench.queued()), (5, 3, 0));
}
