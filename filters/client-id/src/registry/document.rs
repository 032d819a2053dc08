//! The document that lists an auth service's clients.

use std::collections::BTreeMap;
use std::rc::Rc;

use portcullis_policy::{ConfigError, Identity};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::credentials::{Credentials, is_identifier, is_label};
use crate::decision::{Decision, Denial};

use super::loader::{ListLimits, Loader, Portion};

/// How many secrets a client may have: each costs a digest for each guess.
const MAX_SECRETS: usize = 8;

/// What the allocator keeps for itself of each allocation, in bytes.
const ALLOCATION: usize = 16;

/// The list of clients, as the auth service serves it.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The version of this format: 1.
    pub version: u32,
    /// The clients. Identifiers are unique.
    pub clients: Vec<ClientEntry>,
}

/// One client.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientEntry {
    /// The identifier: 1 to 256 bytes of UTF-8 without control characters, colons and white space at its ends.
    pub id: String,
    /// A name for people: 1 to 256 bytes of UTF-8 without control characters and white space at its ends.
    #[serde(default)]
    pub name: Option<String>,
    /// The service tier: likewise.
    #[serde(default)]
    pub tier: Option<String>,
    /// Whether the client is locked out.
    #[serde(default)]
    pub disabled: bool,
    /// The secrets that are good at the moment: more than one while a secret is being replaced, none for a client
    /// that is known by its identifier alone.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 8)))]
    pub secrets: Vec<SecretEntry>,
}

/// A secret, as a salted digest.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecretEntry {
    /// Random bytes in hexadecimal, 8 to 64 of them, of this secret's own.
    pub salt: String,
    /// SHA-256 of the salt's bytes followed by the secret's bytes, in hexadecimal.
    pub sha256: String,
}

/// Clients by identifier, ready to decide.
#[derive(Debug, Default)]
pub struct ClientList {
    clients: BTreeMap<String, Client>,
    /// How many digests a decision on a secret takes, whoever's it is: as many as any client has secrets.
    digests: usize,
}

#[derive(Debug)]
pub(super) struct Client {
    identity: Rc<Identity>,
    status: Status,
    secrets: Box<[Secret]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Enabled,
    Disabled,
}

#[derive(Debug)]
struct Secret {
    salt: Box<[u8]>,
    digest: [u8; 32],
}

impl ClientList {
    /// Reads the JSON document, whole or not at all, whatever its size.
    ///
    /// # Errors
    /// The first thing that is wrong with it, without showing a salt or digest.
    pub fn parse(document: &[u8]) -> Result<Self, ConfigError> {
        let limits = ListLimits { clients: usize::MAX, memory: usize::MAX };
        let mut loader = Loader::new(document.to_vec(), limits);
        loader.advance(Portion { bytes: usize::MAX, clients: usize::MAX })?;
        Ok(loader.finish())
    }

    pub(super) fn new(clients: BTreeMap<String, Client>, most_secrets: usize) -> Self {
        Self { clients, digests: most_secrets.max(1) }
    }

    /// Frees some clients' memory. Whether any is left.
    pub(super) fn forget(&mut self, clients: usize) -> bool {
        (0..clients).all(|_| self.clients.pop_first().is_some())
    }

    /// How many clients there are.
    pub fn len(&self) -> usize {
        self.clients.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Decides. How long it takes tells neither how much of a secret was right, nor whether there is such a client, nor how
    /// many secrets it has, but for noise and the lengths of salts.
    pub(crate) fn decide(&self, credentials: &Credentials) -> Decision {
        let client = self.clients.get(&credentials.id);
        let good = match (&credentials.secret, client) {
            (Some(secret), client) => {
                let secrets = client.map(|client| &*client.secrets).unwrap_or_default();
                let decoy = Secret { salt: Box::from([0; 16]), digest: [0; 32] };
                let decoys = self.digests.saturating_sub(secrets.len());
                let known = secrets.iter().fold(Choice::from(0), |good, known| good | known.matches(secret));
                for _ in 0..decoys {
                    let _ = core::hint::black_box(decoy.matches(secret));
                }
                bool::from(known)
            }
            // Requests without a secret get here only where the configuration says that it is optional.
            (None, Some(_)) => true,
            (None, None) => false,
        };
        match client {
            Some(client) if good && client.status == Status::Enabled => {
                Decision::Admit(Rc::clone(&client.identity))
            }
            Some(_) if good => Decision::Deny(Denial::Disabled),
            _ => Decision::Deny(Denial::Invalid),
        }
    }
}

impl Secret {
    fn matches(&self, secret: &[u8]) -> Choice {
        let digest = Sha256::new().chain_update(&self.salt).chain_update(secret).finalize();
        digest.as_slice().ct_eq(&self.digest)
    }
}

impl Client {
    pub(super) fn secrets(&self) -> usize {
        self.secrets.len()
    }

