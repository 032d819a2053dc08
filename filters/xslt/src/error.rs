//! What is wrong with a stylesheet, or went wrong when it was applied.

use core::fmt;

use portcullis_xml::xpath;

use crate::limits::Bound;

/// A place in a stylesheet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The name of the included or imported document; `None` for the stylesheet itself.
    pub document: Option<Box<str>>,
    /// The line of the instruction's start tag, from 1.
    pub line: u32,
    /// The column, in characters from 1.
    pub column: u32,
    /// The instruction as it is written, such as `xsl:value-of`; empty if none is at fault.
    pub instruction: Box<str>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(document) = &self.document {
            write!(f, "{document}:")?;
        }
        write!(f, "{}:{}", self.line, self.column)?;
        if self.instruction.is_empty() { Ok(()) } else { write!(f, ": <{}>", self.instruction) }
    }
}

/// Why a stylesheet does not compile.
#[derive(Debug, Clone, PartialEq)]
pub struct CompileError {
    /// Where.
    pub place: Place,
    /// What it is.
    pub kind: CompileErrorKind,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl core::error::Error for CompileError {}

/// What is wrong with a stylesheet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CompileErrorKind {
    /// A document is not well-formed, or is beyond a limit.
    Xml(portcullis_xml::ErrorKind),
    /// Neither `xsl:stylesheet` nor `xsl:transform`, and without `xsl:version`: no stylesheet.
    NotAStylesheet,
    /// Part of the language or an extension of it, but not of what is supported.
    Refused {
        /// What it is.
        what: Box<str>,
        /// What to do about it.
        instead: &'static str,
    },
    /// XSLT has no such element, or not here.
    Unexpected {
        /// What stands there.
        found: Box<str>,
        /// What may stand there.
        expected: &'static str,
    },
    /// An attribute that is required is not there.
    MissingAttribute(&'static str),
    /// An attribute that the element does not have.
    UnknownAttribute(Box<str>),
    /// The value of an attribute is not one that it can have.
    AttributeValue {
        /// The attribute.
        attribute: Box<str>,
        /// What its value must be.
        expected: &'static str,
    },
    /// An expression or a pattern does not compile.
    Expression {
        /// The attribute that holds it.
        attribute: Box<str>,
        /// What is wrong with it; the column is counted from the beginning of the expression.
        error: xpath::CompileError,
    },
    /// A location path that is no pattern (XSLT 1.0, section 5.2).
    Pattern {
        /// The attribute that holds it.
        attribute: Box<str>,
        /// What a pattern cannot have.
        reason: &'static str,
    },
    /// A result tree fragment is used as a node-set.
    TreeFragment {
        /// The attribute that holds the expression.
        attribute: Box<str>,
    },
    /// No namespace is bound to the prefix.
    UndeclaredPrefix(Box<str>),
    /// Nothing has the name that is referred to.
    NotFound {
        /// What kind of thing is looked for.
        what: &'static str,
        /// Its name.
        name: Box<str>,
    },
    /// Two things have one name.
    Duplicate {
        /// What kind of things they are.
        what: &'static str,
        /// Their name.
        name: Box<str>,
    },
    /// A definition needs itself.
    Circular {
        /// What kind of thing it is.
        what: &'static str,
        /// Its name.
        name: Box<str>,
    },
    /// Two definitions that must not differ do (decimal formats, output).
    Conflict {
        /// What kind of thing they define.
        what: &'static str,
    },
    /// There is more of something than is allowed.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: usize,
    },
}

impl fmt::Display for CompileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xml(kind) => write!(f, "{kind}"),
            Self::NotAStylesheet => f.write_str(
                "expected xsl:stylesheet or xsl:transform in the namespace http://www.w3.org/1999/XSL/Transform, \
                 or an element with xsl:version",
            ),
            Self::Refused { what, instead } => write!(f, "{what} is not supported: {instead}"),
            Self::Unexpected { found, expected } => write!(f, "found {found}, expected {expected}"),
            Self::MissingAttribute(name) => write!(f, "the attribute '{name}' is missing"),
            Self::UnknownAttribute(name) => write!(f, "there is no attribute '{name}' here"),
            Self::AttributeValue { attribute, expected } => {
                write!(f, "the value of '{attribute}' is not {expected}")
            }
            Self::Expression { attribute, error } => write!(f, "{attribute}: {error}"),
            Self::Pattern { attribute, reason } => write!(f, "{attribute}: no pattern: {reason}"),
            Self::TreeFragment { attribute } => write!(
                f,
                "{attribute}: a variable with content is a result tree fragment, not a node-set: \
                 use it as a string or with xsl:copy-of, or give the variable a 'select'"
            ),
            Self::UndeclaredPrefix(prefix) => write!(f, "no namespace is bound to the prefix '{prefix}'"),
            Self::NotFound { what, name } => write!(f, "there is no {what} '{name}'"),
            Self::Duplicate { what, name } => write!(f, "there is more than one {what} '{name}'"),
            Self::Circular { what, name } => write!(f, "the {what} '{name}' needs itself"),
            Self::Conflict { what } => write!(f, "there is more than one {what}, and they differ"),
            Self::TooMany { what, limit } => write!(f, "more than {limit} {what}"),
        }
    }
}

/// Why a transformation has no result.
#[derive(Debug, Clone, PartialEq)]
pub struct TransformError {
    /// The instruction that could not be carried out.
    pub place: Place,
    /// What kept it from being carried out.
    pub kind: TransformErrorKind,
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl core::error::Error for TransformError {}

/// What went wrong in a transformation. Nothing of the source document appears in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TransformErrorKind {
    /// It takes more than it may: the bound, and its value.
    LimitExceeded(Bound, u64),
    /// An expression could not be evaluated.
    Evaluate(xpath::EvaluateError),
    /// A node-set is needed, and there is something else.
    NotNodes,
    /// A computed name is not a name, or has a prefix that nothing is bound to.
    Name(&'static str),
    /// `xsl:apply-imports` where no template rule is the current one.
    NoCurrentRule,
    /// The result cannot be written, for this reason.
    Result(Box<str>),
    /// A global variable or parameter needs its own value.
    CircularVariable,
    /// A value computed for an instruction is not one that it takes.
    Value {
        /// The attribute.
        attribute: &'static str,
        /// What its value must be.
        expected: &'static str,
    },
    /// An instruction that does not exist in XSLT 1.0, in a stylesheet of a later version.
    UnknownInstruction,
    /// `xsl:message` with `terminate="yes"`.
    Terminated,
}

impl fmt::Display for TransformErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LimitExceeded(bound, limit) => write!(f, "more than {limit} {bound}"),
            Self::Evaluate(error) => error.fmt(f),
            Self::NotNodes => {
                f.write_str("expected a node-set, found a value of another type or a result tree fragment")
            }
            Self::Name(reason) => write!(f, "the computed name cannot be used: {reason}"),
            Self::NoCurrentRule => f.write_str(
                "there is no current template rule: xsl:apply-imports cannot be used in xsl:for-each",
            ),
            Self::Result(reason) => f.write_str(reason),
            Self::CircularVariable => f.write_str("a global variable needs its own value"),
            Self::Value { attribute, expected } => write!(f, "the value of '{attribute}' is not {expected}"),
            Self::UnknownInstruction => {
                f.write_str("XSLT 1.0 has no such instruction, and it has no xsl:fallback")
            }
            Self::Terminated => f.write_str("the stylesheet ended the transformation by xsl:message"),
        }
    }
}
