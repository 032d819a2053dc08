//! The namespaces of a document, and which prefixes stand for them (Namespaces in XML 1.0, third edition).

mod bindings;
mod names;

pub(crate) use bindings::Bindings;
pub(crate) use names::NamespaceNames;

use crate::error::NamespaceRule;

/// What the prefix `xml` is bound to.
pub(crate) const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// What the prefix `xmlns` is bound to.
pub(crate) const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// Up to that many entries are searched one by one; more are kept in a tree. So a handful costs next to nothing, and
/// many cost the logarithm of their number each, whatever an attacker calls them.
const SEARCHED: usize = 16;

/// How many bytes a map of so many texts takes, which have so many bytes at the most.
fn in_map(entries: usize, text: usize) -> usize {
    const ENTRY: usize = 64;
    if entries == 0 { 0 } else { entries.saturating_mul(ENTRY).saturating_add(text) }
}

/// Whether a prefix (empty for the default) may be bound to a namespace (empty for none); sections 3 and 5.
pub(crate) fn check_declaration(prefix: &str, namespace: &str) -> Result<(), NamespaceRule> {
    match (prefix, namespace) {
        ("xmlns", _) => Err(NamespaceRule::XmlnsPrefix),
        ("xml", XML) => Ok(()),
        ("xml", _) => Err(NamespaceRule::XmlPrefix),
        (_, XML) => Err(NamespaceRule::XmlNamespace),
        (_, XMLNS) => Err(NamespaceRule::XmlnsNamespace),
        ("", _) => Ok(()),
        (_, "") => Err(NamespaceRule::UndeclaredPrefix),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_the_reserved_prefixes_and_namespaces() {
        for (prefix, namespace, expected) in [
            ("p", "urn:a", Ok(())),
            ("", "urn:a", Ok(())),
            ("", "", Ok(())),
            ("p", "", Err(NamespaceRule::UndeclaredPrefix)),
            ("xml", XML, Ok(())),
            ("xml", "urn:a", Err(NamespaceRule::XmlPrefix)),
            ("xml", "", Err(NamespaceRule::XmlPrefix)),
            ("p", XML, Err(NamespaceRule::XmlNamespace)),
            ("", XML, Err(NamespaceRule::XmlNamespace)),
            ("p", XMLNS, Err(NamespaceRule::XmlnsNamespace)),
            ("", XMLNS, Err(NamespaceRule::XmlnsNamespace)),
            ("xml", XMLNS, Err(NamespaceRule::XmlPrefix)),
            ("xmlns", XMLNS, Err(NamespaceRule::XmlnsPrefix)),
            ("xmlns", "urn:a", Err(NamespaceRule::XmlnsPrefix)),
            ("xmlfoo", "urn:a", Ok(())),
        ] {
            assert_eq!(check_declaration(prefix, namespace), expected, "{prefix:?} {namespace:?}");
        }
    }
}
