//! Configuration documents, checked as the modules check them.

use portcullis_client_id::registry::ClientList;

/// Refuses what the reader of this document would refuse, in the same words: a module's, by its name, or
/// client-id's for a list of clients.
pub fn check(document: &str, text: &[u8]) -> Result<(), String> {
    let catalogue = portcullis_gateway::catalogue();
    let checked = match document {
        "gateway" => catalogue.chain(text).map(|_| ()),
        "client-registry" => ClientList::parse(text).map(|_| ()),
        policy => catalogue
            .alone(policy, text)
            .ok_or_else(|| format!("there is no document `{policy}`: gateway, client-registry, or a policy"))?
            .map(|_| ()),
    };
    checked.map_err(|error| error.to_string())
}
