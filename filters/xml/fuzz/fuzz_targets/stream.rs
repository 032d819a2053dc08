//! An expression, the sizes of chunks and a document, each of any bytes: what the stream yields is what the tree yields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_xml::soap::Outline;
use portcullis_xml::xpath::stream::{Matcher, Outcome, Progress, SoapMatcher, StreamExpression, StreamSet};
use portcullis_xml::xpath::{Budget, Value};
use portcullis_xml::{Control, Document, Limits, Namespaces, NodeId, Sink, Tokenizer, XPath};

/// Expressions that are always there.
const EXPRESSIONS: &[&str] = &[
    "/a",
    "/*/b[1]/@c",
    "/*/*[@c][2]",
    "/*/*[position() < 3 and not(@c = 'd')]/p:*",
    "/*/b/text() = '1'",
    "/*/node()[2]",
    "/comment()",
    "/*/processing-instruction('b')",
    "normalize-space(/*/*/b)",
    "/*/b > 1 or (/*/p:b and not(/*/@c))",
    "/s:Envelope/s:Header/*[2]",
    "/s:Envelope/s:Body/b",
    "/t:Envelope/t:Header/b[@c]",
    "/t:Envelope/*[2]/*",
    "/*/p:b",
];

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let (Some(expression), Some(sizes), Some(document)) = (lines.next(), lines.next(), lines.next()) else {
        return;
    };
    let expressions = expressions(expression);
    let streamed = expressions.iter().map(|xpath| StreamExpression::compile(xpath).unwrap());
    let set = StreamSet::new(streamed, usize::MAX);
    let limits = Limits::default();
    let tree = Document::parse(document, &limits);
    let mut outline = Outline::new();
    let outlined = feed(document, &[], &mut outline).is_some();
    // What breaks the rules for envelopes is as if it were not there.
    let rules_hold = outline.violation().is_none();

    let mut matcher = Matcher::new(&set);
    let complete = feed(document, sizes, &mut matcher);
    if let Ok(tree) = &tree {
        matcher.finish();
        compare(tree, &expressions, |place| matcher.progress(place));
        assert!(outlined);
    } else {
        // All may have been decided before what is wrong came.
        assert!(complete.is_none() || matcher.is_decided());
    }
    let mut matcher = SoapMatcher::new(&set);
    feed(document, sizes, &mut matcher);
    matcher.finish();
    if let Ok(tree) = &tree
        && rules_hold
    {
        compare(tree, &expressions, |place| matcher.progress(place));
    }
});

fn expressions(text: &[u8]) -> Vec<XPath> {
    let namespaces: Namespaces = [
        ("p", "p"),
        ("s", "http://schemas.xmlsoap.org/soap/envelope/"),
        ("t", "http://www.w3.org/2003/05/soap-envelope"),
    ]
    .into_iter()
    .collect();
    let own = str::from_utf8(text).ok().and_then(|text| XPath::compile(text, &namespaces).ok());
    let own = own.filter(|xpath| StreamExpression::compile(xpath).is_ok());
    let always = EXPRESSIONS.iter().map(|text| XPath::compile(text, &namespaces).unwrap());
    own.into_iter().chain(always).collect()
}

/// Feeds the document in chunks of these sizes, over and over; gives nothing if it is refused.
fn feed(document: &[u8], sizes: &[u8], sink: &mut impl Sink) -> Option<()> {
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let mut sizes = sizes.iter().map(|size| usize::from(*size).max(1)).cycle();
    let mut rest = document;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(sizes.next().unwrap_or(usize::MAX).min(rest.len()));
        if tokenizer.feed(chunk, sink).ok()? == Control::Stop {
            return Some(());
        }
        rest = after;
    }
    tokenizer.finish(sink).ok()
}

fn compare<'m>(tree: &Document, expressions: &[XPath], progress: impl Fn(usize) -> Progress<'m>) {
    for (place, xpath) in expressions.iter().enumerate() {
        let value = xpath.evaluate(tree, NodeId::ROOT, &mut Budget::new(u64::MAX)).unwrap();
        let expected = match &value {
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => Outcome::Text(tree.string_value(*first)),
                None => Outcome::NoMatch,
            },
            Value::String(text) => Outcome::Text(text),
            Value::Boolean(value) => Outcome::Boolean(*value),
            Value::Number(_) => panic!("{:?} is a number", xpath.expression()),
        };
        assert_eq!(progress(place), Progress::Decided(expected), "{:?}", xpath.expression());
    }
}
