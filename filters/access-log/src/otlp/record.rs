//! What a log record holds.

use portcullis_policy::time::Timestamp;

/// One log record, less its attributes.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// When what is logged began.
    pub time: Timestamp,
    /// When it was logged.
    pub observed: Timestamp,
    /// How much it matters.
    pub severity: Severity,
    /// The formatted line. Bytes that are not UTF-8 are written as the text `\xNN`. A line with which
    /// the record would not fit a batch of its own, of `max_batch_bytes`, is cut and ends in `…`.
    pub body: &'a [u8],
    /// The request's `traceparent` header (W3C Trace Context), which gives the record its trace; one that is not valid
    /// gives it none.
    pub traceparent: Option<&'a [u8]>,
}

/// How much a record matters: the logs data model's short names, each with the least number of its range.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Normal.
    #[default]
    Info,
    /// The client's mistake, or something that the gateway coped with.
    Warn,
    /// A failure.
    Error,
}

impl Severity {
    /// `SeverityNumber`.
    pub const fn number(self) -> u8 {
        match self {
            Self::Info => 9,
            Self::Warn => 13,
            Self::Error => 17,
        }
    }

    /// The severity's name.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AttributeValue<'a> {
    /// Text; longer than `max_attribute_bytes` it is cut, and bytes that are not UTF-8 are written as the text `\xNN`.
    Text(&'a [u8]),
    /// An integer.
    Int(i64),
    /// A number; those that are none are written as the protocol has them: `NaN`, `Infinity`, `-Infinity`.
    Double(f64),
    /// True or false.
    Bool(bool),
}
