//! All policies as one chain in one proxy-wasm module.

use portcullis_access_log::AccessLog;
use portcullis_client_id::ClientId;
use portcullis_policy::{Catalogue, Policy};

portcullis_host::module! {
    name: "gateway",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, CALL_OUT, TICK, LOG],
    needs: ClientId::CALLBACKS.and(AccessLog::CALLBACKS),
    chain: |document| Catalogue::new().offer::<ClientId>().offer::<AccessLog>().chain(document),
}
