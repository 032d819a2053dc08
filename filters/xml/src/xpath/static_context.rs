//! What an expression may refer to: prefixes, variables, functions.

use std::collections::BTreeMap;

use super::ast::{HostFunction, Type, Variable};

/// What the host tells the compiler (XPath 1.0, section 1: the context, but for what changes with the node).
///
/// A router needs no more than [`Namespaces`]; an XSLT engine adds variables and functions of its own.
pub trait StaticContext {
    /// The namespace that a prefix stands for. `xml` is never asked for.
    fn namespace(&self, prefix: &str) -> Option<&str>;

    /// The variable of this expanded name, if there is one; and whether there are variables at all.
    fn variable(&self, _namespace: &str, _local: &str) -> Lookup<Variable> {
        Lookup::Unsupported
    }

    /// The function of this expanded name. Those of the core library come first, and are never asked for.
    fn function(&self, _namespace: &str, _local: &str) -> Option<HostSignature> {
        None
    }
}

/// The answer to a question for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<T> {
    /// This is it.
    Found(T),
    /// There is none of this name.
    Unknown,
    /// There are none of any name.
    Unsupported,
}

/// A function of the host, and how it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSignature {
    /// The function.
    pub function: HostFunction,
    /// The types of the arguments that it must have; [`Type::Any`] for no conversion.
    pub required: &'static [Type],
    /// The types of those that may follow.
    pub optional: &'static [Type],
}

/// Prefixes and the namespaces that they stand for: a static context with neither variables nor functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namespaces {
    bindings: BTreeMap<String, String>,
}

impl Namespaces {
    /// No prefixes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has `prefix` stand for `namespace`, whatever it stood for before.
    pub fn bind(&mut self, prefix: &str, namespace: &str) {
        self.bindings.insert(prefix.to_owned(), namespace.to_owned());
    }
}

impl<P: Into<String>, U: Into<String>> FromIterator<(P, U)> for Namespaces {
    fn from_iter<I: IntoIterator<Item = (P, U)>>(bindings: I) -> Self {
        Self { bindings: bindings.into_iter().map(|(prefix, uri)| (prefix.into(), uri.into())).collect() }
    }
}

impl StaticContext for Namespaces {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.bindings.get(prefix).map(String::as_str)
    }
}
