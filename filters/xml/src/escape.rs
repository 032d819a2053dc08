//! Writing character data.

/// Appends `text` as character data.
///
/// Markup is escaped, and so are carriage returns, which a reader would take for line ends (XML 1.0, section 2.11).
/// Characters that XML 1.0 cannot hold (section 2.2, production `Char`) become U+FFFD. In a double-quoted attribute
/// value the same is well-formed too, but a reader takes tabs and line feeds there for spaces (section 3.3.3).
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.extend_from_slice(plain.as_bytes());
        let mut characters = special.chars();
        let replacement: &str = match characters.next() {
            Some('&') => "&amp;",
            Some('<') => "&lt;",
            Some('>') => "&gt;",
            Some('"') => "&quot;",
            Some('\r') => "&#13;",
            Some(_) => "\u{fffd}",
            None => "",
        };
        out.extend_from_slice(replacement.as_bytes());
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

fn is_special(character: char) -> bool {
    match character {
        '&' | '<' | '>' | '"' => true,
        '\t' | '\n' => false,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markup_and_replaces_what_xml_cannot_hold() {
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("a<b>&\"\r\n\0\u{ffff}é", "a&lt;b&gt;&amp;&quot;&#13;\n\u{fffd}\u{fffd}é"),
            ("]]>", "]]&gt;"),
            ("\t\u{1b}\u{fffe}\u{10ffff}", "\t\u{fffd}\u{fffd}\u{10ffff}"),
        ] {
            let mut out = Vec::new();
            write_text(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text:?}");
        }
    }
}
