//! The service, and the Redis behind it, going down and coming up.

use portcullis_testkit::envoy::{PATIENCE, RateLimitService, wait_until};
use serde_json::{Value, json};

use crate::support::{Gateway, Http, SERVICE, policy};

/// How long is waited for a service that waits for its Redis. Too short for a machine under load, so nothing that must
/// hold with the service there depends on it.
const IMPATIENT_MS: u32 = 500;

fn on_outage(what: &str) -> Value {
    policy(json!({"on_outage": what}))
}

fn on_outage_impatient(what: &str) -> Value {
    policy(json!({"on_outage": what, "timeout_ms": IMPATIENT_MS}))
}

/// A gateway for each way to treat an outage.
struct Gateways {
    local: Gateway,
    open: Gateway,
    closed: Gateway,
}

impl Gateways {
    fn start(policy: fn(&str) -> Value, service: &RateLimitService) -> Self {
        let start = |what| Gateway::start(&policy(what), service.addr());
        Self { local: start("local"), open: start("open"), closed: start("closed") }
    }

    #[track_caller]
    fn assert_out(&self, outage: &str) {
        for http in Http::BOTH {
            let tenant = format!("{outage} {http:?}");
            // The policy allows two by itself.
            assert_eq!(self.local.statuses(http, &tenant, 4), [200, 200, 429, 429], "{tenant}");
            assert_eq!(self.open.statuses(http, &tenant, 4), [200; 4], "{tenant}");

            let backend_before = self.closed.backend.count();
            let refused = self.closed.get(http, &tenant);
            assert_eq!((refused.status, refused.headers.text("retry-after").as_deref()), (503, Some("1")));
            assert_eq!(self.closed.backend.count(), backend_before, "{tenant}");
        }
    }

    /// Waits until the service decides for each of the gateways, by its own limit. Answers may still come too late, and
    /// then the request has been counted all the same.
    #[track_caller]
    fn assert_back(&self, outage: &str) {
        for (name, gateway) in [("local", &self.local), ("open", &self.open), ("closed", &self.closed)] {
            wait_until(&format!("{name}: the service refuses after {outage}"), PATIENCE, || {
                let response = gateway.get(Http::Two, &format!("small {name} after {outage}"));
                // The gateway's own limit is another.
                response.status == 429
                    && response.headers.text("x-ratelimit-limit").as_deref() == Some("3, 3;w=31536000")
            });
        }
    }
}

#[test]
fn a_redis_that_is_gone_is_an_outage_until_it_is_back() {
    let Some(mut service) = RateLimitService::start(SERVICE) else { return };
    let gateways = Gateways::start(on_outage_impatient, &service);
    gateways.assert_back("nothing");

    service.redis().kill();
    gateways.assert_out("redis gone");

    service.redis().start_again();
    gateways.assert_back("redis gone");
}

#[test]
fn a_service_that_is_gone_is_an_outage_until_it_is_back() {
    let Some(mut service) = RateLimitService::start(SERVICE) else { return };
    let gateways = Gateways::start(on_outage, &service);

    service.kill();
    gateways.assert_out("service gone");
    for gateway in [&gateways.local, &gateways.open, &gateways.closed] {
        assert!(gateway.count("service_unavailable") >= 2);
        assert_eq!(gateway.count("service_ok"), 0);
    }

    service.start_again();
    gateways.assert_back("service gone");
}

/// What the gateway has counted by itself meanwhile does not count with the service, and the other way round.
#[test]
fn local_limits_hold_during_the_outage_only() {
    let Some(mut service) = RateLimitService::start(SERVICE) else { return };
    let gateway = Gateway::start(&on_outage("local"), service.addr());
    assert_eq!(gateway.statuses(Http::One, "small", 4), [200, 200, 200, 429]);

    service.kill();
    assert_eq!(gateway.statuses(Http::One, "small", 3), [200, 200, 429]);

    service.start_again();
    wait_until("the service refuses again", PATIENCE, || {
        let before = gateway.count("service_over_limit");
        let status = gateway.get(Http::One, "small").status;
        assert_eq!(status, 429);
        gateway.count("service_over_limit") > before
    });
}
