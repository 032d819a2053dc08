//! What the names of a stylesheet stand for.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_xml::xpath::ast::Type;

use crate::program::{GLOBAL, NameIndex, NamespaceIndex, PrefixedName, SlotNumber};
use crate::qname::Expanded;

/// Numbers names from 0, in the order of first sight.
#[derive(Debug)]
pub(super) struct Numbering<K> {
    numbers: BTreeMap<K, usize>,
}

impl<K> Default for Numbering<K> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new() }
    }
}

impl<K: Ord> Numbering<K> {
    /// The number of a name; it gets one if it has none yet.
    pub(super) fn number(&mut self, name: K) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(name).or_insert(next)
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn get(&self, name: &K) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The names in the order of their numbers.
    pub(super) fn into_names(self) -> Vec<K> {
        let mut names: Vec<_> = self.numbers.into_iter().collect();
        names.sort_by_key(|(_, number)| *number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

/// What is known of the value of a variable ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// A value of this type.
    Value(Type),
    /// A result tree fragment.
    Fragment,
}

impl Holds {
    pub(super) fn type_(self) -> Type {
        match self {
            Self::Value(type_) => type_,
            Self::Fragment => Type::Nodes,
        }
    }
}

/// A variable or parameter.
#[derive(Debug, Clone)]
pub(super) struct VariableSymbol {
    pub(super) name: Expanded,
    pub(super) slot: SlotNumber,
    pub(super) holds: Holds,
}

/// The variables that can be seen.
#[derive(Debug, Default)]
pub(super) struct Variables {
    globals: BTreeMap<Expanded, VariableSymbol>,
    /// No two that can be seen have one name.
    locals: BTreeMap<Expanded, VariableSymbol>,
    /// The names of the local ones, in the order in which they were declared.
    declared: Vec<Expanded>,
    /// The slots that hold fragments.
    fragments: BTreeSet<SlotNumber>,
    next: SlotNumber,
}

impl Variables {
    pub(super) fn add_global(&mut self, symbol: VariableSymbol) {
        self.note(&symbol);
        self.globals.insert(symbol.name.clone(), symbol);
    }

    /// Begins a template: no local variables.
    pub(super) fn enter(&mut self) {
        self.locals.clear();
        self.declared.clear();
        self.fragments = self.fragments.split_off(&GLOBAL);
        self.next = 0;
    }

    /// How many slots the template takes.
    pub(super) fn slots(&self) -> usize {
        usize::try_from(self.next).unwrap_or(usize::MAX)
    }

    /// A slot for a local variable that cannot be seen yet.
    pub(super) fn allocate(&mut self) -> SlotNumber {
        let slot = self.next;
        self.next = self.next.saturating_add(1);
        slot
    }

    pub(super) fn is_local(&self, name: &Expanded) -> bool {
        self.locals.contains_key(name)
    }

    pub(super) fn declare(&mut self, symbol: VariableSymbol) {
        self.note(&symbol);
        self.declared.push(symbol.name.clone());
        self.locals.insert(symbol.name.clone(), symbol);
    }

    /// How many local variables can be seen: what [`leave`](Self::leave) takes.
    pub(super) fn visible(&self) -> usize {
        self.declared.len()
    }

    pub(super) fn leave(&mut self, visible: usize) {
        for name in self.declared.drain(visible.min(self.declared.len())..) {
            self.locals.remove(&name);
        }
    }

    pub(super) fn find(&self, namespace: &str, local: &str) -> Option<&VariableSymbol> {
        let name = Expanded { namespace: namespace.into(), local: local.into() };
        self.locals.get(&name).or_else(|| self.globals.get(&name))
    }

    pub(super) fn is_fragment(&self, slot: SlotNumber) -> bool {
        self.fragments.contains(&slot)
    }

    fn note(&mut self, symbol: &VariableSymbol) {
        if symbol.holds == Holds::Fragment {
            self.fragments.insert(symbol.slot);
        }
    }
}

/// The names that the result is made of.
#[derive(Debug, Default)]
pub(super) struct ResultSymbols {
    pub(super) names: Numbering<PrefixedName>,
    pub(super) namespaces: Numbering<(Box<str>, Box<str>)>,
}

impl ResultSymbols {
    pub(super) fn name(&mut self, prefix: &str, name: Expanded) -> NameIndex {
        let number = self.names.number(PrefixedName { prefix: prefix.into(), name });
        NameIndex(u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub(super) fn namespace(&mut self, prefix: &str, uri: &str) -> NamespaceIndex {
        let number = self.namespaces.number((prefix.into(), uri.into()));
        NamespaceIndex(u32::try_from(number).unwrap_or(u32::MAX))
    }
}
