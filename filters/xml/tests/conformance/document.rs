//! A document of the suite.

use portcullis_xml::{Error, Limits, Sink, Tokenizer};

struct Ignore;

impl Sink for Ignore {}

/// Why a document is refused, if it is.
pub(crate) fn refusal(document: &[u8], limits: &Limits) -> Option<Error> {
    refusal_in_chunks([document], limits)
}

/// The same if it comes in chunks.
pub(crate) fn refusal_in_chunks<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limits: &Limits,
) -> Option<Error> {
    let mut tokenizer = Tokenizer::new(limits);
    let mut result = Ok(());
    for chunk in chunks {
        result = tokenizer.feed(chunk, &mut Ignore).map(|_| ());
    }
    result.and_then(|()| tokenizer.finish(&mut Ignore)).err()
}

/// Whether there is a document type declaration before the document element. Judged without the tokenizer, which is
/// what is being tested: comments and processing instructions are passed over, and UTF-16 is read as if it were ASCII.
pub(crate) fn has_document_type(document: &[u8]) -> bool {
    let ascii: Vec<u8> = document.iter().copied().filter(|byte| *byte != 0).collect();
    let mut text = String::from_utf8_lossy(&ascii).into_owned();
    loop {
        let Some(markup) = text.find('<') else { return false };
        let rest = text.split_at(markup).1;
        let end = if rest.starts_with("<!--") {
            rest.find("-->")
        } else if rest.starts_with("<?") {
            rest.find("?>")
        } else {
            return rest.starts_with("<!DOCTYPE");
        };
        let Some(end) = end else { return false };
        text = rest.split_at(end).1.to_owned();
    }
}

#[test]
fn a_document_type_counts_before_the_document_element_alone() {
    for (document, expected) in [
        ("<!DOCTYPE a><a/>", true),
        ("<?xml version='1.0'?>\n<!-- <a/> --><?b <c/>?><!DOCTYPE a><a/>", true),
        ("<\0!\0D\0O\0C\0T\0Y\0P\0E\0 \0a\0>\0", true),
        ("<a/>", false),
        ("<!-- <!DOCTYPE a> --><a/>", false),
        ("<?b <!DOCTYPE a>?><a/>", false),
        ("<a><![CDATA[<!DOCTYPE a>]]></a>", false),
        ("<a/><!DOCTYPE a>", false),
        ("<!doctype a><a/>", false),
        ("<!-- <!DOCTYPE a>", false),
    ] {
        assert_eq!(has_document_type(document.as_bytes()), expected, "{document}");
    }
}
