//! Credentials of HTTP Basic authentication (RFC 7617).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

/// RFC 7617 asks for padding; clients that leave it out are common, and nothing is ambiguous without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a client claims. The secret stays bytes: RFC 7617 leaves its encoding open.
pub(crate) struct Credentials {
    pub(crate) id: String,
    pub(crate) secret: Vec<u8>,
}

/// The credentials of a request that has exactly one `authorization` header, in the Basic scheme and well
/// formed. With two headers, which one counts would be a guess.
pub(crate) fn credentials(headers: &HeaderMap) -> Option<Credentials> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = BASE64.decode(token.trim()).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    let (id, secret) = pair.split_at(colon);
    Some(Credentials { id: String::from_utf8(id.to_vec()).ok()?, secret: secret.get(1..)?.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(values: &[&str]) -> Option<(String, Vec<u8>)> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().expect("a header value"));
        }
        credentials(&headers).map(|found| (found.id, found.secret))
    }

    #[test]
    fn reads_id_and_secret() {
        let acme = Some(("acme".to_owned(), b"s:1".to_vec()));
        assert_eq!(parse(&["Basic YWNtZTpzOjE="]), acme, "the first colon divides");
        assert_eq!(parse(&["bAsIc  YWNtZTpzOjE="]), acme, "schemes have no case");
        assert_eq!(parse(&["Basic YWNtZTpzOjE"]), acme, "padding may be missing");
        assert_eq!(parse(&["Basic YWNtZTo="]), Some(("acme".to_owned(), Vec::new())));
    }

    #[test]
    fn finds_none_in_anything_else() {
        for values in [
            &[] as &[&str],
            &["Basic"],
            &["Basic "],
            &["Basic !!!!"],
            &["Basic YWNtZQ=="],
            &["Bearer YWNtZTpzOjE="],
            &["Basic YWNtZTpzOjE=", "Basic YWNtZTpzOjE="],
        ] {
            assert_eq!(parse(values), None, "{values:?}");
        }
    }
}
