//! What the HTTP headers say of a message, and whether its envelope agrees.

use core::fmt;

use super::action::Action;
use super::fault::Code;
use super::media_type::{MediaType, MediaTypeError};
use super::outline::Recognition;
use super::version::Version;

/// What the HTTP headers say that a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// SOAP 1.1: `text/xml` with the SOAPAction header that the Note demands (section 6.1.1).
    Soap11(Action),
    /// SOAP 1.2: `application/soap+xml` (RFC 3902). A SOAPAction header means nothing here.
    Soap12(Action),
    /// XML by its type, and no more than that. It may hold an envelope.
    Xml,
    /// Anything else, such as JSON, or SOAP with attachments as `multipart/related`.
    Other,
}

/// Why headers say nothing that can be relied upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingError {
    /// More than one Content-Type.
    RepeatedContentType,
    /// A Content-Type that is no media type.
    ContentType(MediaTypeError),
    /// SOAPAction headers that differ.
    RepeatedAction,
    /// A SOAPAction or `action` that cannot be a URI, or that has one quote only.
    Action,
}

impl fmt::Display for BindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedContentType => f.write_str("more than one Content-Type"),
            Self::ContentType(error) => write!(f, "Content-Type: {error}"),
            Self::RepeatedAction => f.write_str("SOAPAction headers that differ"),
            Self::Action => f.write_str("an action that is no URI, in quotes or without"),
        }
    }
}

impl std::error::Error for BindingError {}

impl Binding {
    /// Reads all Content-Type headers and all SOAPAction headers of a request.
    ///
    /// # Errors
    /// What makes them ambiguous or unreadable. The SOAPAction header is looked at only with `text/xml`.
    pub fn of<'a>(
        content_type: impl IntoIterator<Item = &'a [u8]>,
        soap_action: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, BindingError> {
        let mut content_type = content_type.into_iter();
        let Some(value) = content_type.next() else {
            return Ok(Self::Other);
        };
        if content_type.next().is_some() {
            return Err(BindingError::RepeatedContentType);
        }
        let media_type = MediaType::parse(value).map_err(BindingError::ContentType)?;
        Self::of_media_type(&media_type, soap_action)
    }

    /// The same for a Content-Type that has been read, and is the only one.
    ///
    /// # Errors
    /// What is wrong with the action that the headers state.
    pub fn of_media_type<'a>(
        media_type: &MediaType<'_>,
        soap_action: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, BindingError> {
        if media_type.is(Version::V1_2.media_type()) {
            let action = Action::from_parameter(media_type.parameter("action"));
            return action.map(Self::Soap12).ok_or(BindingError::Action);
        }
        if media_type.is(Version::V1_1.media_type()) {
            let mut soap_action = soap_action.into_iter();
            if let Some(action) = soap_action.next() {
                if soap_action.any(|other| other != action) {
                    return Err(BindingError::RepeatedAction);
                }
                let action = Action::from_soap_action(action);
                return action.map(Self::Soap11).ok_or(BindingError::Action);
            }
        }
        Ok(if media_type.is_xml() { Self::Xml } else { Self::Other })
    }

    /// The version that the headers state.
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Soap11(_) => Some(Version::V1_1),
            Self::Soap12(_) => Some(Version::V1_2),
            Self::Xml | Self::Other => None,
        }
    }

    /// The action that the headers state.
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::Soap11(action) | Self::Soap12(action) => Some(action),
            Self::Xml | Self::Other => None,
        }
    }

    /// Compares what the headers state with what the document has turned out to be. Headers that state no version agree
    /// with every document, and what is not known yet disagrees with nothing.
    ///
    /// # Errors
    /// In what way headers and document disagree.
    pub fn check(&self, document: Recognition) -> Result<(), Disagreement> {
        let Some(stated) = self.version() else {
            return Ok(());
        };
        match document {
            Recognition::Envelope(found) if found != stated => Err(Disagreement::Version { stated, found }),
            Recognition::Pending | Recognition::Envelope(_) => Ok(()),
            Recognition::UnknownVersion => Err(Disagreement::UnknownVersion { stated }),
            Recognition::NotSoap => Err(Disagreement::NotAnEnvelope { stated }),
        }
    }
}

/// A document that is not what its headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disagreement {
    /// The headers state one version, the envelope is of the other.
    Version {
        /// What the headers state.
        stated: Version,
        /// What the envelope is.
        found: Version,
    },
    /// An `Envelope` in a namespace of neither version.
    UnknownVersion {
        /// What the headers state.
        stated: Version,
    },
    /// XML whose document element is no `Envelope` at all.
    NotAnEnvelope {
        /// What the headers state.
        stated: Version,
    },
}

impl Disagreement {
    /// The code of the fault that answers it.
    ///
    /// `VersionMismatch` is for an envelope of another namespace (SOAP 1.1, sections 4.1.2 and 4.4); in SOAP 1.2 for any
    /// document element other than the expected one (part 1, section 5.4.6), which to SOAP 1.1 is just a message that
    /// is wrong.
    pub fn code(self) -> Code {
        match self {
            Self::Version { .. } | Self::UnknownVersion { .. } => Code::VersionMismatch,
            Self::NotAnEnvelope { stated: Version::V1_2 } => Code::VersionMismatch,
            Self::NotAnEnvelope { stated: Version::V1_1 } => Code::Sender,
        }
    }

