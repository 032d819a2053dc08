//! The line of the default format.

use std::time::Duration;

use portcullis_access_log::AccessLog;
use portcullis_policy::Chain;
use portcullis_policy::host::Level;
use portcullis_policy::time::Timestamp;
use portcullis_testkit::inprocess::{Fault, SharedData, TestHost, Worker};
use serde_json::json;

use crate::support::{BEGAN, Gate, HEADERS, PROPERTIES, access_log, give_all, line, names};

#[test]
fn a_request_that_went_through_gives_one_line_when_it_is_over() {
    let mut worker = Worker::start(access_log("{}")).unwrap();
    let id = worker.request(HEADERS);
    worker.response_headers(id, [(":status", "200")], true);
    give_all(&worker, id);
    assert_eq!(worker.log_lines(Level::Debug), [""; 0]);

    worker.finish(id);

    assert_eq!(
        worker.log_lines(Level::Info),
        [concat!(
            r#"{"time":"2026-01-31T08:15:30.125Z","method":"POST","path":"/orders?[redacted]","#,
            r#""protocol":"HTTP/1.1","status":200,"duration_ms":12.345,"upstream_ms":9.000,"bytes_in":5,"#,
            r#""bytes_out":1024,"upstream":"10.0.0.7:8080","request_id":"11-22","details":"via_upstream"}"#,
        )]
    );
}

#[test]
fn a_request_that_no_policy_has_seen_gives_a_line_too() {
    let mut worker = Worker::start(access_log("{}")).unwrap();
    let id = worker.open();
    worker.host.give_property(id, &["request", "time"], &BEGAN.to_le_bytes());
    worker.host.give_property(id, &["response", "code"], &400u64.to_le_bytes());
    worker.host.give_property(id, &["response", "flags"], &(1u64 << 18).to_le_bytes());

    worker.finish(id);

    assert_eq!(line(&worker), json!({"time": "2026-01-31T08:15:30.125Z", "status": 400, "flags": "DPE"}));
}

#[test]
fn a_request_that_another_policy_of_the_chain_refused_says_so() {
    for chain in
        [Chain::new().then(Gate).then_configured::<AccessLog>(b"").unwrap(), access_log("").then(Gate)]
    {
        let mut worker = Worker::start(chain).unwrap();
        let id = worker.request(HEADERS);
        worker.host.give_property(id, &["response", "code"], &401u64.to_le_bytes());
        worker.host.give_property(id, &["response", "code_details"], b"gate_missing");

        worker.finish(id);

        let line = line(&worker);
        assert_eq!(line["outcomes"], json!(["gate:rejected:missing"]));
        assert_eq!((&line["status"], &line["details"]), (&json!(401), &json!("gate_missing")));
        assert_eq!(line["path"], "/orders?[redacted]");
        assert_eq!(line.get("client_id"), None);
        assert_eq!(line.get("upstream"), None);
    }
}

#[test]
fn the_caller_is_named_as_policies_of_the_chain_have_established_it() {
    let mut worker =
        Worker::start(Chain::new().then(Gate).then_configured::<AccessLog>(b"").unwrap()).unwrap();
    let id = worker.request([(":path", "/a"), ("who", "me")]);
    // A property of the same name is nobody's word against the chain's.
    worker.host.give_property(id, &["portcullis.client_id"], b"other");
    worker.host.give_property(id, &["portcullis.client-id.outcome"], b"client-id:rejected:invalid");

    worker.finish(id);

    let line = line(&worker);
    assert_eq!(line["client_id"], "o\"r\n");
    assert_eq!(line["outcomes"], json!(["gate:passed:verified"]));
}

#[test]
fn policies_in_filters_of_their_own_say_who_called_and_what_they_decided() {
    let mut worker = Worker::start(access_log("")).unwrap();
    let id = worker.request(HEADERS);
    worker.host.give_property(id, &["portcullis.client_id"], b"orders\xff");
    worker.host.give_property(id, &["portcullis.client-id.outcome"], b"client-id:passed:verified");
    worker.host.give_property(id, &["portcullis.rate-limit.outcome"], b"rate-limit:rejected:quota-exceeded");

    worker.finish(id);

    let line = line(&worker);
    assert_eq!(line["client_id"], "orders\\xff");
    assert_eq!(line["outcomes"], json!(["client-id:passed:verified", "rate-limit:rejected:quota-exceeded"]));
}

