//! What the policies of a chain may take of a VM's memory at most, by their configurations.

use crate::config::ConfigError;

/// What a policy may take of a VM's memory at most, as it is configured, in bytes. What is counted for each open exchange
/// ([`Chain::with_max_exchange_bytes`](crate::Chain::with_max_exchange_bytes)) is not in it. An upper bound will do.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct MostMemory {
    /// For what is this policy's own and lasts: caches, lists, queues.
    pub kept: usize,
    /// For the messages that a worker is reading ([`HeldMemory`](crate::HeldMemory)). The policies of a chain share one sum.
    pub messages: usize,
    /// For as long as one callback lasts. No two policies are at work at the same time.
    pub at_work: usize,
}

/// The most that a chain may take by its configuration: a VM of this suite has 1 GiB, and the code, the configuration and
/// the gaps between allocations need some of it.
pub(crate) const BUDGET: usize = 900 << 20;

/// Refuses a chain that may take more than the [`BUDGET`]: a VM that needs more than it has is lost, with all its
/// exchanges. `exchanges` is what open exchanges may take.
///
/// # Errors
/// If it may take more: how much each part of it may take.
pub(crate) fn check(policies: &[(&'static str, MostMemory)], exchanges: usize) -> Result<(), ConfigError> {
    let messages = policies.iter().map(|(_, most)| most.messages).max().unwrap_or_default();
    let at_work = policies.iter().map(|(_, most)| most.at_work).max().unwrap_or_default();
    let shared = exchanges.saturating_add(messages).saturating_add(at_work);
    let total = policies.iter().fold(shared, |sum, (_, most)| sum.saturating_add(most.kept));
    if total <= BUDGET {
        return Ok(());
    }
    let parts =
        [("open exchanges", exchanges), ("messages being read", messages), ("a message at work", at_work)];
    let parts: Vec<_> = policies
        .iter()
        .map(|(name, most)| (*name, most.kept))
        .chain(parts)
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(name, bytes)| format!("{name} {}", in_mib(bytes)))
        .collect();
    let problem = format!(
        "could take {} MiB of a VM's memory, and must not take more than {}: lower the limits (in MiB: {})",
        in_mib(total),
        in_mib(BUDGET),
        parts.join(", ")
    );
    Err(ConfigError::new("", problem))
}

/// Rounded up.
fn in_mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn most(kept: usize, messages: usize, at_work: usize) -> MostMemory {
        let [kept, messages, at_work] = [kept, messages, at_work].map(|number| number << 20);
        MostMemory { kept, messages, at_work }
    }

    #[test]
    fn what_policies_keep_is_added_and_what_they_share_is_not() {
        for (policies, exchanges, expected) in [
            (vec![], 64, None),
            (vec![("a", most(836, 0, 0))], 64, None),
            (vec![("a", most(400, 200, 36)), ("b", most(200, 200, 36))], 64, None),
            (
                vec![("a", most(400, 200, 36)), ("b", most(201, 100, 30)), ("c", most(0, 0, 0))],
                64,
                Some(
                    "could take 901 MiB of a VM's memory, and must not take more than 900: lower the limits (in MiB: \
                     a 400, b 201, open exchanges 64, messages being read 200, a message at work 36)",
                ),
            ),
            (vec![("a", MostMemory { kept: usize::MAX, ..MostMemory::default() })], 64, Some("could take ")),
        ] {
            let problem = check(&policies, exchanges * MIB).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(problem, None),
                Some(expected) => {
                    assert!(problem.is_some_and(|said| said.starts_with(expected)), "{expected}");
                }
            }
        }
    }
}
