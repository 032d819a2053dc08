//! Load, and what came of each request.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_testkit::envoy::h1::Connection;

/// How requests follow each other.
pub(crate) enum Load {
    /// Each connection sends its next request when it has the response to the one before.
    Closed { connections: usize },
    /// Requests come at this interval, whatever has become of those before, as long as a connection is free.
    Open { connections: usize, every: Duration },
}

/// A request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shot {
    pub(crate) sent: Instant,
    pub(crate) received: Instant,
    pub(crate) status: u16,
    /// `X-RateLimit-Remaining`.
    pub(crate) remaining: u64,
}

impl Shot {
    pub(crate) fn admitted(&self) -> bool {
        self.status == 200
    }
}

/// When a load that has not reached its end is given up.
const GIVE_UP: Duration = Duration::from_secs(120);

/// Sends the load until `enough` says so.
pub(crate) fn fire(addr: SocketAddr, load: &Load, enough: impl Fn(&[Shot]) -> bool) -> Vec<Shot> {
    let (connections, every) = match *load {
        Load::Closed { connections } => (connections, Duration::ZERO),
        Load::Open { connections, every } => (connections, every),
    };
    let start = Instant::now();
    let (stop, next, shots) = (AtomicBool::new(false), AtomicU32::new(0), Mutex::new(Vec::new()));
    let (stop, next, all) = (&stop, &next, &shots);
    thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(move || {
                let mut connection = Connection::open(addr);
                while !stop.load(Ordering::Relaxed) {
                    let due = start + every * next.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    let shot = shoot(&mut connection);
                    all.lock().expect("shots").push(shot);
                }
            });
        }
        while start.elapsed() < GIVE_UP && !enough(&all.lock().expect("shots")) {
            thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let shots = shots.into_inner().expect("shots");
    assert!(enough(&shots), "not enough came of the load in {GIVE_UP:?}: {} requests", shots.len());
    shots
}

fn shoot(connection: &mut Connection) -> Shot {
    let sent = Instant::now();
    connection.send("GET", "/", &[], b"").expect("a connection");
    let response = connection.read_response().expect("a response");
    let received = Instant::now();
    let remaining = response.headers.text("x-ratelimit-remaining").expect("remaining quota");
    Shot { sent, received, status: response.status, remaining: remaining.parse().expect("a number") }
}
