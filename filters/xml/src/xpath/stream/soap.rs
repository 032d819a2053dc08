//! Following a set of expressions through an envelope.

use core::ops::Deref;

use super::matcher::{Matcher, Progress};
use super::path::{NameTest, NodeTest};
use super::set::StreamSet;
use crate::soap::{Outline, Place, Recognition};
use crate::token::{Control, Sink, StartTag};

/// A [`Matcher`] together with an [`Outline`], which makes use of what an envelope has and in which order: at most one
/// Header, then one Body, then, in SOAP 1.1 only, elements with a namespace.
///
/// So it is known that an expression selects nothing
/// - with the Envelope's start tag, if it goes to a child that no envelope of the version has;
/// - with the Header's end tag, or the Body's start tag where there is no Header, if it goes through the Header;
/// - with the Body's end tag, if it goes through the Body.
///
/// In a document that is no envelope nothing is different from a plain [`Matcher`]. In an envelope that breaks these
/// rules what was decided before it did so stays decided, as if what came later against the rules were not there; and
/// that it is malformed, [`Outline::violation`] tells.
#[derive(Debug)]
pub struct SoapMatcher<S> {
    matcher: Matcher<S>,
    outline: Outline,
    seen: Option<(Recognition, Place)>,
}

impl<S: Deref<Target = StreamSet>> SoapMatcher<S> {
    /// A matcher for one document.
    pub fn new(set: S) -> Self {
        Self { matcher: Matcher::new(set), outline: Outline::new(), seen: None }
    }

    /// What the document is, and where in it the tokens have come to.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// How far the expression at a place has come; as [`Matcher::progress`].
    pub fn progress(&self, place: usize) -> Progress<'_> {
        self.matcher.progress(place)
    }

    /// Whether all expressions are decided. The outline may have more to tell.
    pub fn is_decided(&self) -> bool {
        self.matcher.is_decided()
    }

    /// How many expressions are not decided; as [`Matcher::undecided`].
    pub fn undecided(&self) -> usize {
        self.matcher.undecided()
    }

    /// Nobody wants to know what becomes of the expression at a place; as [`Matcher::forget`].
    pub fn forget(&mut self, place: usize) {
        self.matcher.forget(place);
    }

    /// How many bytes of text are kept; as [`Matcher::kept`].
    pub fn kept(&self) -> usize {
        self.matcher.kept()
    }

    /// The document has ended: nothing is undecided any more.
    pub fn finish(&mut self) {
        self.matcher.finish();
    }

    /// Looks whether the outline rules out more than before.
    fn rule_out(&mut self) {
        let now = (self.outline.recognition(), self.outline.place());
        if self.outline.version().is_none() || self.seen == Some(now) {
            return;
        }
        self.seen = Some(now);
        let outline = &self.outline;
        self.matcher.rule_out(|test| match test {
            NodeTest::Element(NameTest::Any) => outline.may_follow(None, None),
            NodeTest::Element(NameTest::Namespace(namespace)) => outline.may_follow(Some(namespace), None),
            NodeTest::Element(NameTest::Name { namespace, local }) => {
                outline.may_follow(Some(namespace), Some(local))
            }
            NodeTest::Node | NodeTest::Text | NodeTest::Comment | NodeTest::Instruction(_) => true,
        });
    }

    fn control(&self) -> Control {
        if self.is_decided() { Control::Stop } else { Control::Continue }
    }
}

/// Asks to stop as soon as all expressions are decided.
impl<S: Deref<Target = StreamSet>> Sink for SoapMatcher<S> {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.outline.start(tag);
        self.matcher.start(tag);
        self.rule_out();
        self.control()
    }

    fn end(&mut self) -> Control {
        self.outline.end();
        self.matcher.end();
        self.rule_out();
        self.control()
    }

    fn text(&mut self, text: &str) -> Control {
        self.outline.text(text);
        self.matcher.text(text)
    }

    fn comment(&mut self, text: &str) -> Control {
        self.matcher.comment(text)
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.outline.processing_instruction(target, data);
        self.matcher.processing_instruction(target, data)
    }
}
