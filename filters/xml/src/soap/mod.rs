//! SOAP 1.1 and 1.2: which of the two a message is, what it asks for, and faults in its own language.
//!
//! What the HTTP headers say of a message is its [`Binding`]; what its document says is its [`Outline`], found out while
//! the document is tokenized. [`Binding::check`] tells whether the two agree.
//!
//! Sources: *Simple Object Access Protocol (SOAP) 1.1*, W3C Note of 8 May 2000; *SOAP Version 1.2 Part 1: Messaging
//! Framework* and *Part 2: Adjuncts*, second edition, W3C Recommendations of 27 April 2007; RFC 3902.

mod action;
mod binding;
mod fault;
mod media_type;
mod outline;
mod version;

pub use action::Action;
pub use binding::{Binding, BindingError, Disagreement};
pub use fault::{Code, DetailEntry, Fault, InvalidName};
pub use media_type::{MediaType, MediaTypeError};
pub use outline::{Operation, Outline, Place, QName, Recognition, Violation};
pub use version::Version;
