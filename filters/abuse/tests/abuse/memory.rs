//! What clients can make a worker hold is bounded: docs/security.md has the table. Floods here drive it to its bound, in as
//! much memory as the chart gives a container.

use std::fs;
use std::process::Command;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use portcullis_abuse::policies::{GOOD, access_log, client_id, client_id_with};
use portcullis_abuse::{Flood, Gateway};
use portcullis_testkit::envoy::{
    Backend, Behaviour, Cluster, Container, Envoy, EnvoyConfig, FailurePolicy, HostileServer, PATIENCE,
    Reply, WasmPlugin, h1, http_reply, module_path, wait_until, workspace_root,
};
use serde_json::json;

const MIB: u64 = 1 << 20;
/// The chart's default, and what the examples are fitted to.
const CONTAINER: u64 = 512 * MIB;
const REFUSED: &str = "wasmcustom.portcullis.engine.memory_refused";
/// A flood takes its time to be read, on a busy machine.
const FLOOD_PATIENCE: Duration = Duration::from_secs(180);

/// One flood at a time, and only where they are asked for (`make floods`): they take a minute and most of two cores.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    if std::env::var_os("PORTCULLIS_FLOODS").is_none() {
        eprintln!("SKIPPED: `make floods` runs it");
        return None;
    }
    Some(ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// The shipped example with all policies, on free ports, in front of these peers.
fn example(upstream: &Backend, auth: &Backend) -> String {
    let text = fs::read_to_string(workspace_root().join("envoy-config/gateway/envoy.yaml")).unwrap();
    [
        ("port_value: 9901", "port_value: 0".to_owned()),
        ("port_value: 10000", "port_value: 0".to_owned()),
        ("port_value: 8081", format!("port_value: {}", upstream.addr().port())),
        ("port_value: 8082", format!("port_value: {}", auth.addr().port())),
        ("dist/gateway.wasm", module_path("gateway").to_str().unwrap().to_owned()),
    ]
    .into_iter()
    .fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, &to, 1)
    })
}

/// So many descriptors for this process, for the flood's side of its connections.
fn may_open(files: usize) -> bool {
    let pid = std::process::id().to_string();
    let _ = Command::new("prlimit").args(["--pid", &pid, &format!("--nofile={files}:")]).output();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    soft.is_some_and(|soft: usize| soft >= files)
}

fn assert_no_vm_died(envoy: &Envoy) {
    let lines = envoy.log_lines();
    let died = lines.iter().find(|line| {
        ["memory allocation", "Function: proxy_on", "[critical]"].iter().any(|sign| line.contains(sign))
    });
    assert_eq!(died, None);
    for (name, value) in envoy.stats() {
        assert!(!(name.contains("vm_reload") && value > 0), "{name}: {value}");
    }
}

fn status_of_good_request(envoy: &Envoy) -> Option<u16> {
    h1::try_request(envoy.addr(), "GET", "/", &GOOD, b"").ok().map(|response| response.status)
}

/// The example in a container: refused requests that their clients keep open end nothing, and others are served while the
/// flood still holds what it could get.
fn flood_of_the_example(connections: usize) {
    let Some(_alone) = alone() else { return };
    if !may_open(connections + 1000) {
        eprintln!("SKIPPED: {connections} connections need more descriptors than this process may open");
        return;
    }
    let container = match Container::with_memory(CONTAINER) {
        Ok(container) => container,
        Err(error) => {
            eprintln!("SKIPPED: no container can be made: {error}");
            return;
        }
    };
    let (upstream, auth) = (Backend::start(), Backend::start());
    let envoy = Envoy::start(&EnvoyConfig::of_text(&example(&upstream, &auth)).within(&container));
    assert_eq!(status_of_good_request(&envoy), Some(200));

    let mut flood = Flood::start(envoy.addr(), connections, 100, &[]);

    wait_until("others are served", FLOOD_PATIENCE, || status_of_good_request(&envoy) == Some(200));
    wait_until("the flood's requests are gone", FLOOD_PATIENCE, || {
        envoy.counter("http.ingress.downstream_rq_active") == 0
    });
    assert!(envoy.is_running());
    assert_no_vm_died(&envoy);
    let left = flood.open_connections();
    drop(flood);
    wait_until("memory comes back", FLOOD_PATIENCE, || container.memory() < 320 * MIB);
    assert_eq!(status_of_good_request(&envoy), Some(200));
    eprintln!(
        "{connections} connections: peak {} MiB, then {} MiB; {left} connections were left open",
        container.peak() / MIB,
        container.memory() / MIB,
    );
    drop(envoy);
}

