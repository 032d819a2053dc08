//! The Content-Type of a new body.

use portcullis_xml::soap::MediaType;
use portcullis_xslt::OutputKind;

use crate::side::Side;

/// The Content-Type of a result, if it is another one than the message's.
pub(super) fn of_result(message: &[u8], side: &Side, is_in_envelope: bool) -> Option<Vec<u8>> {
    stated(message, side, is_in_envelope).filter(|stated| stated != message)
}

fn stated(message: &[u8], side: &Side, is_in_envelope: bool) -> Option<Vec<u8>> {
    if let Some(configured) = &side.content_type {
        return Some(configured.clone().into_bytes());
    }
    let declared = match (side.stylesheet.media_type(), side.stylesheet.output_kind()) {
        // An envelope stays one, whatever is in it.
        _ if is_in_envelope => None,
        (Some(declared), _) => Some(declared),
        (None, OutputKind::Text) => Some("text/plain"),
        (None, OutputKind::Xml | OutputKind::XmlWithDocumentType) => None,
    };
    match declared {
        Some(declared) => Some(format!("{declared}; charset=utf-8").into_bytes()),
        None => in_utf_8(message),
    }
}

/// The same Content-Type with the charset UTF-8 in the place of another one, if it has another one.
fn in_utf_8(content_type: &[u8]) -> Option<Vec<u8>> {
    let charset = MediaType::parse(content_type).ok()?.parameter("charset")?.to_vec();
    if charset.eq_ignore_ascii_case(b"utf-8") {
        return None;
    }
    let mut changed = Vec::new();
    for (at, part) in parts(content_type).into_iter().enumerate() {
        let is_charset = at > 0
            && part
                .trim_ascii()
                .split(|byte| *byte == b'=')
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(b"charset"));
        if at > 0 {
            changed.push(b';');
        }
        changed.extend_from_slice(if is_charset { b" charset=utf-8" } else { part });
    }
    Some(changed)
}

/// The media type and its parameters: what stands between semicolons that are not quoted.
fn parts(content_type: &[u8]) -> Vec<&[u8]> {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Plain,
        Quoted,
        Escaped,
    }
    let mut at = At::Plain;
    let is_end = |byte: &u8| {
        let is_end = at == At::Plain && *byte == b';';
        at = match (at, *byte) {
            (At::Plain, b'"') | (At::Escaped, _) => At::Quoted,
            (At::Quoted, b'"') => At::Plain,
            (At::Quoted, b'\\') => At::Escaped,
            (at, _) => at,
        };
        is_end
    };
    content_type.split(is_end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_charset_becomes_utf_8() {
        for (before, after) in [
            ("text/xml", None),
            ("text/xml; charset=UTF-8", None),
            ("text/xml; charset=\"utf-8\"", None),
            ("text/xml;charset=iso-8859-1", Some("text/xml; charset=utf-8")),
            (
                "application/soap+xml; Charset=\"utf-16\";action=\"urn:a;charset=x\\\"\"",
                Some("application/soap+xml; charset=utf-8;action=\"urn:a;charset=x\\\"\""),
            ),
        ] {
            let changed = in_utf_8(before.as_bytes()).map(|value| String::from_utf8(value).unwrap());
            assert_eq!(changed.as_deref(), after, "{before}");
        }
    }
}
