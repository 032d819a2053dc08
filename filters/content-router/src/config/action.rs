//! What becomes of a request.

use serde::{Deserialize, Serialize};

/// What becomes of a request.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// It gets this route: 1 to 256 printable ASCII characters, without spaces and commas.
    Route(String),
    /// It is refused.
    Reply(Refusal),
    /// It passes without a route.
    Pass,
}

impl Default for Action {
    fn default() -> Self {
        let detail = Some("There is no route for this request.".to_owned());
        Self::Reply(Refusal { status: 404, title: None, detail })
    }
}

/// What a refused client is told: a SOAP fault if it speaks SOAP, a problem document (RFC 9457) otherwise.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The status. Faults blame the sender (`Client`) up to 499, and the receiver (`Server`) from 500 on.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
    /// The problem's title. By default the status's own.
    pub title: Option<String>,
    /// What is wrong: the problem's detail, and the fault's reason. Without it the reason is the title.
    pub detail: Option<String>,
}
