//! Floods of requests that their clients keep open: what Envoy and the policies hold then, side by side, in as much memory
//! as the chart gives a container. They take most of two cores for minutes, so only `make floods` runs them.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portcullis_abuse::policies::{GOOD, client_id, everything};
use portcullis_abuse::{Flood, Gateway};
use portcullis_testkit::envoy::{FailurePolicy, WasmPlugin, h1, wait_until};
use serde_json::{Value, json};

use super::contained::{Contained, MANAGER, MIB, assert_no_vm_died, configure};

/// A flood takes its time to be read, on a busy machine.
const FLOOD_PATIENCE: Duration = Duration::from_secs(180);
const STREAMS: u32 = 100;

/// One flood at a time, and only where they are asked for.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    if std::env::var_os("PORTCULLIS_FLOODS").is_none() {
        eprintln!("SKIPPED: `make floods` runs it");
        return None;
    }
    Some(ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// So many connections, and the descriptors that their other ends in this process need.
fn may_open(connections: usize) -> bool {
    may_have_files(3 * connections + 4000)
}

fn may_have_files(files: usize) -> bool {
    let pid = std::process::id().to_string();
    let _ = Command::new("prlimit").args(["--pid", &pid, &format!("--nofile={files}:")]).output();
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let may = soft.is_some_and(|soft: usize| soft >= files);
    if !may {
        eprintln!("SKIPPED: {files} descriptors are needed, which this process may not open");
    }
    may
}

fn has_memory(bytes: u64) -> bool {
    let available = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = available.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 =
        available.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default();
    let has = kib >= bytes / 1024;
    if !has {
        eprintln!("SKIPPED: {} MiB of memory are needed", bytes / MIB);
    }
    has
}

/// What stands before a flood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defence {
    /// The shipped example.
    Example,
    /// The same with all policies and without the overload manager.
    Policies,
    /// The same without policies and without the overload manager.
    Bare,
}

impl Defence {
    fn change(self, bootstrap: &mut Value) {
        if self == Self::Example {
            return;
        }
        bootstrap.as_object_mut().unwrap().remove("overload_manager");
        if self == Self::Policies {
            configure(bootstrap, json!({"policies": everything()}));
        } else {
            let filters = bootstrap.pointer_mut(&format!("{MANAGER}/http_filters")).unwrap();
            filters.as_array_mut().unwrap().remove(0);
        }
    }
}

/// What has become of Envoy.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    survived: bool,
    /// Whether another client got 200 before the flood had ended.
    served: bool,
    peak: u64,
}

