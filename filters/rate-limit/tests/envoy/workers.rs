//! Several workers, one count.

use portcullis_testkit::envoy::{Envoy, concurrently, h1};
use serde_json::json;

use crate::support::*;

/// Clients with connections of their own, so that every worker has some.
#[test]
fn admits_exactly_the_maximum_over_all_workers() {
    const MAX: usize = 100;
    let policy = json!({"limits": [{"max": MAX, "period_ms": 3_600_000}]});
    let gateway = Gateway::start_with(|config| config.workers(2).filter(plugin(&policy)));
    let statuses = concurrently(8, |_| {
        let mut connection = h1::Connection::open(gateway.addr());
        let mut ask = || {
            connection.send("GET", "/", &[], b"").unwrap();
            connection.read_response().unwrap().status
        };
        (0..50).map(|_| ask()).collect::<Vec<_>>()
    })
    .concat();
    assert!(by_worker(&gateway.envoy).iter().all(|connections| *connections > 0));
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), MAX);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 400 - MAX);
    assert_eq!(gateway.backend.count(), MAX);
    assert_eq!((gateway.count("admitted"), gateway.count("rejected")), (MAX as u64, 400 - MAX as u64));
}

fn by_worker(envoy: &Envoy) -> Vec<u64> {
    envoy.connections_by_worker()
}
