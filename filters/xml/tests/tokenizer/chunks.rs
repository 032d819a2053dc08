//! That it does not matter how a document is cut into chunks.
// Of sizes that are small.
#![allow(clippy::arithmetic_side_effects)]

use portcullis_xml::{Charset, Limits, Tokenizer};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::events::{Events, Outcome, read_chunks};

/// Small enough for documents here to go beyond them.
fn tight() -> Limits {
    Limits {
        depth: 4,
        attributes: 3,
        bindings: 3,
        namespaces: 3,
        name_bytes: 12,
        value_bytes: 12,
        text_bytes: 24,
        document_bytes: 400,
        ..Limits::default()
    }
}

/// What a document may be made of, and what spoils it.
fn piece() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "<a>",
        "</a>",
        "<b>",
        "</b>",
        "<a/>",
        "<p:a xmlns:p='u'>",
        "</p:a>",
        "<p:c/>",
        "<a xmlns='v'>",
        "<a b='1' c=\"2\">",
        "<a b='1' b='2'/>",
        "<a p:b='' xmlns:p='u' q:b='' xmlns:q='u'/>",
        "<x y = '&#x41;\t\r\n&amp;'",
        " z='\u{e4}\u{20ac}\u{1f600}'",
        "/>",
        ">",
        "text",
        "\r",
        "\n",
        "\r\n",
        "]]",
        "]",
        "&lt;",
        "&#65;",
        "&#x20AC;",
        "&#0;",
        "&nope;",
        "&",
        ";",
        "<![CDATA[",
        "]]>",
        "<![CDATA[<&]]>",
        "<!--",
        "-->",
        "-",
        "--",
        "<!-- c -->",
        "<?",
        "?>",
        "?",
        "<?p d?>",
        "<?xml version='1.0'?>",
        "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>",
        "<?xml version='1.0' encoding='ISO-8859-1'?>",
        "<?XML?>",
        "<!DOCTYPE a>",
        "<!",
        "<",
        " ",
        "\t",
        "'",
        "\"",
        "=",
        "\u{1}",
        "\u{fffe}",
        "\u{ff21}",
        "\u{feff}",
        "\u{10ffff}",
        "\u{300}",
        "n\u{300}:m",
        ":",
        "xmlns:q=''",
        "xmlns:xml='u'",
        "averyveryverylongname",
        "text that goes beyond the limit",
        "0",
        "x",
    ];
    prop_oneof![
        10 => prop::sample::select(PARTS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Mostly well-formed up to some place.
fn document() -> impl Strategy<Value = String> {
    let wrapped = vec(piece(), 0..20).prop_map(|pieces| format!("<a>{}</a>", pieces.concat()));
    let declared = vec(piece(), 0..10)
        .prop_map(|pieces| format!("<?xml version='1.0' encoding='UTF-8'?><a>{}</a>", pieces.concat()));
    let bare = vec(piece(), 0..20).prop_map(|pieces| pieces.concat());
    let nested = vec(vec(piece(), 0..4), 0..5).prop_map(|levels| {
        let open: String = levels.iter().map(|pieces| format!("<l>{}", pieces.concat())).collect();
        open + &"</l>".repeat(levels.len())
    });
    prop_oneof![wrapped, declared, bare, nested]
}

/// The document's bytes in some encoding, some of them changed.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let encoded = (document(), 0..6).prop_map(|(text, encoding)| match encoding {
        0 => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        1 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        2 => format!("\u{feff}{text}").into_bytes(),
        _ => text.into_bytes(),
    });
    let mutations = vec((any::<prop::sample::Index>(), any::<u8>()), 0..2);
    (encoded, mutations).prop_map(|(mut bytes, mutations): (Vec<u8>, _)| {
        for (place, byte) in mutations {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

fn charset() -> impl Strategy<Value = Option<Charset>> {
    prop_oneof![
        8 => Just(None),
        1 => Just(Some(Charset::Utf8)),
        1 => Just(Some(Charset::Latin1)),
        1 => Just(Some(Charset::Utf16Be)),
    ]
}

fn tokenizer(limits: &Limits, charset: Option<Charset>) -> Tokenizer {
    let tokenizer = Tokenizer::new(limits);
    match charset {
        Some(charset) => tokenizer.with_charset(charset),
        None => tokenizer,
    }
}

/// Cut where the sizes say, over and over.
fn cut<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for size in sizes.iter().cycle() {
        if rest.is_empty() || sizes.iter().all(|size| *size == 0) {
            break;
        }
        let (chunk, others) = rest.split_at((*size).min(rest.len()));
        chunks.push(chunk);
        rest = others;
    }
    chunks.push(rest);
    chunks
}

/// More than elsewhere, for one takes next to no time; yet more on demand (`PROPTEST_CASES`).
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(4000), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_chunks_give_the_same_calls_and_the_same_error(
        bytes in bytes(),
        sizes in vec(0_usize..9, 1..6),
        charset in charset(),
        has_tight_limits in any::<bool>(),
        stop in prop::option::weighted(0.1, 1_usize..6),
    ) {
        let limits = if has_tight_limits { tight() } else { Limits::default() };
        let sink = || stop.map_or_else(Events::default, Events::stopping_after);
        let whole = read_chunks(tokenizer(&limits, charset), sink(), [bytes.as_slice()]);
        for sizes in [&sizes[..], &[1]] {
            let chunks = cut(&bytes, sizes);
            let count = chunks.len();
            let Outcome { events, error, position, work } = read_chunks(tokenizer(&limits, charset), sink(), chunks);
            prop_assert_eq!(&events, &whole.events);
            prop_assert_eq!(&error, &whole.error);
            prop_assert_eq!(position, whole.position);
            let most = (bytes.len() + count) * 8 + 64;
            prop_assert!(work <= u64::try_from(most).unwrap(), "{} > {}", work, most);
        }
    }
}

#[test]
fn a_document_that_ends_anywhere_gives_the_same_in_one_chunk_and_byte_by_byte() {
    let document = "\u{feff}<?xml version='1.0' encoding='UTF-8'?>\r\n<!-- - -->\r<?p q??><a xmlns='u' \
                    p:b='&lt;\r\n\u{e4}' xmlns:p='v'>]]&amp;\u{20ac}<![CDATA[]]]]]><p:c\n/>]]</a\t>\n<!--\u{1f600}-->";
    let outcome = read_chunks(Tokenizer::new(&Limits::default()), Events::default(), [document.as_bytes()]);
    assert_eq!(outcome.error, None);
    for end in 0..document.len() {
        let part = &document.as_bytes()[..end];
        let whole = read_chunks(Tokenizer::new(&Limits::default()), Events::default(), [part]);
        let bytes = read_chunks(Tokenizer::new(&Limits::default()), Events::default(), part.chunks(1));
        assert_eq!((&bytes.events, &bytes.error), (&whole.events, &whole.error), "{end}");
        let root_has_ended = whole.events.lines.iter().any(|line| line == ">a{u}");
        let in_comment =
            part.ends_with(b"<") || String::from_utf8_lossy(part).rfind("<!").is_some_and(|at| at > 120);
        assert_eq!(whole.error.is_none(), root_has_ended && !in_comment, "{end}");
    }
}

/// In one chunk, a tag that was seen before in the same place is recognized as a whole; byte by byte it is read anew.
#[test]
fn tags_that_come_again_are_the_same_whether_they_are_recognized_or_read() {
    let document = "<l xmlns='u'><o a='1'>x</o><o>y</o><o/><o >z</o><o\tb=''/><oo>1</oo><o>2</o><oo>3</oo>\
                    <p:o xmlns:p='v'>4</p:o><p:o xmlns:p='w'>5</p:o><o xmlns='t'>6</o><o>7</o><o xmlns=''/><o>8</o>\
                    <q xmlns:p='v'><p:o><p:o/></p:o><p:o xmlns:p='w'><p:o/></p:o><p:o>9</p:o></q><p:o/></l>"
        .as_bytes();
    let read = |part: &[u8], limits: &Limits, size: usize, stop: Option<usize>| {
        let events = stop.map_or_else(Events::default, Events::stopping_after);
        let outcome = read_chunks(Tokenizer::new(limits), events, part.chunks(size));
        (outcome.events, outcome.error, outcome.position)
    };
    let limits = [
        Limits::default(),
        Limits { depth: 2, ..Limits::default() },
        Limits { text_bytes: 0, ..Limits::default() },
        Limits { name_bytes: 2, ..Limits::default() },
    ];
    for limits in &limits {
        for end in 0..=document.len() {
            let part = &document[..end];
            assert_eq!(read(part, limits, document.len(), None), read(part, limits, 1, None), "{end}");
        }
    }
    for stop in 1..60 {
        let stop = Some(stop);
        assert_eq!(
            read(document, &limits[0], document.len(), stop),
            read(document, &limits[0], 1, stop),
            "{stop:?}"
        );
    }
}
