//! XSLT 1.0: stylesheets that are compiled once, and transformations that are bounded in all that they take.
//!
//! ```
//! use portcullis_xslt::{CompileOptions, NoMessages, Parameters, Stylesheet, TransformLimits};
//!
//! let source = br#"<out xsl:version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
//!     <xsl:value-of select="order/@id"/></out>"#;
//! let stylesheet = Stylesheet::compile(source, &CompileOptions::default())?;
//! let input = stylesheet.parse(br#"<order id="7"/>"#, &portcullis_xml::Limits::default())?;
//! let limits = TransformLimits::default();
//! let output = stylesheet.transform(input, &Parameters::new(), &limits, &mut NoMessages)?;
//! assert!(output.bytes.ends_with(b"<out>7</out>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compile;
mod error;
mod exec;
mod expression;
mod format_number;
mod fragments;
mod functions;
mod limits;
mod messages;
mod number;
mod parameters;
mod pattern;
mod program;
mod qname;
mod result;
mod sort;
mod source;
mod stylesheet;

pub use compile::CompileOptions;
pub use error::{CompileError, CompileErrorKind, Place, TransformError, TransformErrorKind};
pub use limits::{Bound, CompileLimits, TransformLimits};
pub use messages::{MESSAGE_BYTES, Messages, NoMessages};
pub use parameters::{Parameter, Parameters};
pub use source::{Source, SourceBuilder, SourceTree};
pub use stylesheet::{Output, OutputKind, Stylesheet};
