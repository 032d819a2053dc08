//! Reading envelopes, and XML in general.

use core::mem::{Discriminant, discriminant};
use std::rc::Rc;

use portcullis_policy::{HeaderList, HeldMemory, SharedDocument, SharedTree};
use portcullis_xml::soap::{Binding, Operation, Recognition};
use portcullis_xml::xpath::stream::{SoapMatcher, StreamSet};
use portcullis_xml::{
    Charset, Control, Document, Error, ErrorKind, Limit, Limits, Sink, StartTag, Tokenizer, TreeBuilder,
};

use super::envelope::EnvelopeTest;
use super::learning::Learned;
use super::tee::Tee;
use super::whole::WholeDocument;
use super::{BodyReader, Undecidable};
use crate::rules::{Rules, Ruling};

/// An XML body that is being read.
#[derive(Debug)]
pub(crate) struct EnvelopeReading {
    tokenizer: Tokenizer,
    matcher: SoapMatcher<Rc<StreamSet>>,
    binding: Binding,
    charset: Option<Charset>,
    learned: Learned,
    /// How many bytes have been read.
    read: usize,
    /// What becomes of it for policies that want it too.
    tree: Tree,
    /// What all of this takes, with the bytes that the host holds.
    memory: HeldMemory,
}

/// A tree that is made of a body on the way.
#[derive(Debug)]
enum Tree {
    Unwanted,
    Growing(Box<TreeBuilder>),
    Whole(Box<Document>),
}

/// Whether another policy wants what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    None,
    /// One does, and makes trees of so many nodes at the most.
    Policy {
        nodes: u32,
    },
}

impl EnvelopeReading {
    /// Begins to read a body, to run these of the reader's tests on it.
    pub(crate) fn new(
        reader: &BodyReader,
        open: Vec<usize>,
        binding: Binding,
        charset: Option<Charset>,
        audience: Audience,
    ) -> Self {
        let tokenizer = Tokenizer::new(&reader.limits);
        let mut matcher = SoapMatcher::new(Rc::clone(&reader.stream));
        let learned = Learned::new(&reader.envelope, open, &mut matcher, reader.stream.len());
        Self {
            tokenizer: match charset {
                Some(charset) => tokenizer.with_charset(charset),
                None => tokenizer,
            },
            matcher,
            binding,
            charset,
            learned,
            read: 0,
            tree: match audience {
                Audience::None => Tree::Unwanted,
                // It serves both: each looks after its own limit.
                Audience::Policy { nodes } => {
                    let nodes = nodes.max(reader.limits.nodes);
                    let limits = Limits { nodes, ..reader.limits.clone() };
                    Tree::Growing(Box::new(TreeBuilder::new(&limits)))
                }
            },
            memory: HeldMemory::default(),
        }
    }

    /// What has been read, for the policies that want it.
    pub(crate) fn into_shared(self, reader: &BodyReader) -> Option<SharedDocument> {
        let Self { tokenizer, charset, read, tree, memory, .. } = self;
        let tree = match tree {
            Tree::Unwanted => return None,
            Tree::Growing(tree) => SharedTree::Growing { tokenizer: Box::new(tokenizer), tree },
            Tree::Whole(document) => SharedTree::Whole(document),
        };
        Some(SharedDocument { read, charset, limits: reader.limits.clone(), tree, memory })
    }

