//! How functions are called.

use super::ast::{CoreFunction, Type};

/// The arguments that a function takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature {
    pub(super) required: &'static [Type],
    pub(super) optional: &'static [Type],
    pub(super) more: More,
}

/// What may come behind the arguments that a function knows by place, or in place of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// Nothing.
    None,
    /// Any number of strings.
    Strings,
    /// Nothing; but if there are no arguments at all, the context node is one.
    ContextNode,
}

impl Signature {
    /// The type that an argument must have.
    pub(super) fn argument(&self, index: usize) -> Option<Type> {
        let by_place = self.required.iter().chain(self.optional).nth(index).copied();
        by_place.or_else(|| (self.more == More::Strings).then_some(Type::String))
    }

    /// The most arguments that it takes, if there is such a number.
    pub(super) fn most(&self) -> Option<usize> {
        (self.more != More::Strings).then(|| self.required.len().saturating_add(self.optional.len()))
    }
}

/// The function of the core library (XPath 1.0, section 4) that has this name. `id` is not among them.
pub(super) fn core(name: &str) -> Option<(CoreFunction, Signature)> {
    use CoreFunction as F;
    use Type::{Any, Boolean, Nodes, Number, String};

    let (function, required, optional, more): (F, &'static [Type], &'static [Type], More) = match name {
        "last" => (F::Last, &[], &[], More::None),
        "position" => (F::Position, &[], &[], More::None),
        "count" => (F::Count, &[Nodes], &[], More::None),
        "local-name" => (F::LocalName, &[], &[Nodes], More::ContextNode),
        "namespace-uri" => (F::NamespaceUri, &[], &[Nodes], More::ContextNode),
        "name" => (F::Name, &[], &[Nodes], More::ContextNode),
        "string" => (F::String, &[], &[Any], More::ContextNode),
        "concat" => (F::Concat, &[String, String], &[], More::Strings),
        "starts-with" => (F::StartsWith, &[String, String], &[], More::None),
        "contains" => (F::Contains, &[String, String], &[], More::None),
        "substring-before" => (F::SubstringBefore, &[String, String], &[], More::None),
        "substring-after" => (F::SubstringAfter, &[String, String], &[], More::None),
        "substring" => (F::Substring, &[String, Number], &[Number], More::None),
        "string-length" => (F::StringLength, &[], &[String], More::ContextNode),
        "normalize-space" => (F::NormalizeSpace, &[], &[String], More::ContextNode),
        "translate" => (F::Translate, &[String, String, String], &[], More::None),
        "boolean" => (F::Boolean, &[Any], &[], More::None),
        "not" => (F::Not, &[Boolean], &[], More::None),
        "true" => (F::True, &[], &[], More::None),
        "false" => (F::False, &[], &[], More::None),
        "lang" => (F::Lang, &[String], &[], More::None),
        "number" => (F::Number, &[], &[Any], More::ContextNode),
        "sum" => (F::Sum, &[Nodes], &[], More::None),
        "floor" => (F::Floor, &[Number], &[], More::None),
        "ceiling" => (F::Ceiling, &[Number], &[], More::None),
        "round" => (F::Round, &[Number], &[], More::None),
        _ => return None,
    };
    Some((function, Signature { required, optional, more }))
}

/// Why a function that others have is not there, if it is worth a word.
pub(super) fn refusal(name: &str) -> Option<&'static str> {
    match name {
        "id" => Some("only a document type declaration says which attributes are IDs, and there are none"),
        "current"
        | "document"
        | "element-available"
        | "format-number"
        | "function-available"
        | "generate-id"
        | "key"
        | "system-property"
        | "unparsed-entity-uri" => Some("it is a function of XSLT, not of XPath"),
        _ => None,
    }
}
