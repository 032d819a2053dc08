//! Writing XML character data.

/// Appends `text` as XML character data that is also safe in a double-quoted attribute value. Characters that
/// XML 1.0 cannot hold (section 2.2, production `Char`) become U+FFFD.
pub fn write_text(out: &mut Vec<u8>, text: &str) {
    let mut buffer = [0; 4];
    for character in text.chars() {
        let written: &[u8] = match character {
            '&' => b"&amp;",
            '<' => b"&lt;",
            '>' => b"&gt;",
            '"' => b"&quot;",
            '\t' | '\n' => character.encode_utf8(&mut buffer).as_bytes(),
            '\r' => b"&#13;",
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}".as_bytes(),
            _ => character.encode_utf8(&mut buffer).as_bytes(),
        };
        out.extend_from_slice(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markup_and_replaces_what_xml_cannot_hold() {
        let mut out = Vec::new();
        write_text(&mut out, "a<b>&\"\r\n\0\u{ffff}é");
        assert_eq!(String::from_utf8(out).unwrap(), "a&lt;b&gt;&amp;&quot;&#13;\n\u{fffd}\u{fffd}é");
    }
}
