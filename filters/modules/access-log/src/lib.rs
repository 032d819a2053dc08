//! The access-log policy as a module of its own.

use portcullis_access_log::AccessLog;
use portcullis_policy::{Chain, Policy};

portcullis_host::module! {
    name: "access-log",
    callbacks: [
        REQUEST_HEADERS, REQUEST_BODY, RESPONSE_HEADERS, RESPONSE_BODY, CALL_OUT, TICK, LOG, SHUTDOWN,
    ],
    needs: AccessLog::CALLBACKS,
    chain: |document| Chain::new().then_configured::<AccessLog>(document),
}
