#![cfg(feature = "envoy")]
//! The fixture itself, through a real Envoy without any Wasm module.

use std::time::Duration;

use portcullis_testkit::envoy::{
    AccessLog, Backend, Cluster, Delivery, Envoy, EnvoyConfig, PATIENCE, Progress, Reply, WasmPlugin,
    concurrently, h1, h2, wait_until,
};
use serde_json::json;

fn proxy(backend: &Backend) -> EnvoyConfig {
    EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr()))
}

/// A proxy that answers by itself; `revision` tells configurations apart.
fn answering(revision: &str) -> EnvoyConfig {
    EnvoyConfig::new().delivery(Delivery::Files).route(json!({
        "match": { "prefix": "/" },
        "direct_response": { "status": 200, "body": { "inline_string": revision } },
    }))
}

#[test]
fn proxies_http1_and_records_what_came() {
    let backend = Backend::replying(Reply::ok("hello").header("x-answer", "yes"));
    let envoy = Envoy::start(&proxy(&backend));

    let response = h1::request(
        envoy.addr(),
        "POST",
        "/orders?b=2&a=%20",
        &[("host", b"shop.test"), ("x-key", b"one"), ("x-key", b"two")],
        b"two pies",
    );

    assert_eq!(response.status, 200);
    assert_eq!(response.headers.get("X-Answer"), Some(b"yes".as_slice()));
    assert_eq!(response.text(), "hello");
    let requests = backend.wait_for(1, PATIENCE);
    let request = &requests[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str(), request.authority.as_deref()),
        ("POST", "/orders?b=2&a=%20", Some("shop.test"))
    );
    assert_eq!(request.headers.all("x-key"), [b"one", b"two"]);
    assert_eq!(request.body, b"two pies");
    assert_eq!(request.chunks.iter().map(|chunk| chunk.len).sum::<usize>(), request.body.len());
    assert!(request.chunks.iter().all(|chunk| chunk.at >= request.arrived));
    assert_eq!(backend.in_progress(), 0);
    assert_eq!(backend.connections(), 1);

    backend.clear();
    assert_eq!(backend.count(), 0);
}

#[test]
fn answers_by_what_is_asked() {
    let backend = Backend::start();
    backend.reply_with(|request| match request.path.as_str() {
        "/made" => Reply::status(201).chunks(["in ", "pieces"]),
        _ => Reply::status(404),
    });
    let envoy = Envoy::start(&proxy(&backend));

    let made = h1::get(envoy.addr(), "/made");
    assert_eq!((made.status, made.text().as_str()), (201, "in pieces"));
    assert_eq!(h1::get(envoy.addr(), "/other").status, 404);
}

#[test]
fn serves_several_requests_over_one_http1_connection() {
    let backend = Backend::replying(Reply::ok("pong"));
    let envoy = Envoy::start(&proxy(&backend));
    let mut connection = h1::Connection::open(envoy.addr());

    connection.send("HEAD", "/1", &[], b"").unwrap();
    let head = connection.read_head_response().unwrap();
    connection.send("GET", "/2", &[], b"").unwrap();
    let get = connection.read_response().unwrap();
    connection.close();

    assert_eq!((head.status, head.headers.text("content-length").as_deref()), (200, Some("4")));
    assert!(head.body.is_empty());
    assert_eq!(get.text(), "pong");
    assert_eq!(envoy.counter("listener.ingress.downstream_cx_total"), envoy.connections_by_worker()[0]);
}

#[test]
fn passes_header_values_that_are_not_utf8() {
    let backend = Backend::replying(Reply::default().header("x-back", b"\xfe\xff"));
    let envoy = Envoy::start(&proxy(&backend));

    for response in [
        h1::request(envoy.addr(), "GET", "/", &[("x-raw", b"\xff\xe9")], b""),
        h2::request(envoy.addr(), "GET", "/", &[("x-raw", b"\xff\xe9")], &[], &[]),
    ] {
        assert_eq!(response.status, 200);
        assert_eq!(response.headers.get("x-back"), Some(b"\xfe\xff".as_slice()));
    }

    for request in backend.wait_for(2, PATIENCE) {
        assert_eq!(request.headers.get("x-raw"), Some(b"\xff\xe9".as_slice()));
    }
}

