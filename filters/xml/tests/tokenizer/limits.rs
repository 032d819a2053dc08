//! How much is taken, and what is said about more.

use portcullis_xml::{ErrorKind, Limit, Limits, Tokenizer};

use crate::events::{Events, read_chunks, read_with};

/// No limits but the one that is looked at, so that the others do not get in its way.
fn none() -> Limits {
    Limits {
        depth: u32::MAX,
        attributes: u32::MAX,
        bindings: u32::MAX,
        namespaces: u32::MAX,
        name_bytes: usize::MAX,
        value_bytes: usize::MAX,
        text_bytes: usize::MAX,
        document_bytes: u64::MAX,
        ..Limits::default()
    }
}

/// That a document is within the limits, and one that has more in it is not, at that offset; in one chunk and byte by
/// byte.
fn check(limits: &Limits, within: &str, beyond: &str, limit: (Limit, u64), offset: u64) {
    for size in [usize::MAX, 1] {
        let read = |document: &str| {
            let chunks = document.as_bytes().chunks(size);
            read_chunks(Tokenizer::new(limits), Events::default(), chunks).error
        };
        assert_eq!(read(within), None, "{within}");
        let Some(error) = read(beyond) else { panic!("accepted: {beyond}") };
        assert_eq!(error.kind, ErrorKind::LimitExceeded(limit.0, limit.1), "{beyond}");
        assert_eq!(error.position.offset, offset, "{beyond}, in chunks of {size}");
    }
}

#[test]
fn bounds_the_depth() {
    let limits = Limits { depth: 2, ..none() };
    check(&limits, "<a><b/><b></b></a>", "<a><b><c/></b></a>", (Limit::Depth, 2), 7);
}

#[test]
fn bounds_attributes_apart_from_namespace_declarations() {
    let limits = Limits { attributes: 2, ..none() };
    let within = "<a b='' xmlns='u' xmlns:p='u' c=''><d e='' f=''/></a>";
    check(&limits, within, "<a b='' c='' d=''/>", (Limit::Attributes, 2), 13);
}

#[test]
fn bounds_namespace_declarations_in_scope() {
    let limits = Limits { bindings: 2, ..none() };
    let within = "<a xmlns='u'><b xmlns='v'/><b xmlns:p='v'/><b xmlns:p='v'></b></a>";
    check(&limits, within, "<a xmlns='u'><b xmlns='u' xmlns:p='u'/></a>", (Limit::Bindings, 2), 26);
}

#[test]
fn bounds_different_namespaces() {
    let limits = Limits { namespaces: 2, ..none() };
    let within =
        "<a xmlns='u'><b xmlns='v' xmlns:p='u' xmlns:q=\"http://www.w3.org/XML/1998/namespac\"/></a>";
    let within = within.replace(" xmlns:q=\"http://www.w3.org/XML/1998/namespac\"", "");
    check(&limits, &within, "<a xmlns='u'><b xmlns='v'/><b xmlns='w'/></a>", (Limit::Namespaces, 2), 30);
}

#[test]
fn bounds_names_of_every_kind() {
    let limits = Limits { name_bytes: 4, ..none() };
    let within = "<?abcd?><\u{e4}\u{e4} abcd=''>&quot;</\u{e4}\u{e4}>";
    for (beyond, offset) in [
        ("<abcde/>", 5),
        ("<abc\u{e4}/>", 4),
        ("<ab:cd/>", 5),
        ("<a abcde=''/>", 7),
        ("<?abcde?><a/>", 6),
        ("<a></abcde>", 9),
        ("<a>&abcde;</a>", 8),
    ] {
        check(&limits, within, beyond, (Limit::NameBytes, 4), offset);
    }
}

#[test]
fn bounds_attribute_values_as_they_are_normalized() {
    let limits = Limits { value_bytes: 4, ..none() };
    for (within, beyond, offset) in [
        ("<a b='1234'/>", "<a b='12345'/>", 10),
        ("<a b='&#x31;&amp;34'/>", "<a b='&#x31;&amp;34&amp;'/>", 19),
        ("<a b='1\r\n\n4'/>", "<a b='1\r\n\n4\r\n'/>", 11),
        ("<a b='\u{e4}\u{e4}'/>", "<a b='\u{e4}1\u{e4}'/>", 9),
    ] {
        check(&limits, within, beyond, (Limit::ValueBytes, 4), offset);
    }
}

