//! Whatever happens in whatever order, each record is exported, or counted as dropped, or still there.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_access_log::otlp::OtlpConfig;
use portcullis_access_log::otlp::config::Retry;
use portcullis_policy::Shutdown;
use portcullis_policy::host::{CallToken, Clock};
use portcullis_testkit::inprocess::{Fault, RecordedCall};
use proptest::prelude::*;

use crate::request;
use crate::support::{Bench, config, ms};

#[derive(Debug, Clone)]
enum Event {
    Log {
        records: usize,
        length: usize,
    },
    Pass(u64),
    /// Answers one of the requests under way.
    Answer {
        which: usize,
        status: u16,
        retry_after: Option<u16>,
    },
    Partial {
        which: usize,
        rejected: usize,
    },
    Reset {
        which: usize,
    },
    /// The reply never comes.
    Lose {
        which: usize,
    },
    /// The steady clock leaps, so that what is under way is given up and may be answered late.
    Leap(u64),
    ClusterGoes,
    ClusterComes,
    ShutDown,
}

fn event() -> impl Strategy<Value = Event> {
    let which = 0usize..4;
    let status = prop_oneof![
        4 => Just(200u16),
        3 => prop::sample::select(vec![429, 502, 503, 504]),
        1 => prop::sample::select(vec![100, 204, 301, 400, 404, 413, 500]),
    ];
    prop_oneof![
        8 => (1usize..12, 0usize..9_000).prop_map(|(records, length)| Event::Log { records, length }),
        8 => (1u64..5_000).prop_map(Event::Pass),
        8 => (which.clone(), status, proptest::option::of(0u16..20))
            .prop_map(|(which, status, retry_after)| Event::Answer { which, status, retry_after }),
        1 => (which.clone(), 0usize..20).prop_map(|(which, rejected)| Event::Partial { which, rejected }),
        1 => which.clone().prop_map(|which| Event::Reset { which }),
        1 => which.prop_map(|which| Event::Lose { which }),
        1 => (1_000u64..30_000).prop_map(Event::Leap),
        1 => Just(Event::ClusterGoes),
        2 => Just(Event::ClusterComes),
    ]
}

/// What the collector has been told and has said.
#[derive(Default)]
struct Ledger {
    logged: usize,
    /// Requests that have been seen, and their records.
    requests: BTreeMap<CallToken, Vec<usize>>,
    acknowledged: BTreeSet<usize>,
    last_new: Option<usize>,
}

impl Ledger {
    /// Looks at requests that are new: none has a record that was acknowledged before, and records come in order.
    fn see(&mut self, calls: &[RecordedCall], in_order: bool) {
        for call in calls {
            if self.requests.contains_key(&call.token) {
                continue;
            }
            let number = |line: &String| line.split(' ').next().unwrap().parse().unwrap();
            let records: Vec<usize> = request::lines(&call.body).iter().map(number).collect();
            assert!(records.is_sorted() && !records.is_empty(), "{records:?}");
            for record in &records {
                assert!(!self.acknowledged.contains(record), "{record} was acknowledged before");
            }
            if in_order {
                let first = records.first().copied();
                let again = self.requests.values().any(|before| before == &records);
                assert!(again || first > self.last_new, "{first:?} after {:?}", self.last_new);
            }
            self.last_new = self.last_new.max(records.last().copied());
            self.requests.insert(call.token, records);
        }
    }

    fn acknowledge(&mut self, token: CallToken) {
        self.acknowledged.extend(self.requests[&token].iter().copied());
    }
}

const DROPPED: [&str; 5] = ["queue_full", "refused", "expired", "too_long", "at_shutdown"];

fn check_balance(bench: &Bench, logged: usize) {
    let dropped: usize = DROPPED.iter().map(|why| bench.metric(&format!("dropped_{why}"))).sum();
    let told = ["exported", "rejected_partial", "unanswered_at_shutdown"].map(|name| bench.metric(name));
    let sum = told.iter().sum::<usize>() + dropped + bench.queued();
    assert_eq!(sum, logged);
}

