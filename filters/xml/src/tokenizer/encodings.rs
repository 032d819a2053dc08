//! What the document says about its encoding, held against what is known already.

use crate::encoding::{Basis, Charset};
use crate::error::{ErrorKind, excerpt};

/// The encoding that is read, why, and the one to go over to.
#[derive(Debug)]
pub(super) struct Encodings {
    charset: Charset,
    basis: Basis,
    declared: Option<Charset>,
}

impl Default for Encodings {
    fn default() -> Self {
        Self { charset: Charset::Utf8, basis: Basis::Default, declared: None }
    }
}

impl Encodings {
    /// What the document is read as, from its beginning.
    pub(super) fn establish(&mut self, charset: Charset, basis: Basis) {
        (self.charset, self.basis) = (charset, basis);
    }

    /// The encoding to go over to behind the XML declaration, once.
    pub(super) fn take_declared(&mut self) -> Option<Charset> {
        self.declared.take()
    }

    /// Nothing is declared. Then UTF-16 needs a byte order mark, or a content type (XML 1.0, section 4.3.3).
    pub(super) fn without_declaration(&self) -> Result<(), ErrorKind> {
        match self.basis {
            Basis::Pattern => Err(ErrorKind::MissingByteOrderMark),
            Basis::Mark | Basis::ContentType | Basis::Default => Ok(()),
        }
    }

    /// The XML declaration names an encoding.
    pub(super) fn declare(&mut self, label: &str) -> Result<(), ErrorKind> {
        let Some(declared) = Charset::from_label(label) else {
            return Err(ErrorKind::UnsupportedEncoding(Some(excerpt(label))));
        };
        let actual = self.charset;
        match (self.basis, declared) {
            (Basis::Default, Charset::Utf8 | Charset::Latin1 | Charset::Ascii) => {
                self.declared = Some(declared);
                Ok(())
            }
            _ if declared == actual => Ok(()),
            (Basis::Mark, Charset::Utf16) if actual.is_utf16() => Ok(()),
            (_, Charset::Utf16) if actual.is_utf16() => Err(ErrorKind::MissingByteOrderMark),
            _ => Err(ErrorKind::ConflictingEncodings { actual, declared }),
        }
    }
}
