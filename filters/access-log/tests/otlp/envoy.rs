//! The exporter in real Envoy: with a collector that works, one that does not, and at the end of a listener.

use std::collections::BTreeSet;
use std::time::Duration;

use portcullis_testkit::envoy::{
    Backend, Behaviour, ClosedPort, Cluster, Delivery, Envoy, EnvoyConfig, HostileServer, PATIENCE, Recorded,
    Reply, WasmPlugin, h1, http_reply, wait_until,
};
use serde_json::{Value, json};

use crate::request;

/// An exporter to the cluster `collector`, with these members changed.
fn sink(changes: Value) -> Value {
    let mut config = json!({
        "cluster": "collector",
        "flush_interval_ms": 100,
        "timeout_ms": 1_000,
        "retry": {"initial_ms": 100, "max_ms": 200},
    });
    config.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    json!({"sinks": [{"otlp": config}]})
}

fn gateway(backend: &Backend, collector: Cluster, changes: Value) -> EnvoyConfig {
    EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .cluster(collector)
        .filter(WasmPlugin::module("access-log").json_configuration(&sink(changes)))
}

fn counter(envoy: &Envoy, name: &str) -> u64 {
    let stats = envoy.stats();
    let name = format!("portcullis.access_log.otlp_{name}");
    let found = stats.iter().find(|(known, _)| known.ends_with(&name));
    found.map_or(0, |(_, value)| *value)
}

fn wait_for_counter(envoy: &Envoy, name: &str, at_least: u64) {
    wait_until(&format!("{name} is {at_least}"), PATIENCE, || counter(envoy, name) >= at_least);
}

/// Sends requests for these paths, one after the other on one connection, which all succeed.
fn send(envoy: &Envoy, paths: impl IntoIterator<Item = usize>) {
    let mut connection = h1::Connection::open(envoy.addr());
    for path in paths {
        connection.send("GET", &format!("/{path}"), &[], b"").unwrap();
        assert_eq!(connection.read_response().unwrap().status, 200, "{path}");
    }
}

/// The paths in the lines of these requests.
fn paths(requests: &[Recorded]) -> Vec<String> {
    let lines = requests.iter().flat_map(|request| request::lines(&request.body));
    lines
        .map(|line| {
            let line: Value = serde_json::from_str(&line).unwrap();
            line["path"].as_str().unwrap().to_owned()
        })
        .collect()
}

fn every_path(of: std::ops::Range<usize>) -> Vec<String> {
    of.map(|path| format!("/{path}")).collect()
}

#[test]
fn a_collector_gets_every_record_once() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let changes = json!({"headers": {"authorization": "Bearer s3cret"}, "path": "/otel/v1/logs"});
    let config = gateway(&backend, Cluster::http1("collector", collector.addr()), changes);
    let envoy = Envoy::start(&config.workers(2));
    std::thread::scope(|scope| {
        for client in 0..8 {
            let envoy = &envoy;
            scope.spawn(move || send(envoy, client * 100..(client + 1) * 100));
        }
    });
    wait_for_counter(&envoy, "exported", 800);
    let requests = collector.requests();
    for request in &requests {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/otel/v1/logs"));
        assert_eq!(request.authority.as_deref(), Some("collector"));
        assert_eq!(request.headers.text("content-type").as_deref(), Some("application/json"));
        assert_eq!(request.headers.text("authorization").as_deref(), Some("Bearer s3cret"));
    }
    let got = paths(&requests);
    assert_eq!(got.len(), 800);
    assert_eq!(got.into_iter().collect::<BTreeSet<_>>(), every_path(0..800).into_iter().collect());
    assert_eq!(counter(&envoy, "queued"), 0);
    assert_eq!(counter(&envoy, "sent"), requests.len() as u64);
    assert!(!envoy.log_lines().iter().any(|line| line.contains("s3cret")));
}

#[test]
fn records_carry_the_trace_and_say_where_they_come_from() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let config = gateway(&backend, Cluster::http1("collector", collector.addr()), json!({}));
    let envoy =
        Envoy::start(&config.merge_bootstrap(json!({"node": {"id": "gateway-7", "cluster": "edge"}})));
    let traceparent: &[u8] = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    assert_eq!(h1::request(envoy.addr(), "GET", "/", &[("traceparent", traceparent)], b"").status, 200);
    let requests = collector.wait_for(1, PATIENCE);
    let (resource, records) = request::read(&requests[0].body);
    assert_eq!(resource["service.name"], "edge");
    assert_eq!(resource["service.instance.id"], "gateway-7");
    assert_eq!(records[0].trace_id.as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_eq!(records[0].span_id.as_deref(), Some("00f067aa0ba902b7"));
    assert_eq!(records[0].flags, Some(1));
    assert_eq!(records[0].severity_text, "INFO");
}

