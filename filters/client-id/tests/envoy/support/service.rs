//! The auth service, and how the policy is told of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_testkit::envoy::{Backend, Reply, http_reply};
use serde_json::{Value, json};

/// A configuration that asks the cluster `auth`, with these members added or put in place of others. Nothing under
/// `/barrier` is concerned.
pub(crate) fn per_request(members: Value) -> Value {
    let mut config = json!({
        "auth": {"per-request": {
            "cluster": "auth",
            // The longest that is allowed: an answer that a test holds back is not late.
            "timeout_ms": 60_000,
            "retries": 0,
            "identity": {"name": "x-client-name", "tier": "x-client-tier"},
        }},
        "scope": {"exempt": [{"path_prefix": "/barrier"}]},
    });
    if let (Some(config), Value::Object(members)) = (config.as_object_mut(), members) {
        config.extend(members);
    }
    config
}

/// The value of an Authorization header.
pub(crate) fn basic(id: &str, secret: &str) -> Vec<u8> {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}"))).into_bytes()
}

/// The bytes of an answer that admits.
pub(crate) fn admission() -> Vec<u8> {
    http_reply(200, &[("x-client-name", b"Acme"), ("x-client-tier", b"gold")], b"")
}

/// A service that knows `acme` and, locked out, `out`, both with the secret `s3cret`.
pub(crate) fn auth_service() -> Backend {
    let service = Backend::start();
    let (acme, out) = (basic("acme", "s3cret"), basic("out", "s3cret"));
    service.reply_with(move |request| match request.headers.get("authorization") {
        Some(value) if value == acme => {
            Reply::status(200).header("x-client-name", "Acme").header("x-client-tier", "gold")
        }
        Some(value) if value == out => Reply::status(403),
        _ => Reply::status(401),
    });
    service
}
