//! Clients that make a service that is up look as if it were out.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, Fields, PATIENCE, Recorded, Reply, h1, wait_until,
};
use serde_json::{Value, json};

use crate::support::{Gateway, per_request, plugin};

const GOOD: (&str, &str) = ("acme", "s3cret");

fn lenient() -> Value {
    let cache =
        json!({"admit_ttl_ms": 1, "deny_ttl_ms": 0, "jitter_percent": 0, "stale_if_error_ms": 600_000});
    json!({"on_outage": "open", "cache": cache})
}

fn gateway(auth: Cluster) -> Gateway {
    let backend = Backend::start();
    let config = EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .cluster(auth)
        .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "backend", "timeout": "0s"}}))
        .filter(plugin(&per_request(lenient())));
    Gateway { envoy: Envoy::start(&config), backend }
}

#[track_caller]
fn call(gateway: &Gateway, id: &str, secret: &str) -> u16 {
    let fields: Fields = &[("client_id", id.as_bytes()), ("client_secret", secret.as_bytes())];
    h1::request(gateway.addr(), "GET", "/", fields, b"").status
}

/// The credentials that the service is asked about.
fn asked(request: &Recorded) -> (String, String) {
    let authorization = request.headers.text("authorization").expect("credentials");
    let pair = STANDARD.decode(authorization.strip_prefix("Basic ").expect("Basic")).expect("base64");
    let pair = String::from_utf8(pair).expect("text");
    let (id, secret) = pair.split_once(':').expect("a colon");
    (id.to_owned(), secret.to_owned())
}

/// A client passes once and is revoked then. Its requests and guesses of others pass no more, and no answer of the past
/// serves, whatever `answer` makes of the questions that come after.
#[track_caller]
fn assert_opens_nothing(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) {
    let revoked = Arc::new(AtomicBool::new(false));
    let auth = Backend::start();
    let is_revoked = Arc::clone(&revoked);
    auth.reply_with(move |request| {
        let (id, secret) = asked(request);
        let is_good = (id.as_str(), secret.as_str()) == GOOD;
        if is_good && !is_revoked.load(Ordering::SeqCst) { Reply::status(200) } else { answer(&id, &secret) }
    });
    let gateway = gateway(Cluster::http1("auth", auth.addr()));
    assert_eq!(call(&gateway, GOOD.0, GOOD.1), 200);
    revoked.store(true, Ordering::SeqCst);
    gateway.backend.clear();
    for at in 0..12 {
        for id in ["a-gateway-s-own", GOOD.0] {
            let status = call(&gateway, id, &format!("guess {at}"));
            assert!(status == 401 || status == 503, "{id} {at}: {status}");
        }
        assert_ne!(call(&gateway, GOOD.0, GOOD.1), 200, "{at}");
    }
    assert_eq!(
        (gateway.backend.count(), gateway.count("outage_open"), gateway.count("cache_stale")),
        (0, 0, 0)
    );
}

/// After three wrong secrets, each identifier is answered by itself.
#[test]
fn a_service_that_locks_identifiers_out_opens_nothing() {
    let wrong = Mutex::new(BTreeMap::<String, usize>::new());
    assert_opens_nothing(move |id, _| {
        let mut wrong = wrong.lock().unwrap();
        let times = wrong.entry(id.to_owned()).or_default();
        *times = times.saturating_add(1);
        Reply::status(if *times > 3 { 429 } else { 401 })
    });
}

#[test]
fn a_service_that_limits_the_rate_of_all_opens_nothing() {
    for limited in [Reply::status(429), Reply::status(503).header("retry-after", "5")] {
        let questions = AtomicUsize::new(0);
        assert_opens_nothing(move |_, _| {
            if questions.fetch_add(1, Ordering::SeqCst) < 5 { Reply::status(401) } else { limited.clone() }
        });
    }
}

#[test]
fn a_service_that_accepts_no_such_identifier_opens_nothing() {
    assert_opens_nothing(|id, _| Reply::status(if id == GOOD.0 { 500 } else { 400 }));
}

/// Whatever else is on the connection breaks off as well.
#[test]
fn credentials_on_which_the_service_drops_its_connection_open_nothing() {
    let clusters: [fn(&Backend) -> Cluster; 2] =
        [|auth| Cluster::http1("auth", auth.addr()), |auth| Cluster::http2("auth", auth.addr())];
    for cluster in clusters {
        let auth = Backend::start();
        auth.reply_with(|request| {
            let (id, secret) = asked(request);
            match id.as_str() {
                "poison" => Reply::cut().delay(Duration::from_millis(5)),
                _ if (id.as_str(), secret.as_str()) == GOOD => Reply::status(200),
                _ => Reply::status(401).delay(Duration::from_millis(20)),
            }
        });
        let gateway = gateway(cluster(&auth));
        std::thread::scope(|scope| {
            for thread in 0..20 {
                let gateway = &gateway;
                scope.spawn(move || {
                    for at in 0..10 {
                        assert_eq!(call(gateway, "poison", &format!("{thread} {at}")), 503);
                    }
                });
            }
        });
        assert_eq!((gateway.backend.count(), gateway.count("outage_open")), (0, 0));
        assert!(gateway.count("auth_up") > 0, "the service has been asked");
        assert_eq!(call(&gateway, GOOD.0, GOOD.1), 200, "the service is asked again");
        assert_eq!(
            gateway.backend.requests()[0].headers.text("x-portcullis-client-id").as_deref(),
            Some("acme")
        );
    }
}

/// What stands between: a real outage opens over HTTP/2 too, for those that are held back as well.
#[test]
fn a_service_that_drops_every_connection_is_out() {
    let auth = Backend::replying(Reply::cut());
    let gateway = gateway(Cluster::http2("auth", auth.addr()));
    std::thread::scope(|scope| {
        for thread in 0..20 {
            let gateway = &gateway;
            scope.spawn(move || assert_eq!(call(gateway, &format!("client {thread}"), "s"), 200));
        }
    });
    assert_eq!((gateway.backend.count(), gateway.count("outage_open")), (20, 20));
    auth.reply(Reply::status(401));
    wait_until("the service is asked again", PATIENCE, || call(&gateway, "guess", "s") == 401);
}
