//! What the records come from: the configured attributes, and what Envoy calls itself.

use std::collections::BTreeMap;

use portcullis_policy::host::Host;

use super::encode;

/// How long the name of Envoy's node may be.
const MAX_NODE_NAME: usize = 1024;

/// What each batch begins with.
pub(crate) fn head(configured: &BTreeMap<String, String>, host: &dyn Host) -> Vec<u8> {
    let node = |field| {
        let name = String::from_utf8(host.property(&["xds", "node", field]).ok()?).ok()?;
        (!name.is_empty() && name.len() <= MAX_NODE_NAME).then_some(name)
    };
    let mut resource = configured.clone();
    let service = || node("cluster").unwrap_or_else(|| "envoy".to_owned());
    resource.entry("service.name".to_owned()).or_insert_with(service);
    if !resource.contains_key("service.instance.id")
        && let Some(id) = node("id")
    {
        resource.insert("service.instance.id".to_owned(), id);
    }
    encode::head(resource.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}
