//! The two versions of SOAP.

use core::fmt;

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// SOAP 1.1.
    V1_1,
    /// SOAP 1.2.
    V1_2,
}

impl Version {
    /// Both, older first.
    pub const ALL: [Self; 2] = [Self::V1_1, Self::V1_2];

    /// The namespace of the version's envelope (SOAP 1.1, section 4.1.2; SOAP 1.2 part 1, section 5.1).
    pub const fn namespace(self) -> &'static str {
        match self {
            Self::V1_1 => "http://schemas.xmlsoap.org/soap/envelope/",
            Self::V1_2 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// The version whose envelope has this namespace.
    pub fn from_namespace(namespace: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// The media type of the version's messages (SOAP 1.1, section 6; RFC 3902).
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::V1_1 => "text/xml",
            Self::V1_2 => "application/soap+xml",
        }
    }

    /// The Content-Type of a message in UTF-8.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::V1_1 => "text/xml; charset=utf-8",
            Self::V1_2 => "application/soap+xml; charset=utf-8",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_1 => "SOAP 1.1",
            Self::V1_2 => "SOAP 1.2",
        })
    }
}