#[test]
fn no_setting_shows_a_secret_that_another_policy_has_removed_from_the_query() {
    for (query, path) in [("redacted", "/in?[redacted]"), ("keep", "/in?id=7"), ("drop", "/in")] {
        let chain = Chain::new()
            .then(Gate)
            .then_configured::<AccessLog>(format!(r#"{{"query":"{query}"}}"#).as_bytes())
            .unwrap();
        let mut worker = Worker::start(chain).unwrap();
        let id = worker.request([(":path", "/in?id=7&client_secret=hunter2"), ("who", "me")]);

        worker.finish(id);

        assert_eq!(line(&worker)["path"], path, "{query}");
        assert!(!worker.log_lines(Level::Debug).concat().contains("hunter2"), "{query}");
    }
}

#[test]
fn what_the_host_fails_to_give_is_left_out_and_the_line_is_written_all_the_same() {
    let all = [
        "time",
        "method",
        "path",
        "protocol",
        "status",
        "duration_ms",
        "upstream_ms",
        "bytes_in",
        "bytes_out",
        "upstream",
        "request_id",
        "details",
    ];
    for (faults, missing) in [
        (&[][..], &[][..]),
        (&[Fault::ReadHeaders], &["method", "path", "request_id"]),
        (
            &[Fault::ReadProperty],
            &[
                "protocol",
                "status",
                "duration_ms",
                "upstream_ms",
                "bytes_in",
                "bytes_out",
                "upstream",
                "details",
            ],
        ),
        (&[Fault::ReadHeaders, Fault::ReadProperty], &all[1..]),
        (&[Fault::WriteHeaders, Fault::WriteProperty], &[]),
        (&[Fault::ReadShared, Fault::WriteShared, Fault::CallOut, Fault::ReadCallOut], &[]),
        (&[Fault::DefineMetric, Fault::Tick], &[]),
    ] {
        let host = TestHost::new(SharedData::default());
        faults.iter().for_each(|fault| host.fail(*fault));
        let mut worker = Worker::start_with(access_log("{}"), host).unwrap();
        let id = worker.request(HEADERS);
        give_all(&worker, id);

        worker.finish(id);

        let line = line(&worker);
        let mut expected: Vec<&str> = all.into_iter().filter(|name| !missing.contains(name)).collect();
        expected.sort_unstable();
        assert_eq!(names(&line), expected, "{faults:?}");
        let time = if faults.contains(&Fault::ReadProperty) {
            "2026-01-01T00:00:00.000Z"
        } else {
            "2026-01-31T08:15:30.125Z"
        };
        assert_eq!(line["time"], time, "{faults:?}");
    }
}

#[test]
fn a_number_that_is_not_eight_bytes_long_or_is_negative_is_left_out() {
    for bytes in [&b""[..], b"\x01", b"\xc8\0\0\0", b"\xc8\0\0\0\0\0\0", b"\xc8\0\0\0\0\0\0\0\0", &[0xff; 8]]
    {
        let mut worker = Worker::start(access_log("")).unwrap();
        let id = worker.request(HEADERS);
        give_all(&worker, id);
        for (path, _) in PROPERTIES {
            if !["protocol", "code_details", "address"].contains(&path[1]) {
                worker.host.give_property(id, path, bytes);
            }
        }

        worker.host.set_time(Timestamp::from_nanos(0).after(Duration::from_secs(1)));
        worker.finish(id);

        assert_eq!(
            line(&worker),
            json!({
                "time": "1970-01-01T00:00:01.000Z", "method": "POST", "path": "/orders?[redacted]",
                "protocol": "HTTP/1.1", "upstream": "10.0.0.7:8080", "request_id": "11-22",
                "details": "via_upstream",
            }),
            "{bytes:?}"
        );
    }
}

#[test]
fn bytes_that_are_no_text_do_not_break_the_line() {
    let mut worker = Worker::start(access_log(r#"{"query":"keep"}"#)).unwrap();
    let hostile: Vec<u8> = (0..=255).collect();
    let id = worker.open();
    worker.request_headers(
        id,
        [(":method", &hostile), (":path", &hostile), ("x-request-id", &hostile)],
        true,
    );
    for path in [["request", "protocol"], ["response", "code_details"], ["upstream", "address"]] {
        worker.host.give_property(id, &path, &hostile);
    }
    worker.host.give_property(id, &["portcullis.client_id"], &hostile);
    worker.host.give_property(id, &["portcullis.client-id.outcome"], &hostile);

    worker.finish(id);

    let line = line(&worker);
    let text = line["method"].as_str().unwrap();
    assert!(text.starts_with("\0\u{1}") && text.ends_with("\\xfe\\xff"), "{text}");
    for name in ["path", "protocol", "details", "upstream", "request_id", "client_id"] {
        assert_eq!(line[name], text, "{name}");
    }
    let outcomes: Vec<&str> = text.split(',').collect();
    assert_eq!(line["outcomes"], json!(outcomes));
}

#[test]
fn a_line_has_a_greatest_length_whatever_comes() {
    let mut worker = Worker::start(access_log(r#"{"query":"keep","max_field_bytes":16}"#)).unwrap();
    let id = worker.open();
    let long = vec![0x01; 60_000];
    let path = [b"/".as_slice(), &long, b"?", &long].concat();
    worker.request_headers(id, [(":method", &long), (":path", &path), ("x-request-id", &long)], true);
    give_all(&worker, id);
    for path in [["request", "protocol"], ["response", "code_details"], ["upstream", "address"]] {
        worker.host.give_property(id, &path, &long);
    }

    worker.finish(id);

    let text = format!("{}…", "\u{1}".repeat(16));
    let line = line(&worker);
    assert_eq!(line["method"], text);
    assert_eq!(line["details"], text);
    assert_eq!(line["path"], format!("/{}…?{text}", "\u{1}".repeat(15)));
    assert!(worker.log_lines(Level::Info)[0].len() < 1_500);
}

#[test]
fn each_exchange_has_its_own_line() {
    let mut worker = Worker::start(access_log("")).unwrap();
    let one = worker.request([(":path", "/a-long-path-that-must-not-show-in-the-next-line")]);
    let two = worker.request([(":path", "/two")]);

    worker.finish(one);
    worker.finish(two);

    let lines = worker.log_lines(Level::Info);
    assert_eq!(lines[1], r#"{"time":"2026-01-01T00:00:00.000Z","path":"/two"}"#,);
    assert_eq!(lines.len(), 2);
}
