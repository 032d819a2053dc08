//! Where the tokens of a document stand in a SOAP envelope.

use core::fmt;

use super::version::Version;
use crate::token::{Control, Name, NamespaceId, Sink, StartTag};

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognition {
    /// Its document element has not begun.
    Pending,
    /// The document element is the `Envelope` of a version.
    Envelope(Version),
    /// The document element is called `Envelope`, but its namespace is of no known version.
    UnknownVersion,
    /// Some other document element.
    NotSoap,
}

/// Where in the envelope the tokens have come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before the Header, or the Body where there is no Header. It is also where a document is that is no envelope.
    BeforeHeader,
    /// In the Header.
    Header,
    /// Between Header and Body.
    BeforeBody,
    /// In the Body.
    Body,
    /// Behind the Body.
    AfterBody,
    /// Behind the Envelope.
    AfterEnvelope,
}

/// The first element of the Body, which tells what the message asks for or answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// It has not come yet.
    Pending,
    /// It is this one. A fault too is an operation: `Fault` in the envelope's namespace.
    Element(QName),
    /// There is none: the Body is empty, or there is no Body.
    None,
}

/// An expanded name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QName {
    /// The namespace's URI, empty for none.
    pub namespace: String,
    /// The local name.
    pub local: String,
}

/// In what way an envelope is malformed (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// A second Header.
    RepeatedHeader,
    /// A Header behind the Body.
    HeaderAfterBody,
    /// A second Body.
    RepeatedBody,
    /// Another element before the Body.
    ElementBeforeBody,
    /// Another element behind the Body: any in SOAP 1.2, one without a namespace in SOAP 1.1.
    ElementAfterBody,
    /// No Body.
    NoBody,
    /// Text other than white space directly in the Envelope, the Header or the Body.
    Text,
    /// A processing instruction.
    ProcessingInstruction,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepeatedHeader => "the envelope has a second Header",
            Self::HeaderAfterBody => "the envelope has a Header behind its Body",
            Self::RepeatedBody => "the envelope has a second Body",
            Self::ElementBeforeBody => "the envelope has an element before its Body that is not its Header",
            Self::ElementAfterBody => "the envelope has an element behind its Body that must not be there",
            Self::NoBody => "the envelope has no Body",
            Self::Text => "the envelope has text between its elements",
            Self::ProcessingInstruction => "the envelope has a processing instruction",
        })
    }
}

/// Recognises SOAP while a document is tokenized.
///
/// As a [`Sink`] it never asks to stop: whoever owns it asks what it has found after each token, and decides. What it
/// has found does not change any more, but for [`violation`](Self::violation), which only the whole document can rule out.
///
/// Of the rules for envelopes it checks the order and number of the parts, not their attributes, nor whether header
/// blocks have a namespace.
#[derive(Debug, Clone)]
pub struct Outline {
    recognition: Recognition,
    place: Place,
    operation: Operation,
    violation: Option<Violation>,
    envelope: NamespaceId,
    /// How many elements are open.
    depth: u32,
    instructed: bool,
}

impl Default for Outline {
    fn default() -> Self {
        Self::new()
    }
}

impl Outline {
    /// The outline of a document of which nothing is known yet.
    pub const fn new() -> Self {
        Self {
            recognition: Recognition::Pending,
            place: Place::BeforeHeader,
            operation: Operation::Pending,
            violation: None,
            envelope: NamespaceId::NONE,
            depth: 0,
            instructed: false,
        }
    }

    /// What the document is; known with its document element's start tag.
    pub fn recognition(&self) -> Recognition {
        self.recognition
    }

    /// The version, if the document is an envelope of a known one.
    pub fn version(&self) -> Option<Version> {
        match self.recognition {
            Recognition::Envelope(version) => Some(version),
            Recognition::Pending | Recognition::UnknownVersion | Recognition::NotSoap => None,
        }
    }

    /// Where the tokens have come to.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The first element of the Body; known with its start tag, and with the end of a Body that has none. It stays
    /// pending in a document that is no envelope.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The first rule that the envelope has broken so far.
    pub fn violation(&self) -> Option<Violation> {
        self.violation
    }