fn run(config: OtlpConfig, events: Vec<Event>) {
    let in_order = config.max_in_flight == 1;
    let (max_queue, max_batch) = (config.max_queue as usize, config.max_batch as usize);
    let most = max_queue + max_batch * config.max_in_flight as usize;
    let mut bench = Bench::start(config);
    let mut ledger = Ledger::default();
    let mut ending: Option<Shutdown> = None;
    for event in events {
        let calls = bench.worker.pending_calls();
        let call = |which: usize| calls.get(which % calls.len().max(1)).map(|call| call.token);
        match event {
            Event::Log { records, length } => {
                for _ in 0..records {
                    bench.log([format!("{} {}", ledger.logged, "x".repeat(length))]);
                    ledger.logged += 1;
                }
            }
            // By steps, so that each request is seen before its timeout.
            Event::Pass(time) => {
                for _ in 0..=time / 100 {
                    bench.worker.advance(ms(100));
                    ledger.see(&bench.worker.pending_calls(), in_order && ending.is_none());
                }
            }
            Event::Answer { which, status, retry_after } => {
                if let Some(token) = call(which) {
                    if (200..300).contains(&status) {
                        ledger.acknowledge(token);
                    }
                    let retry_after = retry_after.unwrap_or_default().to_string();
                    bench.worker.answer(token, status, &[("retry-after", &retry_after)], b"");
                }
            }
            Event::Partial { which, rejected } => {
                if let Some(token) = call(which) {
                    ledger.acknowledge(token);
                    let body = format!(r#"{{"partialSuccess":{{"rejectedLogRecords":"{rejected}"}}}}"#);
                    bench.worker.answer(token, 200, &[], body.as_bytes());
                }
            }
            Event::Reset { which } => {
                if let Some(token) = call(which) {
                    bench.worker.fail_call(token);
                }
            }
            Event::Lose { which } => {
                if let Some(token) = call(which) {
                    bench.worker.host.forget_call(token);
                }
            }
            Event::Leap(time) => {
                let later = bench.worker.host.monotonic().unwrap().after(ms(time));
                bench.worker.host.set_monotonic(later);
            }
            Event::ClusterGoes => bench.worker.host.fail(Fault::CallOut),
            Event::ClusterComes => bench.worker.host.mend(Fault::CallOut),
            Event::ShutDown => {
                let answer = bench.worker.shut_down();
                assert_eq!(answer == Shutdown::Done, bench.queued() == 0);
                ending = Some(answer);
            }
        }
        ledger.see(&bench.worker.pending_calls(), in_order && ending.is_none());
        check_balance(&bench, ledger.logged);
        if ending.is_none() {
            assert!(bench.queued() <= most, "{} of {most}", bench.queued());
        }
    }
    // The collector recovers, and everything that is still there reaches it.
    bench.worker.host.mend(Fault::CallOut);
    for _ in 0..100_000 {
        if bench.queued() == 0 {
            break;
        }
        bench.tick();
        while let [call, ..] = &bench.worker.pending_calls()[..] {
            // All of them: an answer may make the worker send what a late answer then acknowledges.
            ledger.see(&bench.worker.pending_calls(), false);
            ledger.acknowledge(call.token);
            let token = call.token;
            bench.worker.answer(token, 200, &[], b"");
        }
    }
    assert_eq!(bench.queued(), 0, "it recovers");
    check_balance(&bench, ledger.logged);
    assert_eq!(bench.metric("queued"), 0);
    assert_eq!(bench.has_ended(), ending == Some(Shutdown::Pending));
}

fn any_config() -> impl Strategy<Value = OtlpConfig> {
    let shutdown_ms = prop::sample::select(vec![0u32, 3_000]);
    (1u32..40, 1u32..20, 1u32..4, 100u32..3_000, 0u32..20_000, shutdown_ms).prop_map(
        |(max_queue, max_batch, max_in_flight, flush_interval_ms, max_elapsed_ms, shutdown_ms)| OtlpConfig {
            max_queue: max_queue.max(max_batch),
            max_batch,
            max_queue_bytes: 65_536,
            max_batch_bytes: 65_536,
            max_in_flight,
            flush_interval_ms,
            timeout_ms: 2_000,
            shutdown_ms,
            retry: Retry { initial_ms: 200, max_ms: 2_000, max_elapsed_ms },
            ..config()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_record_is_lost_without_being_counted(
        config in any_config(),
        events in proptest::collection::vec(event(), 1..60),
    ) {
        run(config, events);
    }

    #[test]
    fn nor_when_the_plugin_ends_in_between(
        config in any_config(),
        before in proptest::collection::vec(event(), 1..30),
        after in proptest::collection::vec(event(), 1..30),
    ) {
        run(config, before.into_iter().chain([Event::ShutDown]).chain(after).collect());
    }
}