    /// How many bytes it takes in a list, rather more than fewer: the nodes of a tree may be half empty.
    pub(super) fn memory(&self, id: &str) -> usize {
        let texts = [
            Some(id),
            Some(&self.identity.client_id),
            self.identity.name.as_deref(),
            self.identity.tier.as_deref(),
        ];
        let texts = texts.into_iter().flatten().map(|text| text.len().saturating_add(ALLOCATION));
        let secrets = self
            .secrets
            .iter()
            .map(|secret| size_of::<Secret>().saturating_add(secret.salt.len()).saturating_add(ALLOCATION));
        let fixed = size_of::<(String, Client)>()
            .saturating_mul(2)
            .saturating_add(size_of::<Identity>())
            .saturating_add(2 * ALLOCATION);
        texts.chain(secrets).fold(fixed, usize::saturating_add)
    }
}

pub(super) fn compile(entry: ClientEntry) -> Result<(String, Client), ConfigError> {
    let ClientEntry { id, name, tier, disabled, secrets } = entry;
    if !is_identifier(&id) {
        let problem = "must be 1 to 256 bytes without control characters, colons and white space at its ends";
        return Err(ConfigError::new("id", problem));
    }
    for (field, text) in [("name", &name), ("tier", &tier)] {
        if text.as_deref().is_some_and(|text| !is_label(text)) {
            return Err(ConfigError::new(
                field,
                "must be 1 to 256 bytes without control characters and white space at its ends",
            ));
        }
    }
    if secrets.len() > MAX_SECRETS {
        return Err(ConfigError::new("secrets", format!("must have at most {MAX_SECRETS} items")));
    }
    let secrets = secrets
        .iter()
        .enumerate()
        .map(|(at, entry)| compile_secret(entry).map_err(|error| error.within(&format!("secrets[{at}]"))))
        .collect::<Result<Vec<_>, _>>()?
        .into_boxed_slice();
    let identity = Rc::new(Identity { client_id: id.clone(), name, tier });
    let status = if disabled { Status::Disabled } else { Status::Enabled };
    Ok((id, Client { identity, status, secrets }))
}

fn compile_secret(entry: &SecretEntry) -> Result<Secret, ConfigError> {
    let salt = hex::decode(&entry.salt)
        .ok()
        .filter(|salt| (8..=64).contains(&salt.len()))
        .ok_or_else(|| ConfigError::new("salt", "must be 8 to 64 bytes in hexadecimal"))?;
    let digest = hex::decode(&entry.sha256)
        .ok()
        .and_then(|digest| <[u8; 32]>::try_from(digest).ok())
        .ok_or_else(|| ConfigError::new("sha256", "must be 32 bytes in hexadecimal"))?;
    Ok(Secret { salt: salt.into_boxed_slice(), digest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(salt: &[u8], secret: &str) -> String {
        hex::encode(Sha256::new().chain_update(salt).chain_update(secret).finalize())
    }

    fn list() -> ClientList {
        let secret = |text: &str| serde_json::json!({"salt": "00112233445566ff", "sha256": digest(b"\x00\x11\x22\x33\x44\x55\x66\xff", text)});
        let document = serde_json::json!({"version": 1, "clients": [
            {"id": "acme", "name": "Acme", "tier": "gold", "secrets": [secret("old"), secret("new")]},
            {"id": "out", "disabled": true, "secrets": [secret("s")]},
            {"id": "open"},
        ]});
        ClientList::parse(document.to_string().as_bytes()).unwrap()
    }

    fn decide(id: &str, secret: Option<&str>) -> Decision {
        list().decide(&Credentials { id: id.into(), secret: secret.map(|secret| secret.as_bytes().into()) })
    }

    #[test]
    fn admits_with_any_secret_that_is_good_at_the_moment() {
        let acme = Rc::new(Identity {
            client_id: "acme".into(),
            name: Some("Acme".into()),
            tier: Some("gold".into()),
        });
        assert_eq!(decide("acme", Some("old")), Decision::Admit(Rc::clone(&acme)));
        assert_eq!(decide("acme", Some("new")), Decision::Admit(Rc::clone(&acme)));
        assert_eq!(decide("acme", None), Decision::Admit(acme));
    }

    #[test]
    fn admits_with_a_secret_that_is_listed_twice() {
        let entry = |salt: &[u8]| serde_json::json!({"salt": hex::encode(salt), "sha256": digest(salt, "s")});
        let [one, other] = [entry(b"saltsalt"), entry(b"pepperpepper")];
        for secrets in [[&one, &one], [&one, &other]] {
            let document = serde_json::json!({"version": 1, "clients": [{"id": "acme", "secrets": secrets}]});
            let list = ClientList::parse(document.to_string().as_bytes()).unwrap();
            let decision = list.decide(&Credentials { id: "acme".into(), secret: Some(b"s".into()) });
            assert!(matches!(decision, Decision::Admit(_)), "{document}");
        }
    }

    #[test]
    fn a_list_without_clients_is_a_good_list_that_admits_nobody() {
        let empty = ClientList::parse(br#"{"version":1,"clients":[]}"#).unwrap();
        assert_eq!((empty.len(), empty.is_empty()), (0, true));
        let credentials = Credentials { id: "acme".into(), secret: None };
        assert_eq!(empty.decide(&credentials), Decision::Deny(Denial::Invalid));
        assert_eq!((list().len(), list().is_empty()), (3, false));
    }

    #[test]
    fn refuses_strangers_wrong_secrets_and_locked_out_clients() {
        for (id, secret, denial) in [
            ("acme", Some("other"), Denial::Invalid),
            ("acme", Some(""), Denial::Invalid),
            ("Acme", Some("new"), Denial::Invalid),
            ("nobody", Some("new"), Denial::Invalid),
            ("nobody", None, Denial::Invalid),
            ("open", Some("any"), Denial::Invalid),
            ("out", Some("s"), Denial::Disabled),
            ("out", Some("wrong"), Denial::Invalid),
        ] {
            assert_eq!(decide(id, secret), Decision::Deny(denial), "{id} {secret:?}");
        }
    }

    #[test]
    fn every_decision_on_a_secret_takes_the_digests_of_the_client_with_most_secrets() {
        let secret =
            serde_json::json!({"salt": hex::encode(b"saltsalt"), "sha256": digest(b"saltsalt", "s")});
        for (most, digests) in [(0, 1), (1, 1), (3, 3), (8, 8)] {
            let clients = serde_json::json!([{"id": "a"}, {"id": "b", "secrets": vec![&secret; most]}]);
            let document = serde_json::json!({"version": 1, "clients": clients});
            assert_eq!(ClientList::parse(document.to_string().as_bytes()).unwrap().digests, digests);
        }
        let clients = serde_json::json!([{"id": "a", "secrets": vec![&secret; 9]}]);
        let document = serde_json::json!({"version": 1, "clients": clients});
        let error = ClientList::parse(document.to_string().as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "clients[0].secrets: must have at most 8 items");
    }

    /// The wire format of `google.protobuf.Struct` is for what operators write.
    #[test]
    fn reads_json_only() {
        let document = b"\x0a\x0f\x0a\x07version\x12\x04\x1a\x02ab";
        assert!(portcullis_policy::protobuf_struct::to_json(document).is_some());
        assert!(ClientList::parse(document).unwrap_err().to_string().starts_with("must be a JSON object"));
    }

    #[test]
    fn refuses_a_document_whole_and_shows_no_digest() {
        let digest = digest(b"", "");
        for (document, expected) in [
            ("".to_owned(), "not JSON: it ends too early"),
            ("{}".to_owned(), "missing field `version`"),
            (r#"{"version":2,"clients":[]}"#.to_owned(), "version: must be 1"),
            (r#"{"version":1}"#.to_owned(), "missing field `clients`"),
            (r#"{"version":1,"clients":[{"id":""}]}"#.to_owned(), "clients[0].id: must be"),
            (r#"{"version":1,"clients":[{"id":"a:b"}]}"#.to_owned(), "clients[0].id: must be"),
            (r#"{"version":1,"clients":[{"id":"acme\u00a0"}]}"#.to_owned(), "clients[0].id: must be"),
            (r#"{"version":1,"clients":[{"id":"a","tier":"gold\u3000"}]}"#.to_owned(), "clients[0].tier: must be"),
            (r#"{"version":1,"clients":[{"id":"a","name":" Acme"}]}"#.to_owned(), "clients[0].name: must be"),
            (r#"{"version":1,"clients":[{"id":"a"},{"id":"a"}]}"#.to_owned(), "clients[1].id: is another"),
            (r#"{"version":1,"clients":[{"id":"a","secret":"s3cret"}]}"#.to_owned(), "clients[0].secret: unknown field"),
            (r#"{"version":1,"clients":[{"id":"a","secrets":["s3cret"]}]}"#.to_owned(), "clients[0].secrets[0]: "),
            (
                format!(r#"{{"version":1,"clients":[{{"id":"a","secrets":[{{"salt":"s3cret","sha256":"{digest}"}}]}}]}}"#),
                "clients[0].secrets[0].salt: must be",
            ),
            (
                r#"{"version":1,"clients":[{"id":"a","secrets":[{"salt":"0011223344556677","sha256":"s3cret"}]}]}"#.to_owned(),
                "clients[0].secrets[0].sha256: must be",
            ),
        ] {
            let error = ClientList::parse(document.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{document}: {error}");
            assert!(!error.contains("s3cret") && !error.contains(&digest), "{error}");
        }
    }
}
