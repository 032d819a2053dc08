//! Prefixes that are resolved when a transformation runs.

use crate::qname::{self, Expanded};

/// For each place in the stylesheet where a name is computed: what prefixes stand for there.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    scopes: Vec<Scope>,
}

/// Prefix and URI, each prefix once, in order.
type Scope = Box<[(Box<str>, Box<str>)]>;

impl Scopes {
    /// The number of a scope. Equal ones have the same number.
    pub(crate) fn add<'a>(&mut self, bindings: impl Iterator<Item = (&'a str, &'a str)>) -> usize {
        let mut scope: Vec<(Box<str>, Box<str>)> =
            bindings.map(|(prefix, uri)| (prefix.into(), uri.into())).collect();
        scope.sort_unstable();
        let scope = scope.into_boxed_slice();
        // Neighbouring instructions share theirs.
        match self.scopes.iter().rposition(|known| *known == scope) {
            Some(known) => known,
            None => {
                self.scopes.push(scope);
                self.scopes.len().saturating_sub(1)
            }
        }
    }

    /// What a prefix stands for.
    pub(crate) fn resolve(&self, scope: usize, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(qname::XML);
        }
        let scope = self.scopes.get(scope)?;
        scope.iter().find(|(known, _)| &**known == prefix).map(|(_, uri)| &**uri)
    }

    /// What a name expands to; without a prefix it is in no namespace.
    pub(crate) fn expand(&self, scope: usize, name: &str) -> Option<Expanded> {
        let (prefix, local) = qname::split(qname::trim(name))?;
        let namespace = if prefix.is_empty() { "" } else { self.resolve(scope, prefix)? };
        Some(Expanded { namespace: namespace.into(), local: local.into() })
    }
}
