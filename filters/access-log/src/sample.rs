//! Sampling by the request's identifier.

use portcullis_policy::ConfigError;

/// Takes a part of the requests, always the same ones.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// A request is taken if its hash is below this; none takes all.
    below: Option<u64>,
}

impl Sampler {
    /// A sampler that takes this part of a hundred.
    ///
    /// # Errors
    /// The number is not from 0 to 100.
    pub(crate) fn compile(percent: f64) -> Result<Self, ConfigError> {
        if !(0.0..=100.0).contains(&percent) {
            return Err(ConfigError::new("percent", "out of range, expected a number from 0 to 100"));
        }
        // A conversion saturates; the hash has 64 bits.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let below = (percent / 100.0 * 18_446_744_073_709_551_616.0) as u64;
        Ok(Self { below: (percent < 100.0).then_some(below) })
    }

    pub(crate) fn takes_all(&self) -> bool {
        self.below.is_none()
    }

    /// Whether the request with this identifier is taken; one without is.
    pub(crate) fn takes(&self, id: Option<&[u8]>) -> bool {
        match (self.below, id) {
            (None, _) | (_, None) => true,
            (Some(below), Some(id)) => hash(id) < below,
        }
    }
}

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>) over the identifier's bytes, then the finalizer of
/// MurmurHash3 (`fmix64`), for FNV's high bits hardly depend on the last bytes.
///
/// Envoy keeps its decision on tracing in the 15th character of an identifier that is a UUID, and each hop may change it:
/// that character does not count.
fn hash(id: &[u8]) -> u64 {
    const TRACE_REASON: usize = 14;
    let is_uuid = id.len() == 36 && [8, 13, 18, 23].into_iter().all(|at| id.get(at) == Some(&b'-'));
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for (at, byte) in id.iter().enumerate() {
        if is_uuid && at == TRACE_REASON {
            continue;
        }
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(n: u64) -> String {
        format!("{:08x}-cbea-4d4f-b4e7-{:012x}", n.wrapping_mul(2_654_435_761) & 0xffff_ffff, n)
    }

    #[test]
    fn takes_the_part_that_it_is_asked_for() {
        for percent in [0.0, 0.1, 1.0, 10.0, 50.0, 99.9, 100.0] {
            let sampler = Sampler::compile(percent).unwrap();
            let taken = (0..100_000).filter(|n| sampler.takes(Some(uuid(*n).as_bytes()))).count();
            let expected = percent * 1000.0;
            // Four standard deviations of a binomial distribution.
            let slack = 4.0 * (expected * (1.0 - percent / 100.0)).sqrt();
            assert!((taken as f64 - expected).abs() <= slack, "{percent}: {taken}");
        }
    }

    /// The documented hash: a hop that is another program can come to the same decision.
    #[test]
    fn the_hash_is_the_documented_one() {
        assert_eq!(hash(b""), 0xefd0_1f60_ba99_2926);
        assert_eq!(hash(b"a"), 0x82a2_a958_a9be_ce5b);
    }

    #[test]
    fn every_hop_decides_alike_whatever_it_decides_on_tracing() {
        let sampler = Sampler::compile(30.0).unwrap();
        for n in 0..1000 {
            let id = uuid(n);
            let decision = sampler.takes(Some(id.as_bytes()));
            for reason in ["9", "a", "b"] {
                let mut other = id.clone();
                other.replace_range(14..15, reason);
                assert_eq!(sampler.takes(Some(other.as_bytes())), decision, "{other}");
            }
        }
        // In what is no UUID, that character counts as any other.
        assert_ne!(hash(b"0123456789abcd4"), hash(b"0123456789abcd9"));
    }

    #[test]
    fn a_smaller_part_lies_within_a_greater_one() {
        let [small, great] = [5.0, 20.0].map(|percent| Sampler::compile(percent).unwrap());
        for n in 0..10_000 {
            let id = uuid(n);
            assert!(!small.takes(Some(id.as_bytes())) || great.takes(Some(id.as_bytes())));
        }
    }

    #[test]
    fn takes_requests_without_an_identifier() {
        assert!(Sampler::compile(0.0).unwrap().takes(None));
        assert!(!Sampler::compile(0.0).unwrap().takes(Some(b"x")));
    }

    #[test]
    fn refuses_percentages_that_are_none() {
        for percent in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert!(Sampler::compile(percent).is_err(), "{percent}");
        }
    }
}
