//! Names for credentials that do not give them away.

use portcullis_policy::host::{SharedStore, Write};

use crate::credentials::Credentials;

/// A keyed hash of credentials.
pub(crate) type Key = [u8; 32];

const SHARED_HASH_KEY: &str = "portcullis.client-id.v1.hash-key";

/// Makes [`Key`]s with keyed BLAKE3, so that nobody can choose credentials whose keys collide in a slot, nor look keys up
/// in tables. Whoever reads the shared data finds the hash key of the shared level there too, and can test guesses of
/// a secret: secrets must be too long to guess.
pub(crate) struct KeyMaker {
    hash_key: [u8; 32],
    realm: [u8; 32],
}

impl KeyMaker {
    /// With a random hash key of this worker's own.
    pub(crate) fn private(realm: &[u8]) -> Result<Self, getrandom::Error> {
        let mut hash_key = [0; 32];
        getrandom::fill(&mut hash_key)?;
        Ok(Self { hash_key, realm: *blake3::hash(realm).as_bytes() })
    }

    /// With the random hash key that all workers share; the first of them makes it. Should the host not give it
    /// back, this worker has its own, and merely finds nothing in the shared level.
    pub(crate) fn shared(realm: &[u8], host: &(impl SharedStore + ?Sized)) -> Result<Self, getrandom::Error> {
        let mut made = Self::private(realm)?;
        let _ = host.set_shared(SHARED_HASH_KEY, &made.hash_key, Write::IfAbsent);
        if let Ok((hash_key, _)) = host.shared(SHARED_HASH_KEY)
            && let Ok(hash_key) = hash_key.try_into()
        {
            made.hash_key = hash_key;
        }
        Ok(made)
    }

    /// Lengths are hashed along, so that no two pairs run together.
    pub(crate) fn key(&self, credentials: &Credentials) -> Key {
        let mut hasher = blake3::Hasher::new_keyed(&self.hash_key);
        hasher.update(&self.realm);
        hasher.update(&u64::try_from(credentials.id.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(credentials.id.as_bytes());
        if let Some(secret) = &credentials.secret {
            hasher.update(&[1]);
            hasher.update(secret);
        }
        *hasher.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::inprocess::{SharedData, TestHost};

    use super::*;

    fn credentials(id: &str, secret: Option<&str>) -> Credentials {
        Credentials { id: id.into(), secret: secret.map(|secret| secret.as_bytes().into()) }
    }

    #[test]
    fn tells_pairs_apart_that_concatenate_to_the_same() {
        let maker = KeyMaker::private(b"realm").unwrap();
        let pairs = [
            credentials("ab", Some("c")),
            credentials("a", Some("bc")),
            credentials("abc", None),
            credentials("abc", Some("")),
        ];
        for (at, one) in pairs.iter().enumerate() {
            for other in &pairs[at + 1..] {
                assert_ne!(maker.key(one), maker.key(other), "{one:?} {other:?}");
            }
        }
        assert_eq!(maker.key(&pairs[0]), maker.key(&pairs[0].clone()));
    }

    #[test]
    fn differs_by_worker_unless_the_hash_key_is_shared() {
        let pair = credentials("a", Some("b"));
        let key = |maker: Result<KeyMaker, _>| maker.unwrap().key(&pair);
        assert_ne!(key(KeyMaker::private(b"r")), key(KeyMaker::private(b"r")));
        let data = SharedData::default();
        let [one, two] = [(); 2].map(|()| TestHost::new(data.clone()));
        assert_eq!(key(KeyMaker::shared(b"r", &one)), key(KeyMaker::shared(b"r", &two)));
        assert_ne!(key(KeyMaker::shared(b"r", &one)), key(KeyMaker::shared(b"s", &two)));
    }
}