#[test]
fn requests_go_on_whatever_the_collector_does_and_nothing_is_lost_while_there_is_room() {
    let ok = || Behaviour::Reply(http_reply(200, &[("content-type", b"application/json")], b"{}"));
    let later = http_reply(503, &[("retry-after", b"1")], b"");
    for trouble in [
        Behaviour::Hang,
        Behaviour::Reset,
        Behaviour::CloseAtOnce,
        Behaviour::Garbage,
        Behaviour::HalfReply,
        Behaviour::Reply(later),
        Behaviour::Drip(Duration::from_secs(1), http_reply(200, &[], b"{}")),
    ] {
        let backend = Backend::start();
        let collector = HostileServer::start(trouble.clone());
        let envoy = Envoy::start(&gateway(
            &backend,
            Cluster::http1("collector", collector.addr()),
            json!({"timeout_ms": 300}),
        ));
        send(&envoy, 0..50);
        wait_for_counter(&envoy, "failed", 1);
        send(&envoy, 50..100);
        assert_eq!(counter(&envoy, "exported"), 0, "{trouble:?}");
        collector.behave(ok());
        wait_for_counter(&envoy, "exported", 100);
        assert_eq!(counter(&envoy, "exported"), 100, "{trouble:?}");
        assert_eq!(counter(&envoy, "dropped_queue_full") + counter(&envoy, "dropped_expired"), 0);
        assert!(counter(&envoy, "retried") > 0, "{trouble:?}");
    }
}

#[test]
fn requests_are_answered_while_one_to_the_collector_is_unanswered() {
    let backend = Backend::start();
    let collector = HostileServer::start(Behaviour::Hang);
    let collectors = Cluster::http1("collector", collector.addr());
    let envoy = Envoy::start(&gateway(&backend, collectors, json!({"timeout_ms": 60_000})));
    send(&envoy, 0..1);
    collector.wait_for(1, PATIENCE);
    send(&envoy, 1..500);
    assert_eq!((collector.count(), counter(&envoy, "failed")), (1, 0), "the one is still unanswered");
}

#[test]
fn a_collector_that_is_not_there_is_waited_for() {
    let backend = Backend::start();
    let nobody = ClosedPort::reserve();
    let addr = nobody.addr();
    let envoy = Envoy::start(&gateway(&backend, Cluster::http1("collector", addr), json!({})));
    send(&envoy, 0..50);
    wait_for_counter(&envoy, "failed", 2);
    drop(nobody);
    let collector = HostileServer::start_at(addr, Behaviour::Reply(http_reply(200, &[], b"")));
    wait_for_counter(&envoy, "exported", 50);
    assert!(collector.count() > 0);
}

#[test]
fn a_cluster_that_envoy_does_not_know_is_waited_for() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let config = |cluster| gateway(&backend, cluster, json!({})).delivery(Delivery::Files);
    let envoy = Envoy::start(&config(Cluster::http1("other", collector.addr())));
    send(&envoy, 0..50);
    wait_for_counter(&envoy, "failed", 2);
    assert_eq!(collector.count(), 0);
    envoy.push(&config(Cluster::http1("collector", collector.addr()))).unwrap();
    wait_until("every record", PATIENCE, || paths(&collector.requests()).len() >= 50);
    assert_eq!(paths(&collector.requests()), every_path(0..50));
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let backend = Backend::start();
    let collector = HostileServer::start(Behaviour::Hang);
    let changes = json!({"max_queue": 20, "max_batch": 10, "timeout_ms": 60_000});
    let envoy = Envoy::start(&gateway(&backend, Cluster::http1("collector", collector.addr()), changes));
    send(&envoy, 0..1);
    collector.wait_for(1, PATIENCE);
    send(&envoy, 1..100);
    wait_for_counter(&envoy, "dropped_queue_full", 79);
    wait_for_counter(&envoy, "queued", 21);
    assert_eq!((counter(&envoy, "dropped_queue_full"), counter(&envoy, "queued")), (79, 21));
}

#[test]
fn a_collector_that_refuses_costs_the_records_that_it_refused() {
    let (backend, collector) = (Backend::start(), Backend::replying(Reply::status(401)));
    let collectors = Cluster::http1("collector", collector.addr());
    let envoy = Envoy::start(&gateway(&backend, collectors, json!({})));
    send(&envoy, 0..50);
    wait_for_counter(&envoy, "dropped_refused", 50);
    collector.reply(Reply::status(200));
    send(&envoy, 50..60);
    wait_for_counter(&envoy, "exported", 10);
    assert_eq!((counter(&envoy, "dropped_refused"), counter(&envoy, "retried")), (50, 0));
}

/// A gateway whose listeners can be changed, with one worker and a short drain.
fn changeable(backend: &Backend, collector: std::net::SocketAddr, changes: Value) -> EnvoyConfig {
    gateway(backend, Cluster::http1("collector", collector), changes).delivery(Delivery::Files).workers(1)
}

