//! The client-id policy as a proxy-wasm module.

use portcullis_client_id::ClientId;
use portcullis_policy::{Chain, Policy};

portcullis_host::module! {
    name: "client-id",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, CALL_OUT, TICK],
    needs: ClientId::CALLBACKS,
    chain: |document| Chain::new().then_configured::<ClientId>(document),
}
