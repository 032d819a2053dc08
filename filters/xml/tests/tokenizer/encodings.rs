//! Documents in the encodings that are read, and those that are not.

use portcullis_xml::{Charset, ErrorKind, Position};

use crate::events::{error, events, read_as};

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

const EXPECTED: [&str; 3] = ["<a", "\"\u{e4}\\u{80}\"", ">a"];

#[test]
fn reads_a_document_in_any_supported_encoding() {
    let body = "<a>\u{e4}\u{80}</a>";
    let declared = |name: &str| format!("<?xml version='1.0' encoding='{name}'?>{body}");
    let marked = |name| format!("\u{feff}{}", declared(name));
    for document in [
        body.as_bytes().to_vec(),
        format!("\u{feff}{body}").into_bytes(),
        declared("utf-8").into_bytes(),
        marked("UTF-8").into_bytes(),
        latin1(&declared("ISO-8859-1")),
        latin1(&declared("latin1")),
        utf16(&format!("\u{feff}{body}"), u16::to_be_bytes),
        utf16(&format!("\u{feff}{body}"), u16::to_le_bytes),
        utf16(&marked("UTF-16"), u16::to_be_bytes),
        utf16(&marked("utf-16"), u16::to_le_bytes),
        utf16(&marked("UTF-16BE"), u16::to_be_bytes),
        utf16(&declared("UTF-16BE"), u16::to_be_bytes),
        utf16(&declared("UTF-16LE"), u16::to_le_bytes),
    ] {
        assert_eq!(events(&document), EXPECTED, "{document:x?}");
    }
    assert_eq!(events("<?xml version='1.0' encoding='us-ascii'?><a>&#xe4;</a>")[1], "\"\u{e4}\"");
}

#[test]
fn goes_by_the_content_type() {
    let body = "<a>\u{e4}\u{80}</a>";
    for (charset, document) in [
        (Charset::Utf8, body.as_bytes().to_vec()),
        (Charset::Utf8, format!("\u{feff}{body}").into_bytes()),
        (Charset::Latin1, latin1(body)),
        (Charset::Utf16, utf16(&format!("\u{feff}{body}"), u16::to_le_bytes)),
        (Charset::Utf16Le, utf16(body, u16::to_le_bytes)),
        (Charset::Utf16Be, utf16(body, u16::to_be_bytes)),
        (Charset::Latin1, latin1(&format!("<?xml version='1.0' encoding='ISO-8859-1'?>{body}"))),
    ] {
        let outcome = read_as(charset, &document);
        assert_eq!(
            (outcome.error, outcome.events.lines),
            (None, EXPECTED.map(String::from).to_vec()),
            "{charset}"
        );
    }
}

#[test]
fn refuses_a_document_whose_encoding_is_told_in_two_ways() {
    use Charset::{Ascii, Latin1, Utf8, Utf16, Utf16Be, Utf16Le};
    let declared = |name: &str| format!("<?xml version='1.0' encoding='{name}'?><a/>");
    let marked = |name| format!("\u{feff}{}", declared(name));
    for (charset, document, actual, said) in [
        (None, marked("ISO-8859-1").into_bytes(), Utf8, Latin1),
        (None, marked("US-ASCII").into_bytes(), Utf8, Ascii),
        (None, declared("UTF-16").into_bytes(), Utf8, Utf16),
        (None, declared("UTF-16LE").into_bytes(), Utf8, Utf16Le),
        (None, utf16(&marked("UTF-8"), u16::to_le_bytes), Utf16Le, Utf8),
        (None, utf16(&marked("UTF-16BE"), u16::to_le_bytes), Utf16Le, Utf16Be),
        (None, utf16(&declared("UTF-8"), u16::to_be_bytes), Utf16Be, Utf8),
        (Some(Utf8), declared("ISO-8859-1").into_bytes(), Utf8, Latin1),
        (Some(Latin1), declared("UTF-8").into_bytes(), Latin1, Utf8),
        (Some(Latin1), marked("UTF-8").into_bytes(), Utf8, Latin1),
        (Some(Utf8), utf16(&marked("UTF-16"), u16::to_be_bytes), Utf16Be, Utf8),
        (Some(Utf16Le), utf16(&marked("UTF-16"), u16::to_be_bytes), Utf16Be, Utf16Le),
    ] {
        let found = match charset {
            Some(charset) => read_as(charset, &document).error,
            None => Some(error(&document)),
        };
        let kind = ErrorKind::ConflictingEncodings { actual, declared: said };
        assert_eq!(found.map(|error| error.kind), Some(kind), "{document:x?}");
    }
}

