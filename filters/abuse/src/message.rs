//! A request as it came over the wire.

use std::fmt;

/// Names and values in order, as they came.
pub type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A request, in bytes as they came. Nothing is merged, decoded or put into another case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// The method.
    pub method: Vec<u8>,
    /// The request target.
    pub target: Vec<u8>,
    /// The fields of the head, in order, names as they came.
    pub fields: Fields,
    /// The body, freed from its framing.
    pub body: Vec<u8>,
    /// The fields of the trailer section, in order.
    pub trailers: Fields,
}

impl Message {
    /// The values of every field of the head called `name`, whatever its case.
    pub fn all(&self, name: &str) -> Vec<&[u8]> {
        of(&self.fields, name)
    }

    /// The only value of a field, as text.
    ///
    /// # Panics
    /// When the field stands there several times.
    #[track_caller]
    pub fn text(&self, name: &str) -> Option<String> {
        let values = self.all(name);
        assert!(values.len() < 2, "{name} stands there {} times: {self:?}", values.len());
        values.first().map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// The request target as text.
    pub fn path(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    /// The values of every field of the head and of the trailer section that some reader takes for one called `name`.
    pub fn all_spellings(&self, name: &str) -> Vec<&[u8]> {
        let fields = self.fields.iter().chain(&self.trailers);
        fields
            .filter(|field| folded(&field.0) == folded(name.as_bytes()))
            .map(|(_, value)| &value[..])
            .collect()
    }

    /// The fields of the head that some reader takes for the suite's own: names in lower case with hyphens for all that is
    /// neither a letter nor a digit, as lighttpd's CGI folds them most of all, in the order of their names.
    pub fn of_the_suite(&self) -> Vec<(String, String)> {
        suite_fields(&self.fields)
    }

    /// The same among its trailers.
    pub fn trailers_of_the_suite(&self) -> Vec<(String, String)> {
        suite_fields(&self.trailers)
    }

    /// The message without what the suite adds, and without the identifier that Envoy makes: what must be the same with
    /// and without policies.
    pub fn without_additions(&self) -> Self {
        let mut message = self.clone();
        message.fields.retain(|(name, _)| {
            let name = name.to_ascii_lowercase();
            !name.starts_with(b"x-portcullis-") && name != b"x-request-id"
        });
        message
    }
}

fn of<'a>(fields: &'a [(Vec<u8>, Vec<u8>)], name: &str) -> Vec<&'a [u8]> {
    let is_named = |field: &&(Vec<u8>, Vec<u8>)| field.0.eq_ignore_ascii_case(name.as_bytes());
    fields.iter().filter(is_named).map(|(_, value)| value.as_slice()).collect()
}

fn folded(name: &[u8]) -> String {
    let letter =
        |byte: &u8| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase().into() } else { '-' };
    name.iter().map(letter).collect()
}

fn suite_fields(fields: &[(Vec<u8>, Vec<u8>)]) -> Vec<(String, String)> {
    let mut found: Vec<_> = fields
        .iter()
        .map(|(name, value)| (folded(name), String::from_utf8_lossy(value).into_owned()))
        .filter(|(name, _)| name.starts_with("x-portcullis-"))
        .collect();
    found.sort();
    found
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |fields: &[(Vec<u8>, Vec<u8>)]| -> Vec<String> {
            let line = |(name, value): &(Vec<u8>, Vec<u8>)| {
                format!("{}: {}", name.escape_ascii(), shortened(value).escape_ascii())
            };
            fields.iter().map(line).collect()
        };
        f.debug_struct("Message")
            .field("method", &format_args!("{}", self.method.escape_ascii()))
            .field("target", &format_args!("{}", shortened(&self.target).escape_ascii()))
            .field("fields", &lines(&self.fields))
            .field("body", &format_args!("{}", shortened(&self.body).escape_ascii()))
            .field("trailers", &lines(&self.trailers))
            .finish()
    }
}

/// As much of it as a failure message can bear.
fn shortened(bytes: &[u8]) -> &[u8] {
    bytes.get(..400).unwrap_or(bytes)
}
