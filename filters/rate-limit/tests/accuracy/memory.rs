//! Memory, whatever number of keys clients think of.

use std::fs;
use std::net::SocketAddr;
use std::ops::Range;

use portcullis_testkit::envoy::h1::Connection;
use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, WasmPlugin, concurrently,
};
use serde_json::json;

const CONNECTIONS: u32 = 8;
/// Keys that fill the table many times over; then come twice as many for which there is no room.
const KEYS: u32 = 48_000;

#[test]
fn memory_does_not_grow_with_the_number_of_keys() {
    let backend = Backend::start();
    let policy = json!({
        "key": [{"header": {"name": "x-key"}}],
        "limits": [{"max": 1, "period_ms": 3_600_000}],
        "store": {"slots": 4096},
    });
    let envoy = Envoy::start(
        &EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())).filter(
            WasmPlugin::module("rate-limit")
                .json_configuration(&policy)
                .failure_policy(FailurePolicy::FailClosed),
        ),
    );

    send_keys(envoy.addr(), 0..KEYS);
    let full = resident_kib(envoy.pid());
    send_keys(envoy.addr(), KEYS..3 * KEYS);
    let grown = resident_kib(envoy.pid()).saturating_sub(full);

    // In the shared map, an entry for each of these keys would be 15 MiB and more.
    assert!(grown < 6 * 1024, "{grown} KiB more after {} more keys", 2 * KEYS);
    let refused = envoy.counter("wasmcustom.portcullis.rate_limit.rejected");
    assert!(refused > u64::from(2 * KEYS), "keys without a place of their own share quota: {refused}");
}

fn send_keys(addr: SocketAddr, keys: Range<u32>) {
    concurrently(CONNECTIONS as usize, |index| {
        let mut connection = Connection::open(addr);
        for key in keys.clone().skip(index).step_by(CONNECTIONS as usize) {
            connection.send("GET", "/", &[("x-key", key.to_string().as_bytes())], b"").expect("a connection");
            let status = connection.read_response().expect("a response").status;
            assert!(status == 200 || status == 429, "{status}");
        }
    });
}

fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number of KiB")
}
