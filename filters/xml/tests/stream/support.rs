//! Running expressions over documents.

use portcullis_xml::xpath::stream::{Matcher, Outcome, Progress, SoapMatcher, StreamExpression, StreamSet};
use portcullis_xml::{Limits, Namespaces, Sink, Tokenizer, XPath};

pub(crate) const V1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
pub(crate) const V1_2: &str = "http://www.w3.org/2003/05/soap-envelope";

/// No text in these tests is longer, unless that is what they are about.
pub(crate) const MAX_TEXT: usize = 10_000;

pub(crate) fn xpath(expression: &str) -> XPath {
    let namespaces: Namespaces = [("p", "urn:p"), ("s", V1_1), ("t", V1_2)].into_iter().collect();
    XPath::compile(expression, &namespaces).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

pub(crate) fn expression(expression: &str) -> StreamExpression {
    StreamExpression::compile(&xpath(expression)).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

pub(crate) fn set<E: AsRef<str>>(expressions: impl IntoIterator<Item = E>, max_text: usize) -> StreamSet {
    StreamSet::new(expressions.into_iter().map(|text| expression(text.as_ref())), max_text)
}

/// A [`Matcher`] or a [`SoapMatcher`].
pub(crate) trait AnyMatcher: Sink {
    fn progress(&self, place: usize) -> Progress<'_>;
    fn finish(&mut self);
}

impl AnyMatcher for Matcher<&StreamSet> {
    fn progress(&self, place: usize) -> Progress<'_> {
        self.progress(place)
    }

    fn finish(&mut self) {
        self.finish();
    }
}

impl AnyMatcher for SoapMatcher<&StreamSet> {
    fn progress(&self, place: usize) -> Progress<'_> {
        self.progress(place)
    }

    fn finish(&mut self) {
        self.finish();
    }
}

/// Feeds a document that must be well-formed as far as it is read, cut at the given places, and ends it unless the
/// matcher has stopped before.
pub(crate) fn feed(document: &str, cuts: &[usize], matcher: &mut impl AnyMatcher) {
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let mut from = 0;
    for to in cuts.iter().copied().chain([document.len()]) {
        let to = to.min(document.len());
        if to < from {
            continue;
        }
        let chunk = &document.as_bytes()[from..to];
        match tokenizer.feed(chunk, matcher).unwrap_or_else(|error| panic!("{document}: {error}")) {
            portcullis_xml::Control::Stop => return,
            portcullis_xml::Control::Continue => from = to,
        }
    }
    tokenizer.finish(matcher).unwrap_or_else(|error| panic!("{document}: {error}"));
    matcher.finish();
}

/// What becomes of an expression in a whole document.
pub(crate) fn outcome(matcher: &impl AnyMatcher, place: usize) -> Outcome<'_> {
    match matcher.progress(place) {
        Progress::Decided(outcome) => outcome,
        undecided => panic!("expression {place} is {undecided:?} behind the document"),
    }
}

/// The document with a `^` where it is found that the first expression selects something, and a `|` where that is
/// decided: behind the last byte that had to be read for it. What is decided behind the last byte only has no `|`.
pub(crate) fn mark(document: &str, matcher: &mut impl AnyMatcher) -> String {
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let mut marked = String::new();
    let mut last = None;
    let mut note = |marked: &mut String, progress: Progress<'_>| {
        let mark = match progress {
            Progress::Pending => None,
            Progress::Found => Some('^'),
            Progress::Decided(_) => Some('|'),
        };
        if mark != last {
            marked.extend(mark);
            last = mark;
        }
    };
    note(&mut marked, matcher.progress(0));
    // The first four bytes are held back until the encoding is known.
    tokenizer.feed(b"\n\n\n\n", matcher).unwrap();
    for character in document.chars() {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        tokenizer.feed(bytes, matcher).unwrap_or_else(|error| panic!("{document}: {error}"));
        marked.push(character);
        note(&mut marked, matcher.progress(0));
    }
    if !marked.contains('|') {
        tokenizer.finish(matcher).unwrap_or_else(|error| panic!("{document}: {error}"));
        matcher.finish();
    }
    marked
}