#[test]
fn passes_chunks_and_trailers_over_http1() {
    let backend = Backend::replying(Reply::ok("done").trailer("x-sum", b"\xff7"));
    let envoy = Envoy::start(&proxy(&backend).http1_trailers());
    let mut connection = h1::Connection::open(envoy.addr());
    let headers: &[(&str, &[u8])] = &[("transfer-encoding", b"chunked"), ("te", b"trailers")];

    connection.send_raw(&h1::head("POST", "/", headers, 0)).unwrap();
    connection.send_chunk(b"first ").unwrap();
    wait_until("the first chunk arrives before the second is sent", PATIENCE, || {
        backend.requests().iter().any(|request| request.body == b"first ")
    });
    assert_eq!(backend.requests()[0].progress, Progress::Arriving);
    assert_eq!(backend.in_progress(), 1);
    connection.send_chunk(b"second").unwrap();
    connection.end_chunks(&[("x-check", b"\xe9")]).unwrap();
    let response = connection.read_response().unwrap();

    let request = &backend.wait_for(1, PATIENCE)[0];
    assert_eq!(request.body, b"first second");
    assert_eq!(request.chunks.len(), 2);
    assert_eq!(request.trailers.get("x-check"), Some(b"\xe9".as_slice()));
    assert_eq!(response.text(), "done");
    assert_eq!(response.trailers.get("x-sum"), Some(b"\xff7".as_slice()));
}

#[test]
fn drops_http1_trailers_unless_they_are_enabled() {
    let backend = Backend::start();
    let envoy = Envoy::start(&proxy(&backend));
    let mut connection = h1::Connection::open(envoy.addr());

    connection.send_raw(&h1::head("POST", "/", &[("transfer-encoding", b"chunked")], 0)).unwrap();
    connection.end_chunks(&[("x-check", b"1")]).unwrap();

    assert_eq!(connection.read_response().unwrap().status, 200);
    assert!(backend.wait_for(1, PATIENCE)[0].trailers.is_empty());
}

#[test]
fn passes_data_and_trailers_over_http2() {
    let backend = Backend::replying(Reply::ok("done").trailer("grpc-status", "0"));
    let envoy = Envoy::start(&EnvoyConfig::new().cluster(Cluster::http2("backend", backend.addr())));

    let response = h2::request(
        envoy.addr(),
        "POST",
        "/svc/Method",
        &[("host", b"grpc.test"), ("te", b"trailers")],
        &[b"first ", b"second"],
        &[("x-check", b"1")],
    );

    assert_eq!((response.status, response.text().as_str()), (200, "done"));
    assert_eq!(response.trailers.get("grpc-status"), Some(b"0".as_slice()));
    let request = &backend.wait_for(1, PATIENCE)[0];
    assert_eq!(format!("{:?}", request.version), "HTTP/2.0");
    assert_eq!((request.path.as_str(), request.authority.as_deref()), ("/svc/Method", Some("grpc.test")));
    assert_eq!(request.body, b"first second");
    assert_eq!(request.trailers.get("x-check"), Some(b"1".as_slice()));
}

#[test]
fn multiplexes_many_streams_over_one_connection() {
    let backend = Backend::replying(Reply::default());
    let envoy = Envoy::start(&proxy(&backend));

    let responses = h2::many(envoy.addr(), 40, "GET", "/", &[]);

    assert!(responses.iter().all(|response| response.as_ref().is_ok_and(|response| response.status == 200)));
    assert_eq!(responses.len(), 40);
    backend.wait_for(40, PATIENCE);
    assert_eq!(envoy.counter("listener.ingress.downstream_cx_total"), 1);
}

#[test]
fn sees_an_http2_request_aborted_midway() {
    let backend = Backend::start();
    let envoy = Envoy::start(&proxy(&backend));
    let connection = h2::Connection::open(envoy.addr());

    let mut stream = connection.begin("POST", "/", &[], h2::Rest::Follows).unwrap();
    stream.send_data(b"half").unwrap();
    backend.wait_for_headers(1, PATIENCE);
    stream.reset();

    assert_eq!(backend.wait_for_aborted(1, PATIENCE)[0].progress, Progress::Aborted);
    envoy.wait_for_counter("http.ingress.downstream_rq_rx_reset", 1, PATIENCE);
    // The connection has outlived the stream.
    assert_eq!(connection.request("GET", "/", &[], &[], &[]).status, 200);
}

#[test]
fn sees_an_http1_request_aborted_midway() {
    let backend = Backend::start();
    let envoy = Envoy::start(&proxy(&backend));
    let mut connection = h1::Connection::open(envoy.addr());

    connection.send_raw(&h1::head("POST", "/", &[], 100)).unwrap();
    backend.wait_for_headers(1, PATIENCE);
    connection.abort();

    backend.wait_for_aborted(1, PATIENCE);
    wait_until("the backend is idle", PATIENCE, || backend.in_progress() == 0);
}

#[test]
fn a_reply_is_delayed_and_a_client_that_leaves_meanwhile_is_seen() {
    let backend = Backend::replying(Reply::default().delay(10 * PATIENCE));
    let envoy = Envoy::start(&proxy(&backend));
    let mut connection = h1::Connection::open(envoy.addr());

    connection.send("GET", "/", &[], b"").unwrap();
    backend.wait_for(1, PATIENCE);
    connection.set_timeout(Duration::from_millis(50));
    assert!(connection.read_response().is_err());
    connection.close();

    backend.wait_for_aborted(1, PATIENCE);
}

