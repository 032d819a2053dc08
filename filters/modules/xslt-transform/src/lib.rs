//! The xslt-transform policy as a proxy-wasm module.

use portcullis_policy::{Chain, Policy};
use portcullis_xslt_transform::XsltTransform;

portcullis_host::module! {
    name: "xslt-transform",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, RESPONSE_HEADERS, RESPONSE_BODY, TICK],
    needs: XsltTransform::CALLBACKS,
    chain: |document| Chain::new().then_configured::<XsltTransform>(document),
}