#[test]
fn bounds_pieces_of_text() {
    let limits = Limits { text_bytes: 4, ..none() };
    for (within, beyond, offset) in [
        ("<a>1234<b/>1234</a>", "<a>12345</a>", 7),
        ("<a>12]]</a>", "<a>1234]]></a>", 7),
        ("<a>1<![CDATA[23]]>4</a>", "<a>1<![CDATA[234]]>5</a>", 19),
        ("<a>123&lt;</a>", "<a>1234&lt;</a>", 7),
        ("<a>\r\n\r\n\r\n\r\n</a>", "<a>\r\n\r\n\r\n\r\n\r\n</a>", 11),
        ("<a><!--1-34--></a>", "<a><!--1-345--></a>", 11),
        ("<a><!--1234--></a>", "<a><!--1234-6--></a>", 11),
        ("<a><![CDATA[1]]4]]></a>", "<a><![CDATA[1234]]7]]></a>", 16),
        ("<a><![CDATA[]]34]]></a>", "<a><![CDATA[123]]6]]></a>", 16),
        ("<?p 1?34?><a/>", "<?p 1?345?><a/>", 8),
        ("<a><![CDATA[]]]]]]></a>", "<a><![CDATA[]]]]]]]></a>", 16),
    ] {
        check(&limits, within, beyond, (Limit::TextBytes, 4), offset);
    }
}

#[test]
fn bounds_the_xml_declaration_whatever_the_limits() {
    let padded = |before: &str, with: char, bytes: usize, behind: &str| {
        let padding = with.to_string().repeat(bytes - before.len() - behind.len());
        format!("<?xml{before}{padding}{behind}?><a/>")
    };
    let spaces = |bytes: usize| padded(" version='1.0'", ' ', bytes, "");
    let limit = (Limit::DeclarationBytes, 1024);
    for text_bytes in [4, usize::MAX] {
        let limits = Limits { text_bytes, ..none() };
        check(&limits, &spaces(1024), &spaces(1025), limit, 5 + 1024);
        check(&limits, &spaces(1024), &spaces(100_000), limit, 5 + 1024);
        let version = |bytes: usize| padded(" version='1.", '0', bytes, "'");
        check(&limits, &version(1024), &version(1025), limit, 5 + 1024);
        // What could end it, and does not.
        for piece in [">", "?", "\r"] {
            let endless = format!("<?xml {}", piece.repeat(5000));
            check(&limits, "<?xml version='1.0'?><a/>", &endless, limit, 5 + 1024);
        }
    }
    let error = read_with(&Limits::default(), spaces(1025).as_bytes()).error.unwrap();
    assert_eq!(error.to_string(), "1:1030: more than 1024 bytes of the XML declaration");
}

#[test]
fn bounds_the_document_as_it_is_transferred() {
    let limits = Limits { document_bytes: 12, ..none() };
    check(&limits, "<a>123</a>\n\n", "<a>123</a>\n\n\n", (Limit::DocumentBytes, 12), 12);
    let utf16: Vec<u8> = "\u{feff}<aa/> ".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let error = read_with(&limits, &utf16).error.map(|error| (error.kind, error.position.offset));
    assert_eq!(error, Some((ErrorKind::LimitExceeded(Limit::DocumentBytes, 12), 12)));
}

#[test]
fn what_is_wrong_before_a_limit_comes_first() {
    let limits = Limits { document_bytes: 12, text_bytes: 5, ..none() };
    let kind = |document: &str| read_with(&limits, document.as_bytes()).error.map(|error| error.kind);
    assert_eq!(kind("<a>12\u{1}3456789"), Some(ErrorKind::IllegalCharacter('\u{1}')));
    assert_eq!(kind("<a>12345\u{1}"), Some(ErrorKind::IllegalCharacter('\u{1}')));
    assert_eq!(kind("<a>123456\u{1}"), Some(ErrorKind::LimitExceeded(Limit::TextBytes, 5)));
}

#[test]
fn the_defaults_are_what_they_are_said_to_be() {
    let Limits { depth, attributes, bindings, namespaces, .. } = Limits::default();
    assert_eq!((depth, attributes, bindings, namespaces), (256, 128, 128, 1024));
    let Limits { name_bytes, value_bytes, text_bytes, document_bytes, .. } = Limits::default();
    assert_eq!((name_bytes, value_bytes, text_bytes, document_bytes), (65_536, 65_536, 1_048_576, 1_048_576));
}
