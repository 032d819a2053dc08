//! Envoy's admin interface.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;

use super::error::ClientError;
use super::h1;
use super::message::Response;

/// The admin interface of a running Envoy.
#[derive(Clone, Copy, Debug)]
pub struct Admin {
    addr: SocketAddr,
}

impl Admin {
    pub(super) fn new(addr: SocketAddr) -> Self {
        Self { addr }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// `GET path`.
    ///
    /// # Panics
    /// When no answer comes.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        h1::get(self.addr, path)
    }

    /// `POST path`, as everything that changes Envoy's state needs it.
    ///
    /// # Panics
    /// When no answer comes.
    #[track_caller]
    pub fn post(&self, path: &str) -> Response {
        h1::request(self.addr, "POST", path, &[], b"")
    }

    /// `/config_dump`: what Envoy runs, what it warms, and the last update that it refused.
    ///
    /// # Panics
    /// When no answer comes.
    #[track_caller]
    pub fn config_dump(&self) -> Value {
        self.json("/config_dump").expect("a configuration dump")
    }

    /// Every counter and gauge by name; histograms and texts are left out.
    ///
    /// # Panics
    /// When no answer comes.
    #[track_caller]
    pub fn stats(&self) -> BTreeMap<String, u64> {
        let stats = self.json("/stats?format=json&histogram_buckets=none").expect("the statistics");
        let stats = stats["stats"].as_array().cloned().unwrap_or_default();
        stats
            .iter()
            .filter_map(|stat| Some((stat["name"].as_str()?.to_owned(), stat["value"].as_u64()?)))
            .collect()
    }

    /// Whether Envoy says that it is live.
    pub(super) fn is_live(&self) -> bool {
        h1::try_request(self.addr, "GET", "/ready", &[], b"")
            .is_ok_and(|response| response.status == 200 && response.text().trim() == "LIVE")
    }

    /// The address that the listener has taken, once there is one.
    pub(super) fn listener(&self) -> Option<SocketAddr> {
        let listeners = self.json("/listeners?format=json").ok()?;
        let socket = &listeners["listener_statuses"][0]["local_address"]["socket_address"];
        let port = u16::try_from(socket["port_value"].as_u64()?).ok()?;
        Some(SocketAddr::new(socket["address"].as_str()?.parse().ok()?, port))
    }

    /// Why the last listener or cluster update was refused, as the configuration dump tells it.
    pub(super) fn refusal(&self) -> Option<String> {
        find_refusal(&self.json("/config_dump").ok()?)
    }

    fn json(&self, path: &str) -> Result<Value, ClientError> {
        let response = h1::try_request(self.addr, "GET", path, &[], b"")?;
        serde_json::from_slice(&response.body).map_err(|error| ClientError::Malformed(error.to_string()))
    }
}

/// Finds `error_state.details` wherever a dump has it.
fn find_refusal(dump: &Value) -> Option<String> {
    match dump {
        Value::Object(fields) => match fields.get("error_state") {
            Some(state) => state["details"].as_str().map(str::to_owned),
            None => fields.values().find_map(find_refusal),
        },
        Value::Array(items) => items.iter().find_map(find_refusal),
        _ => None,
    }
}
