//! What is done to the messages of one direction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Condition;

/// What is done to the messages of one direction.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transformation {
    /// The stylesheet.
    pub stylesheet: StylesheetReference,
    /// Which messages are transformed; the others pass as they are. Without it, all that have a body.
    pub when: Option<Condition>,
    /// What the stylesheet gets to see as its document.
    #[serde(default)]
    pub source: SourceElement,
    /// Where the result goes, if the source is not the document.
    #[serde(default)]
    pub result: Placement,
    /// Values of the stylesheet's global parameters, by name: `partner`, or `{urn:example}partner` for one with a
    /// namespace. The stylesheet must declare them.
    #[serde(default)]
    pub parameters: BTreeMap<String, ParameterValue>,
    /// The Content-Type of the new message. By default it is what `xsl:output` says in `media-type`; else `text/plain` if
    /// its method is `text`; else it stays as it is, with `charset=utf-8` in the place of another charset. Results are in
    /// UTF-8.
    pub content_type: Option<String>,
    /// What becomes of messages that cannot be transformed.
    #[serde(default)]
    pub on_error: OnError,
}

/// A stylesheet.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StylesheetReference {
    /// The one of this name in `stylesheets`.
    Named(String),
    /// This one. What it includes is looked up in `stylesheets`.
    Inline(String),
}

/// What a stylesheet gets to see.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SourceElement {
    /// The whole document.
    #[default]
    Document,
    /// The first element in the Body of a SOAP envelope, 1.1 or 1.2, as a document of its own. Another document is
    /// malformed; an empty Body passes as it is.
    Operation,
}

/// Where the result goes.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// It takes the place of its source: of the document, or of the element within its envelope.
    #[default]
    InPlace,
    /// It takes the place of the whole message.
    Message,
}

/// Where the value of a parameter comes from. If it is not there, cannot be read, or has characters that XML does not
/// have, the parameter has the value that the stylesheet says.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ParameterValue {
    /// A header of the message that is transformed. Several of one name are joined by commas, and so
    /// are its other spellings.
    Header(String),
    /// A header of the request, in the same way.
    RequestHeader(String),
    /// A query parameter of the request, decoded. Of several the first counts.
    Query(String),
    /// The identifier of the client, as client-id has established it.
    ClientId,
    /// The client's name.
    ClientName,
    /// The client's tier.
    ClientTier,
    /// This text.
    Text(String),
    /// This number.
    Number(f64),
    /// True or false.
    Boolean(bool),
}

/// What becomes of messages that are to be transformed and cannot be.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct OnError {
    /// The media type is not that of XML, or cannot be read, or its charset is not known. Requests: 415.
    pub content_type: OnFailure,
    /// The body is encoded: compressed, say. Requests: 415.
    pub encoded: OnFailure,
    /// The body has several parts, as SOAP with attachments has (MTOM). Requests: 415.
    pub multipart: OnFailure,
    /// The body is a part of something larger: there is a Content-Range. Requests: 400.
    pub partial: OnFailure,
    /// The body has more bytes than `limits` allows. Requests: 413.
    pub too_large: OnFailure,
    /// The body is not well-formed, goes beyond another of the limits, is no SOAP envelope where one is needed, or follows
    /// headers that nothing may follow.
    /// Requests: 400.
    pub malformed: OnFailure,
    /// The stylesheet fails: it goes beyond a limit, ends itself, or does what cannot be done. Requests: 500.
    pub stylesheet: OnFailure,
    /// Envoy has followed a redirect by itself (`internal_redirect_policy`) and sends the request through its filters
    /// again, with the body that they have made of it. Requests: 500.
    pub redirected: OnFailure,
    /// What the worker is reading takes more memory than `limits.max_held_bytes`. Requests and responses: 503.
    pub busy: OnFailure,
}

impl Default for OnError {
    fn default() -> Self {
        let refuse = OnFailure::Refuse;
        Self {
            content_type: refuse,
            encoded: refuse,
            multipart: refuse,
            partial: refuse,
            too_large: refuse,
            malformed: refuse,
            stylesheet: refuse,
            redirected: refuse,
            busy: refuse,
        }
    }
}

/// What becomes of a message that cannot be transformed.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// A request is refused with the status that is given for it. Instead of a response the client gets 502, or the
    /// status that is given for it.
    Refuse,
    /// It passes as it came, byte for byte.
    Pass,
}
