//! That work grows with the document and with nothing else. Steps are counted, not time.
// Of sizes that are constants here.
#![allow(clippy::arithmetic_side_effects)]

use std::fmt::Write;

use portcullis_xml::{Limits, Sink, Tokenizer};

struct Ignore;

impl Sink for Ignore {}

fn generous() -> Limits {
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

/// Reads the document in chunks of that size; it must be well-formed.
fn work(document: &str, size: usize) -> u64 {
    let mut tokenizer = Tokenizer::new(&generous());
    for chunk in document.as_bytes().chunks(size) {
        tokenizer.feed(chunk, &mut Ignore).unwrap();
    }
    tokenizer.finish(&mut Ignore).unwrap();
    tokenizer.work()
}

/// A byte is looked at so many times at most, by the way in which it arrives; comparing names costs the logarithm of
/// their number, as a tree or sorting does.
fn assert_linear(what: &str, document: &str) {
    let bytes = u64::try_from(document.len()).unwrap();
    for size in [1, 7, usize::MAX] {
        let steps = work(document, size);
        assert!(steps <= bytes * 8, "{what}, in chunks of {size}: {steps} steps for {bytes} bytes");
    }
}

fn repeated(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, index| {
        text.push_str(&piece(index));
        text
    })
}

#[test]
fn many_attributes() {
    let attributes = repeated(50_000, |index| format!(" a{index}=''"));
    assert_linear("one tag", &format!("<a{attributes}/>"));
    let prefixed = repeated(50_000, |index| format!(" p:a{index}=''"));
    assert_linear("one namespace", &format!("<a xmlns:p='u'{prefixed}/>"));
    // Names that are equal but for their end.
    let alike = repeated(5_000, |index| format!(" {}{index:05}=''", "a".repeat(100)));
    assert_linear("alike", &format!("<a{alike}/>"));
}

#[test]
fn many_namespace_declarations() {
    let declarations = repeated(30_000, |index| format!(" xmlns:p{index}='u{index}'"));
    let used = repeated(30_000, |index| format!("<p{index}:a/>"));
    assert_linear("one tag", &format!("<a{declarations}>{used}</a>"));
    let attributes = repeated(30_000, |index| format!(" p{index}:a=''"));
    assert_linear("attributes of each", &format!("<a{declarations}{attributes}/>"));
    let same = repeated(30_000, |index| format!(" xmlns:p{index}='u'"));
    assert_linear("one namespace", &format!("<a{same}>{used}</a>"));
    let defaults = repeated(5_000, |index| format!("<a xmlns='u{index}'>")) + &"</a>".repeat(5_000);
    assert_linear("defaults", &defaults);
    let nested = repeated(5_000, |index| format!("<p{index}:a xmlns:p{index}='u'>"))
        + &repeated(5_000, |index| format!("</p{}:a>", 4_999 - index));
    assert_linear("nested", &nested);
    let hiding = repeated(5_000, |_| "<p:a xmlns:p='u'>".to_owned()) + &"</p:a>".repeat(5_000);
    assert_linear("hiding each other", &hiding);
    // In and out of where a tree takes over from a list.
    let border = repeated(16, |index| format!(" xmlns:p{index}='u'"));
    let crossing = "<b xmlns:x='v'/>".repeat(5_000);
    assert_linear("at the border", &format!("<a{border}>{crossing}</a>"));
}

#[test]
fn deep_nesting() {
    let nested = |depth| "<a>".repeat(depth) + &"</a>".repeat(depth);
    assert_linear("nesting", &nested(50_000));
    let deep = nested(1_000_000);
    assert!(work(&deep, usize::MAX) <= u64::try_from(deep.len()).unwrap() * 8);
    let mut alternating = String::new();
    for index in 0..20_000 {
        write!(alternating, "<a b='{index}'>x").unwrap();
    }
    assert_linear("mixed", &(alternating + &"</a>".repeat(20_000)));
}

#[test]
fn long_pieces() {
    let count = 50_000;
    for (what, start, piece, end) in [
        ("text", "<a>", "x", "</a>"),
        ("text in another script", "<a>", "\u{ff21}", "</a>"),
        ("brackets", "<a>", "]", "</a>"),
        ("references", "<a>", "&lt;", "</a>"),
        ("a long reference", "<a>&#", "0", "65;</a>"),
        ("line ends", "<a>", "\r\n", "</a>"),
        ("a value", "<a b='", "x", "'/>"),
        ("a value of references", "<a b='", "&#65;", "'/>"),
        ("a value of white space", "<a b='", "\r", "'/>"),
        ("a name", "<", "a", "/>"),
        ("an attribute's name", "<b ", "a", "=''/>"),
        ("white space in a tag", "<a ", " ", "/>"),
        ("white space around an attribute's parts", "<a b ", " ", "=''/>"),
        ("white space before the document element", " ", "\n", "<a/>"),
        ("a comment", "<a><!--", "x", "--></a>"),
        ("hyphens", "<a><!--", "x-", "x--></a>"),
        ("a CDATA section", "<a><![CDATA[", "]]", "]]></a>"),
        ("CDATA sections", "<a>", "<![CDATA[]]>", "</a>"),
        ("data", "<?p ", "?", "?><a/>"),
        ("elements", "<a>", "<b/>", "</a>"),
        ("closed elements", "<a>", "<b>x</b>", "</a>"),
        ("comments", "<a>", "<!---->", "</a>"),
        ("lines", "<a>", "\n", "</a>"),
    ] {
        assert_linear(what, &format!("{start}{}{end}", piece.repeat(count)));
    }
}

#[test]
fn long_names_of_open_elements() {
    let name = "a".repeat(10_000);
    let document = format!("<{name}>").repeat(100) + &format!("</{name}>").repeat(100);
    assert_linear("names", &document);
}
