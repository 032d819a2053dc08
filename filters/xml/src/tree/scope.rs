//! Namespaces in scope.

use super::names::{PrefixId, UriId};

/// The namespaces in scope at an element: those that its parent has, with what it declares itself put before them.
/// Elements without declarations of their own share their parent's.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(u32);

impl ScopeId {
    /// No namespaces but that of the prefix `xml`.
    pub const EMPTY: Self = Self(0);
}

/// A namespace declaration.
#[derive(Debug, Clone, Copy)]
struct Declaration {
    prefix: PrefixId,
    uri: UriId,
    outer: ScopeId,
}

/// All declarations of a document, each linked to the one that it adds to.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes {
    declarations: Vec<Declaration>,
}

impl Scopes {
    /// The scope with one more declaration. `None` if there is no room for it.
    pub(super) fn declare(&mut self, outer: ScopeId, prefix: PrefixId, uri: UriId) -> Option<ScopeId> {
        let scope = ScopeId(u32::try_from(self.declarations.len()).ok()?.checked_add(1)?);
        self.declarations.push(Declaration { prefix, uri, outer });
        Some(scope)
    }

    /// How many declarations there are.
    pub(super) fn len(&self) -> usize {
        self.declarations.len()
    }

    /// How many bytes the declarations take that there are.
    pub(super) fn bytes(&self) -> usize {
        self.declarations.len().saturating_mul(size_of::<Declaration>())
    }

    pub(super) fn memory(&self) -> usize {
        self.declarations.capacity().saturating_mul(size_of::<Declaration>())
    }

    /// Takes off all but the first so many: scopes that have others are gone.
    pub(super) fn truncate(&mut self, declarations: usize) {
        self.declarations.truncate(declarations);
    }

    /// The declarations of `scope` that are not yet in `until`, the latest first.
    pub(super) fn between(
        &self,
        scope: ScopeId,
        until: ScopeId,
    ) -> impl Iterator<Item = (PrefixId, UriId)> + '_ {
        let mut at = scope;
        core::iter::from_fn(move || {
            if at == until {
                return None;
            }
            let declaration = self.get(at)?;
            at = declaration.outer;
            Some((declaration.prefix, declaration.uri))
        })
    }

    /// What is in scope, the latest declarations first: each prefix once, and none that was undeclared.
    pub(super) fn in_scope(&self, scope: ScopeId) -> impl Iterator<Item = (PrefixId, UriId)> + '_ {
        let all = move || self.between(scope, ScopeId::EMPTY);
        let mut seen = 0_u128;
        all()
            .enumerate()
            .filter(move |(index, (prefix, _))| match 1_u128.checked_shl(prefix.0) {
                Some(bit) => {
                    let is_new = seen & bit == 0;
                    seen |= bit;
                    is_new
                }
                // A document with that many prefixes has few of them in one scope (`Limits` says how many).
                None => all().take(*index).all(|(later, _)| later != *prefix),
            })
            .map(|(_, declaration)| declaration)
            .filter(|(_, uri)| *uri != UriId::NONE)
    }

    fn get(&self, scope: ScopeId) -> Option<Declaration> {
        self.declarations.get(usize::try_from(scope.0.checked_sub(1)?).ok()?).copied()
    }
}
