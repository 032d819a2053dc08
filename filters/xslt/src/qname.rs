//! Names: lexical QNames and what they expand to (Namespaces in XML 1.0, section 4).

/// The namespace of XSLT's own elements.
pub(crate) const XSL: &str = "http://www.w3.org/1999/XSL/Transform";
/// What the prefix `xml` stands for.
pub(crate) const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// What no prefix may stand for but `xmlns`, which may not be used.
pub(crate) const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// An expanded name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Expanded {
    /// The namespace's URI, empty for none.
    pub(crate) namespace: Box<str>,
    /// The local part.
    pub(crate) local: Box<str>,
}

/// A lexical QName: the prefix, empty for none, and the local part. `None` if it is not one.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let (prefix, local) = match text.split_once(':') {
        Some((prefix, local)) if is_ncname(prefix) => (prefix, local),
        Some(_) => return None,
        None => ("", text),
    };
    is_ncname(local).then_some((prefix, local))
}

/// Production 4 of Namespaces in XML 1.0.
pub(crate) fn is_ncname(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(|c| is_name_start(c) || is_name_continued(c))
}

/// Whether a processing instruction can have this name.
pub(crate) fn is_target(name: &str) -> bool {
    is_ncname(name) && !name.eq_ignore_ascii_case("xml")
}

/// White space of XML (1.0, production 3).
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The parts of a list that white space separates.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Without white space at both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// XML 1.0 (fifth edition), production 4, without the colon.
fn is_name_start(c: char) -> bool {
    matches!(c,
        'a'..='z' | 'A'..='Z' | '_'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}'
        | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Production 4a, what it adds.
fn is_name_continued(c: char) -> bool {
    matches!(c, '0'..='9' | '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_qualified_names_and_nothing_else() {
        assert_eq!(split("a"), Some(("", "a")));
        assert_eq!(split("a:b-1"), Some(("a", "b-1")));
        for text in ["", ":", "a:", ":a", "a:b:c", "1a", "a b", "-a", "a:1", "{u}a"] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn splits_lists_at_white_space_of_xml_alone() {
        assert_eq!(words(" a\t b\n\r").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(words("a\u{A0}b").collect::<Vec<_>>(), ["a\u{A0}b"]);
    }
}
