//! A secret that can be recognised but not read.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

/// SHA-256 over a salt followed by the secret. Secrets of clients are long and random, which is what makes a
/// fast hash enough; passwords that people choose would need a slow one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaltedSecret {
    #[serde(serialize_with = "write_hex", deserialize_with = "read_hex")]
    salt: Vec<u8>,
    #[serde(serialize_with = "write_hex", deserialize_with = "read_digest")]
    sha256: [u8; 32],
}

impl SaltedSecret {
    pub(crate) fn new(salt: Vec<u8>, secret: &[u8]) -> Self {
        let sha256 = digest(&salt, secret);
        Self { salt, sha256 }
    }

    /// Whether `secret` is the one, in a time that does not depend on how much of the digest agrees.
    pub(crate) fn is(&self, secret: &[u8]) -> Choice {
        digest(&self.salt, secret).ct_eq(&self.sha256)
    }
}

fn digest(salt: &[u8], secret: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(salt).chain_update(secret).finalize().into()
}

fn write_hex<S: Serializer>(bytes: &impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&hex::encode(bytes))
}

fn read_hex<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    hex::decode(String::deserialize(from)?)
        .map_err(|_| D::Error::custom("expected pairs of hexadecimal digits"))
}

fn read_digest<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
    let bytes = read_hex(from)?;
    <[u8; 32]>::try_from(bytes)
        .map_err(|bytes| D::Error::custom(format!("expected 32 bytes in hexadecimal, found {}", bytes.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_the_secret_and_no_other() {
        let salted = SaltedSecret::new(vec![1, 2, 3], b"open sesame");
        assert!(bool::from(salted.is(b"open sesame")));
        assert!(!bool::from(salted.is(b"open sesamE")));
        assert!(!bool::from(salted.is(b"")));
    }

    #[test]
    fn hashes_the_salt_before_the_secret() {
        // printf abc | sha256sum
        let salted = SaltedSecret::new(b"ab".to_vec(), b"c");
        assert_eq!(
            serde_json::to_value(&salted).expect("serialises"),
            serde_json::json!({
                "salt": "6162",
                "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            })
        );
    }
}
