//! Reading a Content-Type (RFC 9110, section 8.3).

use core::fmt;
use std::borrow::Cow;

/// A media type with its parameters (RFC 9110, section 8.3.1). Type, subtype and names of parameters mean the same in
/// either case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType<'a> {
    essence: &'a [u8],
    parameters: Vec<(&'a [u8], Cow<'a, [u8]>)>,
}

/// How many parameters a media type may have: names are compared with one another, and no type in use has more than a
/// few.
const MAX_PARAMETERS: usize = 32;

/// Why a value is no media type, or not taken as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaTypeError {
    /// It does not begin with a type, a slash and a subtype.
    Essence,
    /// What follows is not a list of parameters, each after a semicolon, with a token or a quoted string as its value.
    Parameters,
    /// A parameter stands there twice: recipients differ in which of the two they take.
    RepeatedParameter,
    /// There are more than 32 parameters. What follows them is not looked at.
    TooManyParameters,
}

impl fmt::Display for MediaTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Essence => "not a type and a subtype with a slash between them",
            Self::Parameters => "not parameters of the form `; name=token` or `; name=\"text\"`",
            Self::RepeatedParameter => "a parameter twice",
            Self::TooManyParameters => return write!(f, "more than {MAX_PARAMETERS} parameters"),
        })
    }
}

impl std::error::Error for MediaTypeError {}

impl<'a> MediaType<'a> {
    /// Reads a field value.
    ///
    /// # Errors
    /// The first thing that RFC 9110 does not have there, or a parameter too many.
    pub fn parse(value: &'a [u8]) -> Result<Self, MediaTypeError> {
        let value = value.trim_ascii();
        let end = value.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t')).unwrap_or(value.len());
        let (essence, mut rest) = value.split_at_checked(end).ok_or(MediaTypeError::Essence)?;
        let mut halves = essence.split(|byte| *byte == b'/');
        match (halves.next(), halves.next(), halves.next()) {
            (Some(kind), Some(subtype), None) if is_token(kind) && is_token(subtype) => {}
            _ => return Err(MediaTypeError::Essence),
        }
        let mut parameters: Vec<(&[u8], Cow<'_, [u8]>)> = Vec::new();
        loop {
            rest = skip_space(rest);
            match rest {
                [] => return Ok(Self { essence, parameters }),
                [b';', after @ ..] => rest = skip_space(after),
                _ => return Err(MediaTypeError::Parameters),
            }
            // RFC 9110, section 5.6.6 lets a parameter be missing between two semicolons.
            if matches!(rest, [] | [b';', ..]) {
                continue;
            }
            if parameters.len() >= MAX_PARAMETERS {
                return Err(MediaTypeError::TooManyParameters);
            }
            let (name, value, after) = parameter(rest).ok_or(MediaTypeError::Parameters)?;
            if parameters.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return Err(MediaTypeError::RepeatedParameter);
            }
            parameters.push((name, value));
            rest = after;
        }
    }

    /// Type and subtype, joined by a slash, as they are written.
    pub fn essence(&self) -> &'a [u8] {
        self.essence
    }

    /// Whether type and subtype, joined by a slash, are these.
    pub fn is(&self, essence: &str) -> bool {
        self.essence.eq_ignore_ascii_case(essence.as_bytes())
    }

    /// Whether the document is XML by its type: `text/xml`, `application/xml`, or the suffix `+xml` (RFC 7303).
    pub fn is_xml(&self) -> bool {
        self.is("text/xml") || self.is("application/xml") || self.ends_with(b"+xml")
    }

    /// Whether the document is JSON by its type: `application/json` (RFC 8259), or the suffix `+json` (RFC 6839).
    pub fn is_json(&self) -> bool {
        self.is("application/json") || self.ends_with(b"+json")
    }

    /// Whether the document has parts, each with headers of its own (RFC 2046, section 5.1).
    pub fn is_multipart(&self) -> bool {
        let head = self.essence.first_chunk::<10>();
        head.is_some_and(|head| head.eq_ignore_ascii_case(b"multipart/"))
    }

    fn ends_with(&self, suffix: &[u8]) -> bool {
        let at = self.essence.len().saturating_sub(suffix.len());
        self.essence.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    }

    /// The value of a parameter, without quotes and backslashes.
    pub fn parameter(&self, name: &str) -> Option<&[u8]> {
        let same = |known: &[u8]| known.eq_ignore_ascii_case(name.as_bytes());
        self.parameters.iter().find(|(known, _)| same(known)).map(|(_, value)| &**value)
    }
}

type Parameter<'a> = (&'a [u8], Cow<'a, [u8]>, &'a [u8]);

/// The parameter's name and value, and what follows it.
fn parameter(text: &[u8]) -> Option<Parameter<'_>> {
    let equals = text.iter().position(|byte| !is_token_byte(*byte))?;
    let (name, rest) = text.split_at_checked(equals)?;
    let rest = rest.strip_prefix(b"=")?;
    if name.is_empty() {
        return None;
    }
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        let (value, rest) = quoted_string(quoted)?;
        return Some((name, value, rest));
    }
    let end = rest.iter().position(|byte| !is_token_byte(*byte)).unwrap_or(rest.len());
    let (value, rest) = rest.split_at_checked(end)?;
    (!value.is_empty()).then_some((name, Cow::Borrowed(value), rest))
}