    /// How many bytes of text it keeps.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.matcher.kept()
    }

    /// Reads on, until the rules are decided.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        reader: &BodyReader,
        rules: &Rules,
        headers: &HeaderList,
    ) -> Result<Ruling, Undecidable> {
        let Self { tokenizer, matcher, binding, learned, read, tree, .. } = self;
        *read = read.saturating_add(chunk.len());
        let mut follower = Follower::new(matcher, binding, learned, reader, rules, headers);
        let fed = match tree {
            Tree::Growing(tree) => tokenizer.feed(chunk, &mut Tee::new(&mut follower, tree)),
            Tree::Unwanted | Tree::Whole(_) => tokenizer.feed(chunk, &mut follower),
        };
        let ruling = follower.conclude(fed)?;
        // What has been decided stays so; nothing more is read.
        if ruling == Ruling::Undecided {
            self.account(reader)?;
        }
        Ok(ruling)
    }

    /// Counts what it takes by now, with what has been read: the host holds that until the rules are decided.
    fn account(&mut self, reader: &BodyReader) -> Result<(), Undecidable> {
        let tree = match &self.tree {
            Tree::Unwanted => 0,
            Tree::Growing(tree) => tree.memory(),
            Tree::Whole(document) => document.memory(),
        };
        let parts = [self.tokenizer.memory(), self.matcher.kept(), tree, self.read];
        let taken = parts.into_iter().fold(0, usize::saturating_add);
        Ok(self.memory.set(taken, reader.max_held_bytes)?)
    }

    /// The body has ended: what is not known now is false, or takes the [whole](Self::finish_with) of it.
    pub(crate) fn finish(
        &mut self,
        reader: &BodyReader,
        rules: &Rules,
        headers: &HeaderList,
    ) -> Result<Ruling, Undecidable> {
        let Self { tokenizer, matcher, binding, learned, tree, .. } = self;
        let mut follower = Follower::new(matcher, binding, learned, reader, rules, headers);
        let finished = match tree {
            Tree::Growing(tree) => tokenizer.finish(&mut Tee::new(&mut follower, tree)),
            Tree::Unwanted | Tree::Whole(_) => tokenizer.finish(&mut follower),
        };
        let finished = finished.map(|()| Control::Continue);
        match follower.conclude(finished)? {
            Ruling::Undecided => {}
            ruling => return Ok(ruling),
        }
        matcher.finish();
        let mut follower = Follower::new(matcher, binding, learned, reader, rules, headers);
        follower.learn();
        follower.conclude(Ok(Control::Continue))
    }

    /// The body has ended, and what is not known now takes the whole of it: the tree, if there is one, or else what
    /// `bytes` gives.
    pub(crate) fn finish_with<E: From<Undecidable>>(
        &mut self,
        bytes: impl FnOnce() -> Result<Vec<u8>, E>,
        reader: &BodyReader,
        rules: &Rules,
        headers: &HeaderList,
    ) -> Result<Ruling, E> {
        match core::mem::replace(&mut self.tree, Tree::Unwanted) {
            Tree::Growing(tree) => {
                let document = tree.finish().map_err(|_| Undecidable::TooLarge)?;
                if document.len() > usize::try_from(reader.limits.nodes).unwrap_or(usize::MAX) {
                    return Err(Undecidable::TooLarge.into());
                }
                let mut document = WholeDocument::of(document, self.read);
                let ruling = self.rule_by(&mut document, reader, rules, headers)?;
                self.tree = Tree::Whole(Box::new(document.into_document()));
                Ok(ruling)
            }
            Tree::Unwanted | Tree::Whole(_) => {
                let mut document = WholeDocument::parse(&bytes()?, self.charset, &reader.limits)?;
                Ok(self.rule_by(&mut document, reader, rules, headers)?)
            }
        }
    }

    fn rule_by(
        &mut self,
        document: &mut WholeDocument,
        reader: &BodyReader,
        rules: &Rules,
        headers: &HeaderList,
    ) -> Result<Ruling, Undecidable> {
        loop {
            match self.learned.rule(rules, headers)? {
                Ruling::Undecided => {}
                ruling => return Ok(ruling),
            }
            let waits_for = self.learned.waits_for(rules, headers);
            let mut tests = waits_for.into_iter().filter_map(|at| Some((at, reader.envelope.get(at)?)));
            let Some((at, expression, value)) = tests.find_map(|(at, test)| match test {
                EnvelopeTest::Tree { expression, value } => Some((at, expression, value)),
                _ => None,
            }) else {
                return Ok(Ruling::Undecided);
            };
            self.learned.learn(at, document.verdict(expression, value.as_ref()));
        }
    }
}

/// Lets the rules decide with every token.
struct Follower<'a> {
    matcher: &'a mut SoapMatcher<Rc<StreamSet>>,
    binding: &'a Binding,
    learned: &'a mut Learned,
    reader: &'a BodyReader,
    rules: &'a Rules,
    headers: &'a HeaderList,
    state: Result<Ruling, Undecidable>,
    known: Known,
}

/// How much is known of an envelope. As long as it is the same, no test comes out otherwise than before.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    /// Expressions that are not decided, what the document is, and whether its operation is known; nothing before the
    /// first look.
    stage: Option<(usize, Recognition, Discriminant<Operation>)>,
}

impl Known {
    /// Looks again. Says whether there is more than there was.
    fn update(&mut self, matcher: &SoapMatcher<Rc<StreamSet>>) -> bool {
        let outline = matcher.outline();
        let stage = Some((matcher.undecided(), outline.recognition(), discriminant(outline.operation())));
        core::mem::replace(&mut self.stage, stage) != stage
    }
}

