//! The rate-limit policy as a proxy-wasm module.

use portcullis_policy::{Chain, Policy};
use portcullis_rate_limit::RateLimit;

portcullis_host::module! {
    name: "rate-limit",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, RESPONSE_HEADERS, CALL_OUT, TICK],
    needs: RateLimit::CALLBACKS,
    chain: |document| Chain::new().then_configured::<RateLimit>(document),
}