/// What stands before the closing quote, and what follows it (RFC 9110, section 5.6.4).
fn quoted_string(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut value = Cow::Borrowed(&[][..]);
    let mut rest = text;
    loop {
        let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (plain, after) = rest.split_at_checked(special)?;
        append(&mut value, plain)?;
        match after {
            [b'"', after @ ..] => return Some((value, after)),
            [b'\\', escaped, after @ ..] => {
                value.to_mut().extend_from_slice(text_bytes(core::slice::from_ref(escaped))?);
                rest = after;
            }
            _ => return None,
        }
    }
}

fn append<'a>(value: &mut Cow<'a, [u8]>, plain: &'a [u8]) -> Option<()> {
    let plain = text_bytes(plain)?;
    if value.is_empty() {
        *value = Cow::Borrowed(plain);
    } else {
        value.to_mut().extend_from_slice(plain);
    }
    Some(())
}

/// The bytes, if none of them is a control character other than the tab.
fn text_bytes(bytes: &[u8]) -> Option<&[u8]> {
    bytes.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control()).then_some(bytes)
}

fn skip_space(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| !matches!(byte, b' ' | b'\t')).unwrap_or(text.len());
    text.get(end..).unwrap_or_default()
}

fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_token_byte)
}

/// RFC 9110, section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Result<MediaType<'_>, MediaTypeError> {
        MediaType::parse(value.as_bytes())
    }

    #[test]
    fn reads_what_rfc_9110_allows() {
        for (value, essence, name, expected) in [
            ("text/xml", "text/xml", "charset", None),
            (" Text/XML ", "text/xml", "charset", None),
            ("text/xml;charset=utf-8", "text/xml", "charset", Some("utf-8")),
            ("text/xml \t; \t CharSet=utf-8", "text/xml", "charset", Some("utf-8")),
            ("text/xml;;; charset=utf-8;", "text/xml", "charset", Some("utf-8")),
            (r#"a/b; action="urn:a;b=\"c\" d""#, "a/b", "action", Some("urn:a;b=\"c\" d")),
            (r#"a/b; action="\\""#, "a/b", "action", Some("\\")),
            (r#"a/b; action="";charset=x"#, "a/b", "action", Some("")),
            (r#"a/b; x="y"; action="z""#, "a/b", "action", Some("z")),
            ("a/b; action=\"\u{e9}\"", "a/b", "action", Some("\u{e9}")),
        ] {
            let media_type = parse(value).unwrap_or_else(|error| panic!("{value}: {error}"));
            assert!(media_type.is(essence), "{value}");
            assert_eq!(media_type.parameter(name), expected.map(str::as_bytes), "{value}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for (value, expected) in [
            ("", MediaTypeError::Essence),
            ("text", MediaTypeError::Essence),
            ("text/", MediaTypeError::Essence),
            ("/xml", MediaTypeError::Essence),
            ("text/x/y", MediaTypeError::Essence),
            ("text/xml,text/xml", MediaTypeError::Essence),
            ("text/xml charset=utf-8", MediaTypeError::Parameters),
            ("text/xml; charset", MediaTypeError::Parameters),
            ("text/xml; charset=", MediaTypeError::Parameters),
            ("text/xml; charset =x", MediaTypeError::Parameters),
            ("text/xml; charset= x", MediaTypeError::Parameters),
            ("text/xml; =x", MediaTypeError::Parameters),
            ("text/xml; a=urn:b", MediaTypeError::Parameters),
            ("text/xml; a=\"b", MediaTypeError::Parameters),
            ("text/xml; a=\"b\\", MediaTypeError::Parameters),
            ("text/xml; a=\"b\"c", MediaTypeError::Parameters),
            ("text/xml; a=\"b\0\"", MediaTypeError::Parameters),
            ("text/xml; a=\"b\\\n\"", MediaTypeError::Parameters),
            ("text/xml; a=b; A=b", MediaTypeError::RepeatedParameter),
        ] {
            assert_eq!(parse(value).map(|_| ()), Err(expected), "{value:?}");
        }
    }

    #[test]
    fn reads_no_further_than_the_last_parameter_that_there_may_be() {
        let parameters = |count: usize| (0..count).map(|number| format!("; p{number}=1")).collect::<String>();
        let most = format!("text/xml{};;", parameters(MAX_PARAMETERS));
        assert_eq!(parse(&most).unwrap().parameter("p31"), Some(&b"1"[..]));
        // Neither that the next one repeats another nor that it is none is found out.
        for next in ["; charset=utf-8", "; p0=1", "; =", ";; ;x"] {
            let value = format!("{most}{next}");
            assert_eq!(parse(&value).map(|_| ()), Err(MediaTypeError::TooManyParameters), "{next}");
        }
        assert_eq!(MediaTypeError::TooManyParameters.to_string(), "more than 32 parameters");
    }

    #[test]
    fn knows_xml_by_its_suffix_too() {
        for (value, expected) in [
            ("text/xml", true),
            ("application/XML", true),
            ("application/soap+xml; charset=x", true),
            ("image/svg+XML", true),
            ("application/xml-dtd", false),
            ("a/b", false),
        ] {
            assert_eq!(parse(value).unwrap().is_xml(), expected, "{value}");
        }
    }

    #[test]
    fn knows_json_and_multipart() {
        for (value, is_json, is_multipart) in [
            ("application/json", true, false),
            ("Application/JSON; charset=x", true, false),
            ("application/problem+JSON", true, false),
            ("text/json", false, false),
            ("a/json", false, false),
            ("application/jsonp", false, false),
            ("multipart/form-data", false, true),
            ("Multipart/x; boundary=y", false, true),
            ("multi/part", false, false),
            ("multiparts/x", false, false),
        ] {
            let media_type = parse(value).unwrap();
            assert_eq!((media_type.is_json(), media_type.is_multipart()), (is_json, is_multipart), "{value}");
        }
    }
}
