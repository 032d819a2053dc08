//! Running a case.

use core::fmt;

use portcullis_xml::{ErrorKind, Limits};
use portcullis_xslt::{
    CompileErrorKind, CompileOptions, NoMessages, Output, Parameters, Stylesheet, TransformLimits,
};

use crate::canonical::{self, Prefixes, Space};
use crate::refusals;
use crate::suite::{Case, Suite};

/// How a case ended.
pub(crate) enum Verdict {
    /// The output is the expected one.
    Agrees(Agreement),
    /// The stylesheet was refused for a construct that it has: this one.
    Refused(&'static str),
    /// A document of the case has a document type declaration.
    DocumentType,
    /// None of these: how it looks.
    Disagrees(String),
}

/// How outputs agree.
pub(crate) enum Agreement {
    /// Canonical XML, or text, is the same.
    Exact,
    /// The same but for white space between elements, which the stylesheet had added.
    Indented,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agrees(Agreement::Exact) => f.write_str("agrees"),
            Self::Agrees(Agreement::Indented) => {
                f.write_str("agrees, but for white space that indent=\"yes\" adds")
            }
            Self::Refused(construct) => write!(f, "refused for {construct}"),
            Self::DocumentType => f.write_str("not run: a document has a document type declaration"),
            Self::Disagrees(_) => f.write_str("disagrees"),
        }
    }
}

/// Runs a case and compares its output.
pub(crate) fn run(suite: &Suite, case: &Case) -> Verdict {
    let source = suite.stylesheet(case);
    let documents = suite.stylesheets(case);
    let options = CompileOptions { documents: (*documents).clone(), ..CompileOptions::default() };
    let stylesheet = match Stylesheet::compile(&source, &options) {
        Ok(stylesheet) => stylesheet,
        Err(error) => {
            if error.kind == CompileErrorKind::Xml(ErrorKind::DocumentType) {
                return Verdict::DocumentType;
            }
            let source = error.place.document.as_ref().map_or(Some(&source), |name| documents.get(&**name));
            let source = canonical::decode(source.map_or(&[], Vec::as_slice));
            return match refusals::construct(&error, &source) {
                Some(construct) => Verdict::Refused(construct),
                None => Verdict::Disagrees(format!("does not compile: {error}")),
            };
        }
    };
    let input = match stylesheet.parse(&suite.document(case), &Limits::default()) {
        Ok(input) => input,
        Err(error) if error.kind == ErrorKind::DocumentType => return Verdict::DocumentType,
        Err(error) => return Verdict::Disagrees(format!("the document is refused: {error}")),
    };
    let limits = TransformLimits::default();
    match stylesheet.transform(input, &Parameters::new(), &limits, &mut NoMessages) {
        Ok(output) => compare(&output, &suite.expected(case), &source),
        Err(error) => match refusals::at_run_time(&error.kind, &canonical::decode(&source)) {
            Some(construct) => Verdict::Refused(construct),
            None => Verdict::Disagrees(format!("fails: {error}")),
        },
    }
}

fn compare(output: &Output, expected: &[u8], stylesheet: &[u8]) -> Verdict {
    let text = |bytes| canonical::decode(bytes).replace("\r\n", "\n");
    if &*output.media_type == "text/plain" {
        return if text(&output.bytes) == text(expected) {
            Verdict::Agrees(Agreement::Exact)
        } else {
            disagrees("text", &text(&output.bytes), &text(expected))
        };
    }
    let (actual, expected_tree) = match (canonical::parse(&output.bytes), canonical::parse(expected)) {
        (Ok(actual), Ok(expected)) => (actual, expected),
        (Err(error), _) => return Verdict::Disagrees(format!("the output is not well-formed: {error}")),
        (_, Err(error)) => {
            let how = format!("the expected output is not well-formed ({error})");
            return disagrees(&how, &text(&output.bytes), &text(expected));
        }
    };
    let same = |space, prefixes| {
        canonical::canonical(&actual, space, prefixes)
            == canonical::canonical(&expected_tree, space, prefixes)
    };
    let indents = String::from_utf8_lossy(stylesheet).contains("indent=\"yes\"");
    if same(Space::Kept, Prefixes::Compared) {
        Verdict::Agrees(Agreement::Exact)
    } else if indents && same(Space::Ignored, Prefixes::Compared) {
        Verdict::Agrees(Agreement::Indented)
    } else {
        let how = match (same(Space::Ignored, Prefixes::Compared), same(Space::Kept, Prefixes::Ignored)) {
            (true, _) => "white space",
            (_, true) => "prefixes",
            _ => "nodes",
        };
        disagrees(how, &text(&output.bytes), &text(expected))
    }
}

fn disagrees(how: &str, actual: &str, expected: &str) -> Verdict {
    let cut = |text: &str| text.chars().take(600).collect::<String>();
    Verdict::Disagrees(format!("{how}\n  found    {:?}\n  expected {:?}", cut(actual), cut(expected)))
}