impl<'a> Follower<'a> {
    fn new(
        matcher: &'a mut SoapMatcher<Rc<StreamSet>>,
        binding: &'a Binding,
        learned: &'a mut Learned,
        reader: &'a BodyReader,
        rules: &'a Rules,
        headers: &'a HeaderList,
    ) -> Self {
        Self {
            matcher,
            binding,
            learned,
            reader,
            rules,
            headers,
            state: Ok(Ruling::Undecided),
            known: Known::default(),
        }
    }

    fn conclude(self, read: Result<Control, Error>) -> Result<Ruling, Undecidable> {
        match (self.state, read) {
            (Ok(Ruling::Undecided), Err(error)) => Err(undecidable(&error)),
            // What has been decided before something turned out to be wrong stays decided.
            (state, _) => state,
        }
    }

    /// Looks what the last token has told.
    fn learn(&mut self) -> Control {
        match self.look() {
            Ok(Ruling::Undecided) => Control::Continue,
            state => {
                self.state = state;
                Control::Stop
            }
        }
    }

    fn look(&mut self) -> Result<Ruling, Undecidable> {
        let outline = self.matcher.outline();
        if self.binding.check(outline.recognition()).is_err() || outline.violation().is_some() {
            return Err(Undecidable::Malformed);
        }
        if !self.known.update(self.matcher) {
            return Ok(Ruling::Undecided);
        }
        if !self.learned.look(&self.reader.envelope, self.matcher) {
            return Ok(Ruling::Undecided);
        }
        self.learned.rule(self.rules, self.headers)
    }
}

pub(super) fn undecidable(error: &Error) -> Undecidable {
    match error.kind {
        ErrorKind::LimitExceeded(Limit::DocumentBytes | Limit::TextBytes, _) => Undecidable::TooLarge,
        ErrorKind::UnsupportedEncoding(_) => Undecidable::ContentType,
        _ => Undecidable::Malformed,
    }
}

impl Sink for Follower<'_> {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.matcher.start(tag);
        self.learn()
    }

    fn end(&mut self) -> Control {
        self.matcher.end();
        self.learn()
    }

    fn text(&mut self, text: &str) -> Control {
        self.matcher.text(text);
        self.learn()
    }

    fn comment(&mut self, text: &str) -> Control {
        self.matcher.comment(text);
        self.learn()
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.matcher.processing_instruction(target, data);
        self.learn()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_xml::soap::Version;
    use portcullis_xml::xpath::stream::StreamExpression;
    use portcullis_xml::{Limits, Namespaces, XPath};

    use super::*;

    /// Counts the tokens, and those with which more is known than before.
    struct Counting {
        matcher: SoapMatcher<Rc<StreamSet>>,
        known: Known,
        tokens: usize,
        looks: usize,
    }

    impl Counting {
        fn count(&mut self) -> Control {
            self.tokens = self.tokens.saturating_add(1);
            self.looks = self.looks.saturating_add(usize::from(self.known.update(&self.matcher)));
            Control::Continue
        }
    }

    impl Sink for Counting {
        fn start(&mut self, tag: &StartTag<'_>) -> Control {
            self.matcher.start(tag);
            self.count()
        }

        fn end(&mut self) -> Control {
            self.matcher.end();
            self.count()
        }

        fn text(&mut self, text: &str) -> Control {
            self.matcher.text(text);
            self.count()
        }
    }

    #[test]
    fn tests_are_looked_at_when_more_is_known_and_not_with_every_token() {
        let namespaces = Namespaces::from_iter([("e", Version::V1_1.namespace())]);
        let expressions = ["/e:Envelope/e:Header/a", "/e:Envelope/e:Body/b/c", "/e:Envelope/e:Body/b/d"]
            .map(|path| StreamExpression::compile(&XPath::compile(path, &namespaces).unwrap()).unwrap());
        let document = format!(
            "<e:Envelope xmlns:e='{}'><e:Header>{}</e:Header><e:Body><b>{}<c>1</c>{}</b></e:Body></e:Envelope>",
            Version::V1_1.namespace(),
            "<x>text</x>".repeat(500),
            "<x>text</x>".repeat(500),
            "<x>text</x>".repeat(500),
        );
        let matcher = SoapMatcher::new(Rc::new(StreamSet::new(expressions, 1024)));
        let mut counting = Counting { matcher, known: Known::default(), tokens: 0, looks: 0 };
        let mut tokenizer = Tokenizer::new(&Limits::default());
        tokenizer.feed(document.as_bytes(), &mut counting).unwrap();
        tokenizer.finish(&mut counting).unwrap();
        assert_eq!(counting.tokens, 4511);
        // The Envelope, the end of the Header, the operation, the end of c, and that of the Body.
        assert_eq!(counting.looks, 5);
    }
}