#[test]
fn wants_to_know_the_byte_order_of_utf_16() {
    let bare = |text| utf16(text, u16::to_be_bytes);
    let missing = Some(ErrorKind::MissingByteOrderMark);
    assert_eq!(read_as(Charset::Utf16, &bare("<a/>")).error.map(|error| error.kind), missing);
    for document in ["<?xml version='1.0' encoding='UTF-16'?><a/>", "<?xml version='1.0'?><a/>", "<?p?><a/>"]
    {
        assert_eq!(Some(error(bare(document)).kind), missing, "{document}");
    }
    let declared = bare("<?xml version='1.0' encoding='UTF-16'?><a/>");
    assert_eq!(read_as(Charset::Utf16Be, &declared).error.map(|error| error.kind), missing);
}

#[test]
fn names_an_encoding_that_it_does_not_support() {
    for label in ["windows-1252", "Shift_JIS", "ISO-8859-15", "UTF-7", "UCS-4"] {
        let error = error(format!("<?xml version='1.0' encoding='{label}'?><a/>"));
        assert_eq!(error.kind, ErrorKind::UnsupportedEncoding(Some(label.into())));
        assert_eq!(error.position.column, 31);
    }
    for document in [&b"\0\0\0<\0\0\0a"[..], b"\xFF\xFE\0\0<\0\0\0", b"\x4C\x6F\xA7\x94\x93"] {
        assert_eq!(error(document).kind, ErrorKind::UnsupportedEncoding(None));
    }
}

#[test]
fn refuses_bytes_that_are_not_text_where_they_are() {
    let ascii = "<?xml version='1.0' encoding='us-ascii'?>";
    for (document, charset, column, offset) in [
        (b"<a>\xE4</a>".to_vec(), Charset::Utf8, 4, 3),
        (b"<a>\xC3\xA4\xC0\x80</a>".to_vec(), Charset::Utf8, 5, 5),
        (b"<a>\xED\xA0\x80</a>".to_vec(), Charset::Utf8, 4, 3),
        (b"<a>\xE2\x82".to_vec(), Charset::Utf8, 4, 3),
        ([ascii.as_bytes(), b"<a>\xC3\xA4</a>"].concat(), Charset::Ascii, 45, 44),
        ([&b"\xFE\xFF"[..], &utf16("<a>", u16::to_be_bytes), b"\xDE\0\0<"].concat(), Charset::Utf16Be, 4, 8),
        ([&b"\xFF\xFE"[..], &utf16("<a>", u16::to_le_bytes), b"\0\xD8<\0"].concat(), Charset::Utf16Le, 4, 8),
        ([&b"\xFF\xFE"[..], &utf16("<a/>", u16::to_le_bytes), b"\n"].concat(), Charset::Utf16Le, 5, 10),
    ] {
        let error = error(&document);
        assert_eq!(error.kind, ErrorKind::InvalidEncoding(charset), "{document:x?}");
        assert_eq!(error.position, Position { line: 1, column, offset }, "{document:x?}");
    }
}

#[test]
fn counts_offsets_in_bytes_of_the_document() {
    let text = "\u{feff}<a>\n\u{e4}\u{1f600}</b>";
    let utf8 = error(text).position;
    let utf16 = error(utf16(text, u16::to_be_bytes)).position;
    assert_eq!(utf8, Position { line: 2, column: 5, offset: 15 });
    assert_eq!(utf16, Position { line: 2, column: 5, offset: 20 });

    let latin1 = error(latin1("<?xml version='1.0' encoding='ISO-8859-1'?>\n<a>\u{e4}</b>")).position;
    assert_eq!(latin1, Position { line: 2, column: 7, offset: 50 });
}

#[test]
fn a_second_byte_order_mark_is_a_character_like_any_other() {
    assert_eq!(events("<a>\u{feff}</a>")[1], "\"\\u{feff}\"");
    assert!(matches!(error("\u{feff}\u{feff}<a/>").kind, ErrorKind::Unexpected { .. }));
}
