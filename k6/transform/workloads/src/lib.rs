//! Stylesheets and messages that transformations are measured with.

mod message;
mod sheet;

pub use message::{MESSAGES, Message, Names, message};
pub use sheet::{SHEETS, Sheet, sheet};
