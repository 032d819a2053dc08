//! The content-router policy as a proxy-wasm module.

use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, Policy};

portcullis_host::module! {
    name: "content-router",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, TICK],
    needs: ContentRouter::CALLBACKS,
    chain: |document| Chain::new().then_configured::<ContentRouter>(document),
}
