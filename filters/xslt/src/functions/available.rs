//! What a stylesheet may ask about the processor (XSLT 1.0, sections 12.4 and 15).

use super::XsltFunction;
use crate::qname::{Expanded, XSL};

/// The instructions that can stand in a template.
pub(crate) const INSTRUCTIONS: [&str; 18] = [
    "apply-imports",
    "apply-templates",
    "attribute",
    "call-template",
    "choose",
    "comment",
    "copy",
    "copy-of",
    "element",
    "fallback",
    "for-each",
    "if",
    "message",
    "number",
    "processing-instruction",
    "text",
    "value-of",
    "variable",
];

/// The functions of XPath that are there.
const CORE: [&str; 26] = [
    "last",
    "position",
    "count",
    "local-name",
    "namespace-uri",
    "name",
    "string",
    "concat",
    "starts-with",
    "contains",
    "substring-before",
    "substring-after",
    "substring",
    "string-length",
    "normalize-space",
    "translate",
    "boolean",
    "not",
    "true",
    "false",
    "lang",
    "number",
    "sum",
    "floor",
    "ceiling",
    "round",
];

/// `element-available()`: whether it is an instruction.
pub(crate) fn is_element_available(name: &Expanded) -> bool {
    &*name.namespace == XSL && INSTRUCTIONS.contains(&&*name.local)
}

/// `function-available()`.
pub(crate) fn is_function_available(name: &Expanded) -> bool {
    name.namespace.is_empty()
        && (XsltFunction::of_name(&name.local).is_some() || CORE.contains(&&*name.local))
}

/// `system-property()`: a number for the version, strings for the others, empty for what is not known.
pub(crate) fn system_property(name: &Expanded) -> Property {
    match (&*name.namespace, &*name.local) {
        (XSL, "version") => Property::Number(1.0),
        (XSL, "vendor") => Property::String("Portcullis"),
        (XSL, "vendor-url") => Property::String(env!("CARGO_PKG_REPOSITORY")),
        _ => Property::String(""),
    }
}

/// The value of a system property.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Property {
    String(&'static str),
    Number(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(namespace: &str, local: &str) -> Expanded {
        Expanded { namespace: namespace.into(), local: local.into() }
    }

    #[test]
    fn instructions_and_functions_are_told_from_what_is_not_supported() {
        assert!(is_element_available(&name(XSL, "value-of")));
        assert!(!is_element_available(&name(XSL, "template")), "not an instruction");
        assert!(!is_element_available(&name("", "value-of")));
        assert!(is_function_available(&name("", "key")));
        assert!(is_function_available(&name("", "normalize-space")));
        for refused in ["document", "id"] {
            assert!(!is_function_available(&name("", refused)), "{refused}");
        }
        assert!(!is_function_available(&name("urn:x", "key")));
    }

    #[test]
    fn properties_that_are_not_known_are_empty() {
        assert_eq!(system_property(&name(XSL, "version")), Property::Number(1.0));
        assert_eq!(system_property(&name("", "version")), Property::String(""));
    }
}
