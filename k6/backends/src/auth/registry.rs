//! The registry document: who the clients are, and how to recognise their secrets.

use std::collections::HashMap;

use bytes::Bytes;
use hyper::header::HeaderValue;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use subtle::Choice;

use super::entity_tag;
use super::salted_secret::SaltedSecret;

/// The one version of the document there is.
const VERSION: u64 = 1;

/// A registry in force: the document as it was written, and what it means.
pub(crate) struct Registry {
    document: Bytes,
    etag: HeaderValue,
    clients: HashMap<String, Client>,
}

/// One client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    id: String,
    #[serde(default, deserialize_with = "header_value")]
    name: Option<HeaderValue>,
    #[serde(default, deserialize_with = "header_value")]
    tier: Option<HeaderValue>,
    #[serde(default)]
    disabled: bool,
    /// All of them count: two are what a client has while it moves from one to the next.
    #[serde(default)]
    secrets: Vec<SaltedSecret>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u64,
    clients: Vec<Client>,
}

/// What the registry says about an id and a secret.
pub(crate) enum Verdict<'a> {
    Admitted(&'a Client),
    /// The credentials are right, but the client is not to be served.
    Disabled,
    /// Unknown id or wrong secret; which of the two is nobody's business.
    Refused,
}

impl Client {
    pub(crate) fn name(&self) -> Option<&HeaderValue> {
        self.name.as_ref()
    }

    pub(crate) fn tier(&self) -> Option<&HeaderValue> {
        self.tier.as_ref()
    }

    /// A client without secrets is known by its id alone. Every secret is compared even after one was right,
    /// so that the time tells nobody which.
    fn is_known_by(&self, secret: &[u8]) -> bool {
        if self.secrets.is_empty() {
            return secret.is_empty();
        }
        self.secrets.iter().fold(Choice::from(0), |known, salted| known | salted.is(secret)).into()
    }
}

impl Registry {
    /// Reads a document.
    ///
    /// # Errors
    /// Says where the document is wrong. Values from inside `secrets` are never repeated: somebody may have
    /// put a secret itself where its digest belongs.
    pub(crate) fn parse(document: Bytes) -> Result<Self, String> {
        let mut json = serde_json::Deserializer::from_slice(&document);
        let Document { version, clients } =
            serde_path_to_error::deserialize(&mut json).map_err(|error| describe(&error))?;
        json.end().map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("version: expected {VERSION}, found {version}"));
        }
        let mut by_id = HashMap::with_capacity(clients.len());
        for (at, client) in clients.into_iter().enumerate() {
            let id = client.id.clone();
            // HTTP Basic ends the id at the first colon: such a client could never identify itself.
            if id.is_empty() || id.contains(':') || id.contains(char::is_control) {
                return Err(format!(
                    "clients[{at}].id: expected text without colons and control characters, found {id:?}"
                ));
            }
            if by_id.insert(id.clone(), client).is_some() {
                return Err(format!("clients[{at}].id: {id:?} is taken by an earlier client"));
            }
        }
        let etag = HeaderValue::try_from(entity_tag::of(&document)).map_err(|error| error.to_string())?;
        Ok(Self { document, etag, clients: by_id })
    }

    /// The document, byte for byte as it was read.
    pub(crate) fn document(&self) -> Bytes {
        self.document.clone()
    }

    /// The document's strong entity tag.
    pub(crate) fn etag(&self) -> &HeaderValue {
        &self.etag
    }

    /// Looks a client up. That it is disabled is told only to a caller who knows its secret.
    pub(crate) fn verify(&self, id: &str, secret: &[u8]) -> Verdict<'_> {
        match self.clients.get(id).filter(|client| client.is_known_by(secret)) {
            None => Verdict::Refused,
            Some(client) if client.disabled => Verdict::Disabled,
            Some(client) => Verdict::Admitted(client),
        }
    }
}

fn header_value<'de, D: Deserializer<'de>>(from: D) -> Result<Option<HeaderValue>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    HeaderValue::try_from(text)
        .map(Some)
        .map_err(|_| D::Error::custom("expected text that a header can hold, without control characters"))
}