    /// The version in which the fault is written. Where the two versions meet, it is SOAP 1.1, whichever of them the
    /// receiver speaks (SOAP 1.2 part 1, appendix A.1).
    pub fn fault_version(self) -> Version {
        match self {
            Self::Version { .. } => Version::V1_1,
            Self::UnknownVersion { stated } | Self::NotAnEnvelope { stated } => stated,
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { stated, found } => {
                write!(f, "the headers announce {stated}, but the envelope is of {found}")
            }
            Self::UnknownVersion { stated } => {
                write!(
                    f,
                    "the headers announce {stated}, but the envelope's namespace is of no known version"
                )
            }
            Self::NotAnEnvelope { stated } => {
                write!(f, "the headers announce {stated}, but the document is no SOAP envelope")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content_type: &[&str], soap_action: &[&str]) -> Result<Binding, BindingError> {
        Binding::of(
            content_type.iter().map(|value| value.as_bytes()),
            soap_action.iter().map(|value| value.as_bytes()),
        )
    }

    fn uri(text: &str) -> Action {
        Action::Uri(text.to_owned())
    }

    #[test]
    fn reads_version_and_action_from_either_header() {
        for (content_type, soap_action, expected) in [
            ("text/xml", Some("\"urn:a\""), Binding::Soap11(uri("urn:a"))),
            ("text/xml; charset=utf-8", Some("urn:a"), Binding::Soap11(uri("urn:a"))),
            ("text/xml", Some(" \"http://a/b?c#d\" "), Binding::Soap11(uri("http://a/b?c#d"))),
            ("text/xml", Some("\"urn:a,b\""), Binding::Soap11(uri("urn:a,b"))),
            ("text/xml", Some("\"\""), Binding::Soap11(Action::RequestUri)),
            ("text/xml", Some(""), Binding::Soap11(Action::Unstated)),
            ("text/xml", Some(" "), Binding::Soap11(Action::Unstated)),
            ("text/xml", None, Binding::Xml),
            ("application/xml", Some("urn:a"), Binding::Xml),
            ("application/atom+xml", None, Binding::Xml),
            ("application/soap+xml", None, Binding::Soap12(Action::Unstated)),
            ("application/soap+xml; action=\"\"", None, Binding::Soap12(Action::Unstated)),
            ("application/soap+xml; action=\"urn:a\"", None, Binding::Soap12(uri("urn:a"))),
            ("application/soap+xml; Action=urn", Some("urn:b"), Binding::Soap12(uri("urn"))),
            ("application/soap+xml", Some("urn:b"), Binding::Soap12(Action::Unstated)),
            ("application/json", Some("urn:a"), Binding::Other),
            ("multipart/related; type=\"text/xml\"", Some("urn:a"), Binding::Other),
        ] {
            let soap_action: Vec<&str> = soap_action.into_iter().collect();
            assert_eq!(of(&[content_type], &soap_action), Ok(expected), "{content_type} {soap_action:?}");
        }
        assert_eq!(of(&[], &["urn:a"]), Ok(Binding::Other));
    }

    #[test]
    fn refuses_what_two_recipients_could_read_in_two_ways() {
        for (content_type, soap_action, expected) in [
            (vec!["text/xml", "application/soap+xml"], vec![], BindingError::RepeatedContentType),
            (vec!["text/xml, a/b"], vec![], BindingError::ContentType(MediaTypeError::Essence)),
            (vec!["text/xml"], vec!["\"a\"", "\"b\""], BindingError::RepeatedAction),
            (vec!["text/xml"], vec!["\"a\"", "a"], BindingError::RepeatedAction),
            (vec!["text/xml"], vec!["\"a\",\"b\""], BindingError::Action),
            (vec!["text/xml"], vec!["a,b"], BindingError::Action),
            (vec!["text/xml"], vec!["\"a"], BindingError::Action),
            (vec!["text/xml"], vec!["\""], BindingError::Action),
            (vec!["text/xml"], vec!["a b"], BindingError::Action),
            (vec!["application/soap+xml; action=\"a b\""], vec![], BindingError::Action),
            (
                vec!["application/soap+xml; action=\"a\"; action=\"b\""],
                vec![],
                BindingError::ContentType(MediaTypeError::RepeatedParameter),
            ),
        ] {
            assert_eq!(of(&content_type, &soap_action), Err(expected), "{content_type:?} {soap_action:?}");
        }
        assert_eq!(of(&["text/xml"], &["a", "a"]), Ok(Binding::Soap11(uri("a"))));
        let not_utf_8 = Binding::of([&b"text/xml"[..]], [&b"\"urn:\xff\""[..]]);
        assert_eq!(not_utf_8, Err(BindingError::Action));
    }

    #[test]
    fn tells_a_document_that_is_not_what_its_headers_say() {
        use Recognition::{Envelope, NotSoap, Pending, UnknownVersion};
        use Version::{V1_1, V1_2};
        let soap_1_1 = Binding::Soap11(Action::Unstated);
        let soap_1_2 = Binding::Soap12(Action::Unstated);
        for (binding, document, expected) in [
            (&soap_1_1, Envelope(V1_1), None),
            (&soap_1_1, Pending, None),
            (&soap_1_1, Envelope(V1_2), Some((Code::VersionMismatch, V1_1))),
            (&soap_1_1, UnknownVersion, Some((Code::VersionMismatch, V1_1))),
            (&soap_1_1, NotSoap, Some((Code::Sender, V1_1))),
            (&soap_1_2, Envelope(V1_2), None),
            (&soap_1_2, Envelope(V1_1), Some((Code::VersionMismatch, V1_1))),
            (&soap_1_2, UnknownVersion, Some((Code::VersionMismatch, V1_2))),
            (&soap_1_2, NotSoap, Some((Code::VersionMismatch, V1_2))),
            (&Binding::Xml, Envelope(V1_2), None),
            (&Binding::Xml, NotSoap, None),
            (&Binding::Other, UnknownVersion, None),
        ] {
            let found = binding.check(document).err().map(|error| (error.code(), error.fault_version()));
            assert_eq!(found, expected, "{binding:?} {document:?}");
        }
    }
}
