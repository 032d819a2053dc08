//! Configuration documents, checked as the modules check them.

use portcullis_access_log::AccessLog;
use portcullis_client_id::ClientId;
use portcullis_policy::{Catalogue, Chain};

/// Refuses what the module of this name would refuse, in the same words.
pub fn check(module: &str, document: &[u8]) -> Result<(), String> {
    let chain = match module {
        "client-id" => Chain::new().then_configured::<ClientId>(document),
        "access-log" => Chain::new().then_configured::<AccessLog>(document),
        "gateway" => Catalogue::new().offer::<ClientId>().offer::<AccessLog>().chain(document),
        _ => return Err(format!("there is no module `{module}`: client-id, access-log, gateway")),
    };
    chain.map(|_| ()).map_err(|error| error.to_string())
}