#[test]
fn a_container_survives_400_connections_of_refused_requests() {
    flood_of_the_example(400);
}

#[test]
fn a_container_survives_4000_connections_of_refused_requests() {
    flood_of_the_example(4000);
}

/// Without an overload manager Envoy holds all of it, and so do the policies; but no VM dies.
#[test]
fn refused_requests_end_no_vm_without_an_overload_manager() {
    let Some(_alone) = alone() else { return };
    let available = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = available.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 =
        available.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
    if kib < 4 << 20 {
        eprintln!("SKIPPED: Envoy takes 2 GiB in this test");
        return;
    }
    let gateway = Gateway::start(&[client_id(), access_log()]);

    let mut flood = Flood::start(gateway.addr(), 400, 100, &[]);

    wait_until("all are refused", FLOOD_PATIENCE, || {
        gateway.envoy.counter("http.ingress.downstream_rq_4xx") == 40_000
    });
    assert_eq!(flood.open_connections(), 400);
    assert_eq!(status_of_good_request(&gateway.envoy), Some(200), "others are served meanwhile");
    drop(flood);
    wait_until("all are gone", FLOOD_PATIENCE, || {
        gateway.envoy.counter("http.ingress.downstream_rq_active") == 0
    });
    assert_no_vm_died(&gateway.envoy);
    gateway.assert_sound();
}

/// Requests that wait are counted with their headers; beyond the bound further ones get 503, and are logged.
#[test]
fn open_exchanges_beyond_the_bound_are_refused_and_others_served_afterwards() {
    let slow = HostileServer::start(Behaviour::Gate(http_reply(200, &[], b"")));
    let policy = client_id_with(json!({
        "auth": {"per-request": {"cluster": "slow", "timeout_ms": 60_000, "retries": 0}}, "max_waiting": 10_000,
    }));
    let document = json!({"max_exchange_bytes": 1 << 20, "policies": [policy, access_log()]});
    let gateway = Gateway::launch(|config| {
        config.cluster(Cluster::http1("slow", slow.addr())).filter(
            WasmPlugin::module("gateway")
                .json_configuration(&document)
                .failure_policy(FailurePolicy::FailClosed)
                .allow_on_headers_stop_iteration(true),
        )
    });

    let flood = Flood::start(gateway.addr(), 2, 100, &GOOD);

    // 28 KB each, and 8 bytes for each field: 34 of them fill a MiB, with what else is kept of each.
    let refused = || gateway.envoy.stat(REFUSED).unwrap_or(0);
    wait_until("most are refused", PATIENCE, || refused() >= 150);
    assert!(refused() < 180, "{}", refused());
    let response = h1::request(gateway.addr(), "GET", "/", &GOOD, b"");
    assert_eq!(response.status, 503);
    assert!(response.text().contains("holds too many requests"), "{}", response.text());
    wait_until("the refusal is logged", PATIENCE, || {
        gateway.lines().iter().any(|line| line["details"] == "portcullis_memory_full")
    });
    drop(flood);
    slow.open_gate();
    wait_until("others are served", PATIENCE, || status_of_good_request(&gateway.envoy) == Some(200));
    assert_no_vm_died(&gateway.envoy);
}

/// The answers of an auth service are held whole by Envoy, whatever client-id reads of them: the example bounds that.
#[test]
fn long_answers_of_the_auth_service_are_cut_off() {
    let (upstream, auth) = (Backend::start(), Backend::start());
    auth.reply_with(|_| Reply::status(200).body(vec![b'x'; 31 << 20]));
    let envoy = Envoy::start(&EnvoyConfig::of_text(&example(&upstream, &auth)));
    for at in 0..8 {
        let client = format!("client-{at}");
        let response = h1::request(
            envoy.addr(),
            "GET",
            "/",
            &[("client_id", client.as_bytes()), ("client_secret", b"s")],
            b"",
        );
        assert_eq!(response.status, 503, "{response:?}");
    }
    let lines = envoy.log_lines();
    assert!(
        lines.iter().any(|line| line.contains("buffer size limit for async client response")),
        "{lines:?}"
    );
}
