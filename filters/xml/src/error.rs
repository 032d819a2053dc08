//! Why a document is refused, and where.

use core::fmt;

use crate::encoding::Charset;
use crate::limits::Limit;

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1. A line ends with CR LF, LF or CR (XML 1.0, section 2.11).
    pub line: u64,
    /// The column in characters (Unicode scalar values), from 1. A byte order mark has no column.
    pub column: u64,
    /// Bytes of the document, as transferred, before this place.
    pub offset: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A document that is not well-formed, goes beyond a limit, or is of a kind that is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where: at the first character that could not stand there, or at the name or reference that is at fault.
    pub position: Position,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.kind)
    }
}

impl core::error::Error for Error {}

/// What stands where something else should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A character.
    Char(char),
    /// The end of the document.
    End,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(c) => write!(f, "{c:?}"),
            Self::End => f.write_str("the end of the document"),
        }
    }
}

/// What is wrong with a document. Names from the document are cut to 64 characters; values and text never appear.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The grammar wants something else here.
    Unexpected {
        /// What there is.
        found: Found,
        /// What could be here.
        expected: &'static str,
    },
    /// A document type declaration. Whatever it declares, it is refused.
    DocumentType,
    /// A character that no XML document may contain (XML 1.0, production 2).
    IllegalCharacter(char),
    /// A character reference to what is not a character of XML (XML 1.0, section 4.1, "Legal Character").
    IllegalReference,
    /// A reference to an entity other than `amp`, `lt`, `gt`, `apos` and `quot`.
    UndefinedEntity(Box<str>),
    /// An end tag with a name other than that of the innermost open element, which is given.
    EndTagMismatch(Box<str>),
    /// The document ends within the named element.
    UnclosedElement(Box<str>),
    /// Two attributes or declarations of one element have the same expanded name.
    DuplicateAttribute(Box<str>),
    /// A prefix that no namespace is bound to.
    UnboundPrefix(Box<str>),
    /// A name or a declaration breaks a rule of Namespaces in XML 1.0.
    Namespace(NamespaceRule),
    /// `<?xml` elsewhere than at the very start, or another processing instruction's target that reads `xml` in any
    /// case (XML 1.0, section 2.6).
    ReservedTarget,
    /// Bytes that are not text in the document's encoding.
    InvalidEncoding(Charset),
    /// An encoding that is not supported; its declared name, if it has one.
    UnsupportedEncoding(Option<Box<str>>),
    /// A document that is said to be in UTF-16, or looks so, without the byte order mark that it must begin with (XML
    /// 1.0, section 4.3.3), and without word of its byte order.
    MissingByteOrderMark,
    /// Byte order mark, XML declaration and content type do not agree on the encoding.
    ConflictingEncodings {
        /// How the document is encoded according to what comes first in precedence.
        actual: Charset,
        /// What the other source says.
        declared: Charset,
    },
    /// The document goes beyond a limit, the value of which is given.
    LimitExceeded(Limit, u64),
}

/// A name from the document as it appears in errors.
pub(crate) fn excerpt(name: &str) -> Box<str> {
    let end = name.char_indices().nth(64).map_or(name.len(), |(end, _)| end);
    name.get(..end).unwrap_or_default().into()
}

/// A rule of Namespaces in XML 1.0 that is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamespaceRule {
    /// Names have at most one colon, and something on both sides of it (section 4); those of processing instructions
    /// and entities have none (section 7).
    Colon,
    /// The prefix `xmlns` may be neither declared nor given to an element (section 3).
    XmlnsPrefix,
    /// The prefix `xml` may be bound to no other namespace (section 3).
    XmlPrefix,
    /// No other prefix may be bound to the namespace of `xml`, nor may it be the default (section 3).
    XmlNamespace,
    /// Nothing may be bound to the namespace of `xmlns` (section 3).
    XmlnsNamespace,
    /// A prefix may not be undeclared (section 5).
    UndeclaredPrefix,
}

impl fmt::Display for NamespaceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Colon => "a name that is not a qualified name: expected at most one colon, within the name",
            Self::XmlnsPrefix => "the prefix 'xmlns' is reserved",
            Self::XmlPrefix => "the prefix 'xml' cannot be bound to another namespace",
            Self::XmlNamespace => "the namespace of 'xml' cannot be bound to another prefix",
            Self::XmlnsNamespace => "the namespace of 'xmlns' cannot be bound",
            Self::UndeclaredPrefix => "a prefix cannot be undeclared: expected a namespace name",
        })
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found, expected } => write!(f, "found {found}, expected {expected}"),
            Self::DocumentType => f.write_str("a document type declaration, which is not accepted"),
            Self::IllegalCharacter(c) => write!(f, "U+{:04X} is not a character of XML", u32::from(*c)),
            Self::IllegalReference => f.write_str("a reference to what is not a character of XML"),
            Self::UndefinedEntity(name) => {
                write!(f, "the entity '{name}' is not defined: expected amp, lt, gt, apos or quot")
            }
            Self::EndTagMismatch(open) => write!(f, "an end tag of another element, expected </{open}>"),
            Self::UnclosedElement(open) => write!(f, "the document ends too early, expected </{open}>"),
            Self::DuplicateAttribute(name) => write!(f, "a second attribute '{name}' of one element"),
            Self::UnboundPrefix(prefix) => write!(f, "no namespace is bound to the prefix '{prefix}'"),
            Self::Namespace(rule) => rule.fmt(f),
            Self::ReservedTarget => f.write_str(
                "the target 'xml' is reserved, and the XML declaration stands first or not at all",
            ),
            Self::InvalidEncoding(charset) => write!(f, "bytes that are not text in {charset}"),
            Self::UnsupportedEncoding(Some(name)) => write!(f, "the encoding '{name}' is not supported"),
            Self::UnsupportedEncoding(None) => f.write_str("an encoding that is not supported"),
            Self::MissingByteOrderMark => {
                f.write_str("a document in UTF-16, expected a byte order mark first")
            }
            Self::ConflictingEncodings { actual, declared } => {
                write!(f, "the document is in {actual}, but is declared to be in {declared}")
            }
            Self::LimitExceeded(limit, value) => write!(f, "more than {value} {limit}"),
        }
    }
}
