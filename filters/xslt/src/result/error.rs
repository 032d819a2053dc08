//! Why a result cannot be written.

use core::fmt;

/// What is wrong with a result. Neither names nor values of the document appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum ResultError {
    /// The output has more than this many bytes.
    OutputTooLarge(usize),
    /// The temporary trees and strings that are being built have more than this many bytes together.
    CapturesTooLarge(usize),
    /// A temporary tree has more than this many nodes.
    FragmentTooLarge(usize),
    /// More than this many attributes are written to one element.
    TooManyAttributes(usize),
    /// The stylesheet names no output method, and the result's first element is `html` in no namespace: the method
    /// would be `html` (XSLT 1.0, section 16), which is not supported.
    HtmlByDefault,
    /// A name in the namespace `http://www.w3.org/2000/xmlns/`, which no prefix can stand for.
    ReservedNamespace,
    /// A capture ends that was not begun, or is not the one that was begun last: a defect of the caller.
    Unbalanced,
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutputTooLarge(limit) => write!(f, "the output has more than {limit} bytes"),
            Self::CapturesTooLarge(limit) => {
                write!(f, "temporary trees and strings have more than {limit} bytes")
            }
            Self::FragmentTooLarge(limit) => write!(f, "a temporary tree has more than {limit} nodes"),
            Self::TooManyAttributes(limit) => write!(f, "more than {limit} attributes are written to one element"),
            Self::HtmlByDefault => f.write_str(
                "the result's first element is 'html', for which the output method would be html, which is not \
                 supported: say <xsl:output method=\"xml\"/>",
            ),
            Self::ReservedNamespace => {
                f.write_str("a name in the namespace http://www.w3.org/2000/xmlns/, which is reserved")
            }
            Self::Unbalanced => f.write_str("the end of a capture that is not the innermost one"),
        }
    }
}

impl core::error::Error for ResultError {}
