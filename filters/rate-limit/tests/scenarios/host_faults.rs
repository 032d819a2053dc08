//! A host that refuses what is asked of it.

use portcullis_testkit::inprocess::{Fault, SharedData, TestHost, Worker};
use serde_json::json;

use crate::support::*;

/// What is needed to count a request by its source address.
const NEEDED: [Fault; 5] =
    [Fault::ReadHeaders, Fault::ReadProperty, Fault::ReadShared, Fault::WriteShared, Fault::Clock];

#[test]
fn refuses_what_it_cannot_count() {
    for fault in NEEDED {
        let mut worker = worker(&two_a_minute(json!({"key": [{"source-address": {}}]})));
        worker.host.fail(fault);
        let id = get(&mut worker, &[]);
        assert_eq!(status(&worker, id), 503, "{fault:?}");
        assert_eq!(worker.reply(id).code_details, "rate_limit_failure");
        assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("1"));
        assert_eq!(outcome(&worker, id), "rate-limit:failed-closed:host");
        assert_eq!([metric(&worker, "host_failed"), metric(&worker, "failed_closed")], [1, 1]);
        worker.host.mend(fault);
        assert!(passes(&mut worker, &[]), "{fault:?}");
    }
}

#[test]
fn lets_pass_what_it_cannot_count_if_told_to_or_in_shadow_mode() {
    for members in [json!({"on_failure": "open"}), json!({"mode": "shadow"})] {
        for fault in NEEDED {
            let mut config = two_a_minute(members.clone());
            config["key"] = json!([{"source-address": {}}]);
            let mut worker = worker(&config);
            worker.host.fail(fault);
            let id = get(&mut worker, &[]);
            assert!(is_admitted(&worker, id), "{fault:?}");
            assert_eq!(outcome(&worker, id), "rate-limit:failed-open:host");
            assert_eq!([metric(&worker, "host_failed"), metric(&worker, "failed_open")], [1, 1]);
        }
    }
}

#[test]
fn does_without_metrics_and_filter_state() {
    let host = TestHost::new(SharedData::default());
    host.fail(Fault::DefineMetric);
    host.fail(Fault::WriteProperty);
    let mut worker = Worker::start_with(chain(&two_a_minute(json!({}))).unwrap(), host).unwrap();
    assert_eq!([(); 3].map(|()| passes(&mut worker, &[])), [true, true, false]);
}

#[test]
fn needs_no_properties_for_a_key_without_any() {
    let mut worker = worker(&two_a_minute(json!({"key": ["method", "path", "host"]})));
    worker.host.fail(Fault::ReadProperty);
    assert!(passes(&mut worker, &[]));
}

#[test]
fn does_not_start_on_a_host_that_cannot_do_what_is_needed() {
    for (fault, expected) in [
        (Fault::ReadShared, "proxy_get_shared_data"),
        (Fault::WriteShared, "proxy_set_shared_data"),
        (Fault::Clock, "the host does not tell the time"),
    ] {
        let host = TestHost::new(SharedData::default());
        host.fail(fault);
        let error = Worker::start_with(chain(&two_a_minute(json!({}))).unwrap(), host).err().unwrap();
        assert!(error.to_string().contains(expected), "{fault:?}: {error}");
    }
}