#[test]
fn fires_requests_at_once_at_two_workers() {
    let backend = Backend::start();
    let envoy = Envoy::start(&proxy(&backend).workers(2));

    let statuses = concurrently(32, |index| h1::get(envoy.addr(), &format!("/{index}")).status);

    assert_eq!(statuses, vec![200; 32]);
    assert_eq!(backend.count(), 32);
    // The kernel spreads connections over the workers by a hash of their ports.
    wait_until("both workers have had connections", PATIENCE, || {
        h1::get(envoy.addr(), "/");
        let connections = envoy.connections_by_worker();
        connections.len() == 2 && connections.iter().all(|count| *count > 0)
    });
}

#[test]
fn logs_and_access_logs_are_captured() {
    let backend = Backend::start();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("access.log");
    let envoy = Envoy::start(
        &proxy(&backend)
            .component_log_level("http:debug")
            .access_log(AccessLog::Stdout("out %REQ(:PATH)% %RESPONSE_CODE%".into()))
            .access_log(AccessLog::File(file.clone(), "file %REQ(:PATH)%".into())),
    );

    h1::get(envoy.addr(), "/seen");

    assert_eq!(envoy.wait_for_stdout(PATIENCE, |line| line.starts_with("out")), "out /seen 200");
    envoy.wait_for_log(PATIENCE, |line| line.contains("/seen"));
    wait_until("the access log file is written", PATIENCE, || {
        std::fs::read_to_string(&file).is_ok_and(|text| text == "file /seen\n")
    });
    assert!(envoy.is_running());
    assert!(envoy.shut_down().iter().any(|line| line.contains("exiting")));
}

#[test]
fn a_bad_bootstrap_is_refused_with_the_reason() {
    let error = Envoy::try_start(&EnvoyConfig::new().native_filter(json!({ "name": "no-such-filter" })))
        .err()
        .expect("Envoy refuses");

    assert!(error.to_string().contains("no-such-filter"), "{error}");
}

#[test]
fn a_missing_module_is_refused_in_the_bootstrap_and_through_files() {
    let plugin = WasmPlugin::at("absent", "/nonexistent/module.wasm")
        .text_configuration("{}")
        .vm_id("vm")
        .root_id("root")
        .allow_on_headers_stop_iteration(true)
        .capabilities(["proxy_log"]);

    for delivery in [Delivery::Bootstrap, Delivery::Files] {
        let config = EnvoyConfig::new().filter(plugin.clone()).delivery(delivery);
        let error = Envoy::try_start(&config).err().expect("Envoy refuses");
        assert!(error.to_string().contains("/nonexistent/module.wasm"), "{error}");
    }
}

#[test]
fn a_good_push_takes_effect_on_every_worker() {
    let envoy = Envoy::start(&answering("one").workers(2));
    let addr = envoy.addr();
    assert_eq!(h1::get(addr, "/").text(), "one");

    envoy.push(&answering("two")).unwrap();

    assert_eq!(envoy.addr(), addr);
    assert_eq!(concurrently(16, |_| h1::get(addr, "/").text()), vec!["two"; 16]);
    assert_eq!(envoy.counter("listener_manager.lds.update_rejected"), 0);
    assert_eq!(envoy.counter("listener_manager.listener_in_place_updated"), 1);
}

#[test]
fn a_push_may_change_the_listener_itself() {
    let envoy = Envoy::start(&answering("one").workers(2));

    envoy.push(&answering("two").buffer_limit(4096)).unwrap();

    assert_eq!(concurrently(16, |_| h1::get(envoy.addr(), "/").text()), vec!["two"; 16]);
    assert_eq!(envoy.counter("listener_manager.listener_modified"), 1);
}

#[test]
fn a_push_may_bring_a_new_backend() {
    let envoy = Envoy::start(&answering("nobody"));
    let backend = Backend::replying(Reply::ok("the backend"));

    envoy.push(&proxy(&backend)).unwrap();

    assert_eq!(h1::get(envoy.addr(), "/").text(), "the backend");
}

#[test]
fn a_bad_push_is_refused_and_changes_nothing() {
    let envoy = Envoy::start(&answering("one"));
    let absent = WasmPlugin::at("absent", "/nonexistent/module.wasm").struct_configuration(json!({ "a": 1 }));

    let bad = [
        (answering("two").native_filter(json!({ "name": "no-such-filter" })), "no-such-filter"),
        (answering("two").filter(absent), "/nonexistent/module.wasm"),
        (answering("two").merge_listener(json!({ "no_such_field": 1 })), "no_such_field"),
        (answering("two").merge_listener(json!({ "address": 1 })), "envoy.config.core.v3.Address"),
    ];
    for (config, expected) in bad {
        let refusal = envoy.push(&config).unwrap_err();
        assert!(refusal.details.contains(expected), "{refusal}");
    }

    assert_eq!(h1::get(envoy.addr(), "/").text(), "one");
    envoy.push(&answering("three")).unwrap();
    assert_eq!(h1::get(envoy.addr(), "/").text(), "three");
}