    /// Whether an element may still come as a child of the Envelope if the envelope keeps to the rules: `namespace` and
    /// `local` are its name, or `None` where any would do. Known to be false as soon as it is for an envelope that has
    /// broken no rule; one that has broken a rule rules nothing out.
    pub(crate) fn may_follow(&self, namespace: Option<&str>, local: Option<&str>) -> bool {
        let Some(version) = self.version().filter(|_| self.violation.is_none()) else {
            return true;
        };
        if self.place == Place::AfterEnvelope {
            return false;
        }
        let of_envelope = namespace.is_none_or(|namespace| namespace == version.namespace());
        let part = |name: &str| of_envelope && local.is_none_or(|local| local == name);
        let header = self.place == Place::BeforeHeader && part("Header");
        let body = self.place <= Place::BeforeBody && part("Body");
        // Behind the Body, SOAP 1.1 allows elements that have a namespace; that of the envelope has none to offer but
        // these two, though it does not say that it must not.
        let other = version == Version::V1_1
            && namespace.is_none_or(|namespace| !namespace.is_empty())
            && !(namespace == Some(version.namespace()) && matches!(local, Some("Header" | "Body")));
        header || body || other
    }

    fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }

    fn document_element(&mut self, name: Name<'_>) {
        self.recognition = match Version::from_namespace(name.namespace) {
            _ if name.local != "Envelope" => Recognition::NotSoap,
            Some(version) => Recognition::Envelope(version),
            None => Recognition::UnknownVersion,
        };
        self.envelope = name.namespace_id;
        if self.version().is_some() && self.instructed {
            self.violate(Violation::ProcessingInstruction);
        }
    }

    /// A child of the Envelope begins.
    fn part(&mut self, name: Name<'_>, version: Version) {
        let part = (name.namespace_id == self.envelope).then_some(name.local);
        match (part, self.place) {
            (Some("Header"), Place::BeforeHeader) => self.place = Place::Header,
            (Some("Body"), Place::BeforeHeader | Place::BeforeBody) => self.place = Place::Body,
            (Some("Header"), Place::BeforeBody) => self.violate(Violation::RepeatedHeader),
            (Some("Header"), _) => self.violate(Violation::HeaderAfterBody),
            (Some("Body"), _) => self.violate(Violation::RepeatedBody),
            (_, Place::AfterBody) => {
                if version == Version::V1_2 || name.namespace_id == NamespaceId::NONE {
                    self.violate(Violation::ElementAfterBody);
                }
            }
            _ => self.violate(Violation::ElementBeforeBody),
        }
    }

    /// A child of a child of the Envelope begins.
    fn block(&mut self, name: Name<'_>) {
        if self.place == Place::Body && self.operation == Operation::Pending {
            let (namespace, local) = (name.namespace.to_owned(), name.local.to_owned());
            self.operation = Operation::Element(QName { namespace, local });
        }
    }

    /// A child of the Envelope has ended.
    fn part_ended(&mut self) {
        match self.place {
            Place::Header => self.place = Place::BeforeBody,
            Place::Body => {
                self.place = Place::AfterBody;
                self.no_more_operation();
            }
            _ => {}
        }
    }

    fn envelope_ended(&mut self) {
        if self.place < Place::AfterBody {
            self.violate(Violation::NoBody);
        }
        self.place = Place::AfterEnvelope;
        self.no_more_operation();
    }

    fn no_more_operation(&mut self) {
        if self.operation == Operation::Pending {
            self.operation = Operation::None;
        }
    }
}

impl Sink for Outline {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        match (self.depth, self.version()) {
            (0, _) => self.document_element(tag.name()),
            (1, Some(version)) => self.part(tag.name(), version),
            (2, Some(_)) => self.block(tag.name()),
            _ => {}
        }
        self.depth = self.depth.saturating_add(1);
        Control::Continue
    }

    fn end(&mut self) -> Control {
        self.depth = self.depth.saturating_sub(1);
        match (self.depth, self.version()) {
            (1, Some(_)) => self.part_ended(),
            (0, Some(_)) => self.envelope_ended(),
            _ => {}
        }
        Control::Continue
    }

    fn text(&mut self, text: &str) -> Control {
        let between_elements = match self.depth {
            1 => true,
            2 => matches!(self.place, Place::Header | Place::Body),
            _ => false,
        };
        if between_elements
            && self.version().is_some()
            && self.violation.is_none()
            && !text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        {
            self.violate(Violation::Text);
        }
        Control::Continue
    }

    fn processing_instruction(&mut self, _target: &str, _data: &str) -> Control {
        self.instructed = true;
        if self.version().is_some() {
            self.violate(Violation::ProcessingInstruction);
        }
        Control::Continue
    }
}