/// An Envoy with 50 records that wait in the queue as long as the flush interval lets them.
fn with_waiting_records(config: &EnvoyConfig) -> Envoy {
    let envoy = Envoy::start(&config.clone().argument("--drain-time-s").argument("1"));
    send(&envoy, 0..50);
    envoy
}

#[test]
fn a_listener_that_changes_leaves_the_queue_of_an_unchanged_plugin_alone() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let config =
        changeable(&backend, collector.addr(), json!({"flush_interval_ms": 60_000, "max_batch": 60}));
    let envoy = with_waiting_records(&config);
    envoy.push(&config.merge_listener(json!({"traffic_direction": "INBOUND"}))).unwrap();
    send(&envoy, 50..60);
    wait_for_counter(&envoy, "exported", 60);
    assert_eq!(paths(&collector.requests()), every_path(0..60));
}

#[test]
fn a_plugin_that_is_replaced_delivers_what_is_queued() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let with_interval = |ms: u32| changeable(&backend, collector.addr(), json!({"flush_interval_ms": ms}));
    let envoy = with_waiting_records(&with_interval(60_000));
    envoy.push(&with_interval(50_000)).unwrap();
    wait_for_counter(&envoy, "exported", 50);
    assert_eq!(paths(&collector.requests()), every_path(0..50));
    wait_until("the queue is told to be empty", PATIENCE, || counter(&envoy, "queued") == 0);
}

#[test]
fn a_plugin_that_is_replaced_gives_up_on_a_collector_that_hangs() {
    let backend = Backend::start();
    let collector = HostileServer::start(Behaviour::Hang);
    let with_interval = |ms: u32| {
        let changes = json!({"flush_interval_ms": ms, "timeout_ms": 60_000, "shutdown_ms": 500});
        changeable(&backend, collector.addr(), changes)
    };
    let envoy = with_waiting_records(&with_interval(60_000));
    envoy.push(&with_interval(50_000)).unwrap();
    wait_for_counter(&envoy, "unanswered_at_shutdown", 50);
    assert_eq!(counter(&envoy, "dropped_at_shutdown"), 0);
    wait_until("the queue is told to be empty", PATIENCE, || counter(&envoy, "queued") == 0);
    send(&envoy, 0..10);
}

#[test]
fn a_plugin_that_is_replaced_sends_nothing_more_when_it_has_no_time_for_that() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let with_interval =
        |ms: u32| changeable(&backend, collector.addr(), json!({"flush_interval_ms": ms, "shutdown_ms": 0}));
    let envoy = with_waiting_records(&with_interval(60_000));
    envoy.push(&with_interval(50_000)).unwrap();
    wait_for_counter(&envoy, "dropped_at_shutdown", 50);
    wait_until("the queue is told to be empty", PATIENCE, || counter(&envoy, "queued") == 0);
    assert_eq!((counter(&envoy, "sent"), collector.requests().len()), (0, 0));
}

/// Envoy 1.40 deletes a VM together with its last plugin, whatever that answers to `proxy_on_done`; what is sent at that
/// moment is cut off. The ticks go on as long as the listener drains.
#[test]
fn a_plugin_that_is_removed_delivers_while_its_listener_drains() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let config = changeable(&backend, collector.addr(), json!({"flush_interval_ms": 200}));
    let envoy = with_waiting_records(&config);
    let without = EnvoyConfig::new().delivery(Delivery::Files).workers(1);
    let without = without.cluster(Cluster::http1("backend", backend.addr()));
    envoy.push(&without.cluster(Cluster::http1("collector", collector.addr()))).unwrap();
    wait_for_counter(&envoy, "exported", 50);
    assert_eq!(paths(&collector.requests()), every_path(0..50));
    wait_until("the VMs are gone", PATIENCE, || envoy.stat("wasm.wasm_vm_count") == Some(0));
    send(&envoy, 0..10);
}

#[test]
fn a_drain_before_the_end_delivers_what_is_queued() {
    let (backend, collector) = (Backend::start(), Backend::start());
    let collectors = Cluster::http1("collector", collector.addr());
    let envoy = Envoy::start(&gateway(&backend, collectors, json!({"flush_interval_ms": 1_000})));
    send(&envoy, 0..50);
    assert_eq!(envoy.admin().post("/drain_listeners?graceful").status, 200);
    wait_for_counter(&envoy, "exported", 50);
    envoy.shut_down();
    assert_eq!(paths(&collector.requests()), every_path(0..50));
}

#[test]
fn the_end_of_envoy_does_not_wait_for_a_collector_that_hangs() {
    let backend = Backend::start();
    let collector = HostileServer::start(Behaviour::Hang);
    let changes = json!({"timeout_ms": 60_000, "shutdown_ms": 60_000});
    let envoy = Envoy::start(&gateway(&backend, Cluster::http1("collector", collector.addr()), changes));
    send(&envoy, 0..50);
    collector.wait_for(1, PATIENCE);
    let log = envoy.shut_down();
    assert!(!log.iter().any(|line| line.contains("[critical]")), "{log:?}");
}