/// Floods Envoy in a container, and looks until it is dead or has got rid of the flood.
fn flooded(defence: Defence, connections: usize) -> Option<Outcome> {
    let gateway = Contained::start(|bootstrap| defence.change(bootstrap))?;
    assert_eq!(gateway.status("/"), Some(200));

    let mut flood = Flood::start(gateway.addr(), connections, STREAMS, &[]);

    let mut served = false;
    let begun = Instant::now();
    while gateway.envoy.is_running() && begun.elapsed() < FLOOD_PATIENCE {
        served |= gateway.status("/") == Some(200);
        if served && active(&gateway) == Some(0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let survived = gateway.envoy.is_running();
    let peak = gateway.container.peak();
    let left = flood.open_connections();
    drop(flood);
    if survived {
        wait_until("memory comes back", FLOOD_PATIENCE, || gateway.container.memory() < 320 * MIB);
        wait_until("others are served", FLOOD_PATIENCE, || gateway.status("/") == Some(200));
        gateway.assert_no_vm_died();
    } else {
        let lines = gateway.envoy.log_lines();
        let died = lines.iter().find(|line| line.contains("memory allocation"));
        assert_eq!(died, None, "{defence:?} {connections}");
    }
    let now = gateway.container.memory() / MIB;
    eprintln!("{defence:?} {connections}: {left} connections left open; {} MiB, then {now}", peak / MIB);
    Some(Outcome { survived, served, peak })
}

/// How many requests are under way, if Envoy is there to say.
fn active(gateway: &Contained) -> Option<u64> {
    stat(gateway, "http.ingress.downstream_rq_active")
}

/// The same for any number that Envoy counts.
fn stat(gateway: &Contained, name: &str) -> Option<u64> {
    let path = format!("/stats?filter=^{name}$");
    let response = h1::try_request(gateway.envoy.admin().addr(), "GET", &path, &[], b"").ok()?;
    response.text().trim().rsplit(' ').next()?.parse().ok()
}

/// The shipped example survives, and serves others. Without its overload manager Envoy survives with policies whatever it
/// survives without.
#[test]
fn refused_requests_that_are_kept_open_side_by_side() {
    let Some(_alone) = alone() else { return };
    let mut table = String::from(
        "| connections × 100 | Envoy | survives | serves others | at most |\n|---|---|---|---|---|\n",
    );
    for connections in [400, 4000] {
        if !may_open(connections) {
            return;
        }
        let Some(bare) = flooded(Defence::Bare, connections) else { return };
        let Some(policies) = flooded(Defence::Policies, connections) else { return };
        let Some(example) = flooded(Defence::Example, connections) else { return };
        for (defence, outcome) in
            [(Defence::Example, example), (Defence::Policies, policies), (Defence::Bare, bare)]
        {
            let Outcome { survived, served, peak } = outcome;
            let row =
                format!("| {connections} | {defence:?} | {survived} | {served} | {} MiB |\n", peak / MIB);
            table.push_str(&row);
        }
        assert!(example.survived && example.served, "{table}");
        assert!(policies.survived || !bare.survived, "{table}");
    }
    eprintln!("{table}");
}

/// Headers that never end take memory for each connection before anything can refuse them: the limit of connections bounds it.
#[test]
fn headers_that_never_end() {
    let Some(_alone) = alone() else { return };
    const CONNECTIONS: usize = 9900;
    if !may_have_files(CONNECTIONS + 4000) {
        return;
    }
    let Some(gateway) = Contained::start(|_| {}) else { return };
    assert_eq!(gateway.status("/"), Some(200));

    let mut held: Vec<_> = (0..CONNECTIONS)
        .filter_map(|_| {
            let stream = TcpStream::connect(gateway.addr()).ok()?;
            stream.set_nonblocking(true).ok()?;
            Some(stream)
        })
        .collect();
    for piece in [&b"GET / HTTP/1.1\r\nhost: gateway.test\r\nx: "[..], &[b'v'; 32_500]] {
        for stream in &mut held {
            // One too many is closed before all is sent.
            let _ = stream.write_all(piece);
        }
    }
    // Envoy gives up on headers after 10 s.
    wait_until("others are served", FLOOD_PATIENCE, || {
        assert!(gateway.envoy.is_running());
        gateway.status("/") == Some(200)
    });

    let peak = gateway.container.peak() / MIB;
    eprintln!("at most {peak} MiB");
    assert!(peak < 400, "{peak} MiB");
    drop(held);
    gateway.assert_no_vm_died();
}

/// Bodies that are never finished take the policies' memory up to its default bounds: the container has room for them.
#[test]
fn bodies_that_are_kept_open_at_the_default_bounds() {
    let Some(_alone) = alone() else { return };
    const CONNECTIONS: usize = 1000;
    if !may_open(CONNECTIONS) {
        return;
    }
    for body in [
        [&b"<a>"[..], &b"<a/>".repeat(60_000)].concat(),
        [&b"<a>"[..], &b"<a/>".repeat(5000)].concat(),
        [&b"<a>"[..], &[b'x'; 250_000]].concat(),
    ] {
        let document = json!({"policies": everything()});
        let Some(gateway) = Contained::start(|bootstrap| configure(bootstrap, document)) else { return };
        assert_eq!(gateway.status("/"), Some(200));
        for round in 0..2 {
            // With a header by which content-router decides, so that xslt-transform reads the body.
            let fields: [(&str, &[u8]); 4] =
                [GOOD[0], GOOD[1], ("content-type", b"application/xml"), ("x-to", b"a")];
            let mut bytes = h1::head("POST", "/", &fields, body.len() + 1);
            bytes.extend_from_slice(&body);
            let mut held: Vec<_> = (0..CONNECTIONS)
                .filter_map(|_| {
                    let stream = TcpStream::connect(gateway.addr()).ok()?;
                    stream.set_nonblocking(true).ok()?;
                    Some(stream)
                })
                .collect();
            // All grow side by side, which is the worst for an allocator.
            for piece in bytes.chunks(8192) {
                for stream in &mut held {
                    // One that is refused may be closed before all is sent.
                    let _ = stream.write_all(piece);
                }
                assert!(gateway.envoy.is_running(), "{round}");
            }
            let mut read = (Instant::now(), 0);
            wait_until("all is read", FLOOD_PATIENCE, || {
                assert!(gateway.envoy.is_running(), "{round}");
                let now = stat(&gateway, "http.ingress.downstream_cx_rx_bytes_total").unwrap_or(read.1);
                if now != read.1 {
                    read = (Instant::now(), now);
                }
                read.0.elapsed() > Duration::from_secs(1)
            });
            let busy = gateway.counter("xslt_transform.request.busy");
            eprintln!("{round}: {} MiB, {busy} busy", gateway.container.memory() / MIB);
            drop(held);
            wait_until("others are served", FLOOD_PATIENCE, || gateway.status("/") == Some(200));
            wait_until("nothing is under way", FLOOD_PATIENCE, || gateway.active() == 0);
        }
        gateway.assert_no_vm_died();
        eprintln!("at most {} MiB", gateway.container.peak() / MIB);
    }
}

/// Without an overload manager, and without a limit of memory, Envoy holds all of it; no module's VM dies of it.
#[test]
fn no_flood_ends_the_vm_of_any_module() {
    let Some(_alone) = alone() else { return };
    if !has_memory(4096 * MIB) {
        return;
    }
    let single = everything().into_iter().map(|policy| {
        let (name, document) = policy.as_object().and_then(|policy| policy.iter().next()).unwrap();
        (name.clone(), document.clone())
    });
    let gateways = [vec![client_id()], everything()]
        .map(|policies| ("gateway".to_owned(), json!({"policies": policies})));
    for (module, document) in single.chain(gateways) {
        let gateway = Gateway::launch(|config| {
            config.filter(
                WasmPlugin::module(&module)
                    .json_configuration(&document)
                    .failure_policy(FailurePolicy::FailClosed)
                    .allow_on_headers_stop_iteration(true),
            )
        });

        let mut flood = Flood::start(gateway.addr(), 400, STREAMS, &[]);

        wait_until("all have come", FLOOD_PATIENCE, || {
            gateway.envoy.counter("http.ingress.downstream_rq_total") >= 40_000
        });
        assert_eq!(flood.open_connections(), 400, "{module}");
        drop(flood);
        wait_until("all are gone", FLOOD_PATIENCE, || {
            gateway.envoy.counter("http.ingress.downstream_rq_active") == 0
        });
        assert_no_vm_died(&gateway.envoy);
        gateway.assert_sound();
        let refused = gateway.envoy.stat("wasmcustom.portcullis.engine.memory_refused").unwrap_or(0);
        eprintln!("{module}: {refused} refused for the memory of open exchanges");
    }
}
