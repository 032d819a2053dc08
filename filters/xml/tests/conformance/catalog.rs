//! The suite's list of cases.

use portcullis_xml::{Attributes, Control, Limits, Sink, StartTag, Tokenizer};

use crate::suite::Suite;

/// What the suite says about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    /// Well-formed all the same.
    Invalid,
    NotWellFormed,
    /// A processor need not find out.
    Error,
}

/// Whether a document is well-formed with namespaces, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespaces {
    Yes,
    No,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// The document's path below the suite's root.
    pub(crate) path: String,
    pub(crate) verdict: Verdict,
    pub(crate) namespaces: Namespaces,
    /// Whether it is about XML 1.0 and Namespaces 1.0 at all (not 1.1), and in the fifth edition (not superseded).
    pub(crate) is_in_force: bool,
}

/// All cases of the suite.
pub(crate) fn read(suite: &Suite) -> Vec<Case> {
    let root = String::from_utf8(suite.file("xmlconf.xml")).unwrap();
    let parts = root.split("SYSTEM \"").skip(1).filter_map(|rest| rest.split('"').next());
    parts.filter(|path| path.ends_with(".xml")).flat_map(|path| part(suite, path)).collect()
}

/// The cases of one part, which is a file of its own and meant to be included: not all have one root element.
fn part(suite: &Suite, path: &str) -> Vec<Case> {
    let text = String::from_utf8(suite.file(path)).unwrap();
    let body = match text.strip_prefix("<?xml ") {
        Some(rest) => rest.split_once("?>").unwrap().1,
        None => &text,
    };
    let folder = path.rsplit_once('/').unwrap().0.to_owned();
    let mut cases = Cases { folder, found: Vec::new() };
    let mut tokenizer = Tokenizer::new(&Limits::default());
    let document = format!("<part>{body}</part>");
    tokenizer
        .feed(document.as_bytes(), &mut cases)
        .and_then(|_| tokenizer.finish(&mut cases))
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    cases.found
}

struct Cases {
    folder: String,
    found: Vec<Case>,
}

impl Sink for Cases {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        if tag.name().local == "TEST" {
            self.found.push(case(&self.folder, &tag.attributes()));
        }
        Control::Continue
    }
}

fn case(folder: &str, attributes: &Attributes<'_>) -> Case {
    let value = |name| attributes.find("", name).map(|attribute| attribute.value);
    let recommendation = value("RECOMMENDATION").unwrap_or("XML1.0");
    let editions = value("EDITION").unwrap_or("5");
    Case {
        id: value("ID").unwrap().to_owned(),
        path: format!("{folder}/{}", value("URI").unwrap()),
        verdict: match value("TYPE").unwrap() {
            "valid" => Verdict::Valid,
            "invalid" => Verdict::Invalid,
            "not-wf" => Verdict::NotWellFormed,
            "error" => Verdict::Error,
            other => panic!("{other}"),
        },
        namespaces: if value("NAMESPACE") == Some("no") { Namespaces::No } else { Namespaces::Yes },
        is_in_force: !matches!(recommendation, "XML1.1" | "NS1.1")
            && editions.split(' ').any(|edition| edition == "5"),
    }
}