fn describe(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, inner) = (error.path().to_string(), error.inner());
    // serde's messages for a wrong type or value repeat the value, and they all begin in this way.
    if path.contains("secrets") && inner.to_string().starts_with("invalid ") {
        let (line, column) = (inner.line(), inner.column());
        return format!(
            r#"{path}: expected a list of {{"salt": hex, "sha256": hex}} at line {line} column {column}"#
        );
    }
    if path == "." { inner.to_string() } else { format!("{path}: {inner}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: &str =
        r#"{"salt": "6162", "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#;

    fn parse(document: &str) -> Result<Registry, String> {
        Registry::parse(Bytes::copy_from_slice(document.as_bytes()))
    }

    fn verdict(registry: &Registry, id: &str, secret: &str) -> &'static str {
        match registry.verify(id, secret.as_bytes()) {
            Verdict::Admitted(_) => "admitted",
            Verdict::Disabled => "disabled",
            Verdict::Refused => "refused",
        }
    }

    #[test]
    fn judges_ids_and_secrets() {
        let registry = parse(&format!(
            r#"{{"version": 1, "clients": [
                {{"id": "acme", "secrets": [{ACME}]}},
                {{"id": "open"}},
                {{"id": "shut", "disabled": true, "secrets": [{ACME}]}}
            ]}}"#
        ))
        .expect("a registry");

        for (id, secret, expected) in [
            ("acme", "c", "admitted"),
            ("acme", "d", "refused"),
            ("acme", "", "refused"),
            ("open", "", "admitted"),
            ("open", "c", "refused"),
            ("shut", "c", "disabled"),
            ("shut", "d", "refused"),
            ("nobody", "", "refused"),
        ] {
            assert_eq!(verdict(&registry, id, secret), expected, "{id}:{secret}");
        }
    }

    #[test]
    fn refuses_documents_that_are_not_registries() {
        for (document, expected) in [
            ("", "EOF while parsing"),
            ("[]", "invalid length 0"),
            (r#"{"version": 1}"#, "missing field `clients`"),
            (r#"{"version": 2, "clients": []}"#, "version: expected 1, found 2"),
            (r#"{"version": 1, "clients": []} x"#, "trailing characters"),
            (r#"{"version": 1, "clients": [], "extra": 0}"#, "unknown field `extra`"),
            (r#"{"version": 1, "clients": [{"id": "a", "teir": "x"}]}"#, "unknown field `teir`"),
            (r#"{"version": 1, "clients": [{"name": "a"}]}"#, "clients[0]: missing field `id`"),
            (r#"{"version": 1, "clients": [{"id": ""}]}"#, "clients[0].id: expected text"),
            (r#"{"version": 1, "clients": [{"id": "a:b"}]}"#, "clients[0].id: expected text"),
            (r#"{"version": 1, "clients": [{"id": "a"}, {"id": "a"}]}"#, "clients[1].id: \"a\" is taken"),
            (r#"{"version": 1, "clients": [{"id": "a", "name": "x\n"}]}"#, "clients[0].name: expected text"),
            (
                r#"{"version": 1, "clients": [{"id": "a", "secrets": [{"salt": "0g", "sha256": ""}]}]}"#,
                "clients[0].secrets[0].salt: expected pairs of hexadecimal digits",
            ),
            (
                r#"{"version": 1, "clients": [{"id": "a", "secrets": [{"salt": "00", "sha256": "00"}]}]}"#,
                "clients[0].secrets[0].sha256: expected 32 bytes in hexadecimal, found 1",
            ),
        ] {
            let error = parse(document).err().unwrap_or_else(|| panic!("accepted {document}"));
            assert!(error.contains(expected), "{document}: {error}");
        }
    }

    #[test]
    fn never_repeats_what_stands_under_secrets() {
        for secrets in [r#""hunter2""#, r#"["hunter2"]"#, r#"[{"salt": "hunter2", "sha256": ""}]"#] {
            let document = format!(r#"{{"version": 1, "clients": [{{"id": "a", "secrets": {secrets}}}]}}"#);
            let error = parse(&document).err().unwrap_or_else(|| panic!("accepted {document}"));
            assert!(!error.contains("hunter2"), "{error}");
            assert!(error.contains("clients[0].secrets"), "{error}");
        }
    }
}
