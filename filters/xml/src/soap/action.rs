//! What the HTTP headers say that a message is for.

/// The intent of a message, as its HTTP headers state it: SOAP 1.1 in the SOAPAction header (section 6.1.1), SOAP 1.2
/// in the media type's parameter `action` (RFC 3902; part 2, section 6.5).
///
/// It is what the sender says; the message itself says what it is by the first element of its Body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Action {
    /// A URI, as it stands there without its quotes. It is not resolved, nor normalized.
    Uri(String),
    /// `""`: the request's URI states the intent.
    RequestUri,
    /// A header without a value in SOAP 1.1, no parameter or an empty one in SOAP 1.2: nothing is stated.
    Unstated,
}

impl Action {
    /// The URI, if there is one.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Uri(uri) => Some(uri),
            Self::RequestUri | Self::Unstated => None,
        }
    }

    /// Reads the value of a SOAPAction header. The Note puts a URI in quotes; without them, as clients have always sent
    /// it too, it is taken as well.
    pub(super) fn from_soap_action(value: &[u8]) -> Option<Self> {
        match value.trim_ascii() {
            [] => Some(Self::Unstated),
            [b'"', b'"'] => Some(Self::RequestUri),
            [b'"', uri @ .., b'"'] => Some(Self::Uri(uri_text(uri)?)),
            // Without quotes a comma may as well stand between two headers that were joined on the way.
            uri if uri.contains(&b',') => None,
            uri => Some(Self::Uri(uri_text(uri)?)),
        }
    }

    /// Reads the value of the parameter `action`.
    pub(super) fn from_parameter(value: Option<&[u8]>) -> Option<Self> {
        match value {
            None | Some([]) => Some(Self::Unstated),
            Some(uri) => Some(Self::Uri(uri_text(uri)?)),
        }
    }
}

/// An IRI may hold more than ASCII, and people write it so. None holds white space, quotes or control characters, and
/// to take them would let one recipient see another action than the next.
fn uri_text(uri: &[u8]) -> Option<String> {
    let text = str::from_utf8(uri).ok()?;
    let is_odd = |character: char| {
        character.is_whitespace() || character.is_control() || matches!(character, '"' | '<' | '>')
    };
    (!text.contains(is_odd)).then(|| text.to_owned())
}
