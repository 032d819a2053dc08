//! Taking credentials out of a request.

pub mod query;

pub(crate) mod basic;

use std::borrow::Cow;

use portcullis_policy::{HeaderList, percent};

use crate::config::{Origin, SecretRule};

/// The longest identifier, in bytes.
pub const MAX_ID_BYTES: usize = 256;
/// The longest secret, in bytes.
pub const MAX_SECRET_BYTES: usize = 1024;

/// What a client gives to be known by.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The identifier: UTF-8 text that [`is_identifier`].
    pub id: String,
    /// The secret: up to [`MAX_SECRET_BYTES`] bytes without control characters; absent in requests that give none.
    pub secret: Option<Vec<u8>>,
}

impl Credentials {
    /// Credentials that nobody has and nobody can guess: an identifier and a secret of 32 letters and digits each.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let (id, secret) = (random_text()?, random_text()?);
        Ok(Self { id, secret: Some(secret.into_bytes()) })
    }
}

/// 160 random bits in base32 (RFC 4648), in lower case.
fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    let digit = |byte: u8| match byte & 31 {
        letter @ 0..=25 => char::from(b'a'.saturating_add(letter)),
        digit => char::from(b'2'.saturating_add(digit.saturating_sub(26))),
    };
    Ok(bytes.into_iter().map(digit).collect())
}

/// Shows the identifier only.
impl core::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Credentials").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a request has to say about its sender.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing, or not all that is required.
    Missing,
    /// Something that cannot be read in one way only.
    Malformed(Malformed),
    /// Credentials, good or not.
    Credentials(Credentials),
}

/// Whether a text can be an identifier: 1 to [`MAX_ID_BYTES`] bytes, without control characters and colons, which HTTP
/// Basic cannot carry, and without white space at its ends, as [`is_label`] has it.
pub fn is_identifier(text: &str) -> bool {
    is_label(text) && !text.contains(':')
}

/// Whether a text can be a client's name or tier: 1 to [`MAX_ID_BYTES`] bytes, without control characters, and without white
/// space at its ends (Unicode's property `White_Space`), which headers and some readers lose, so that two texts would become
/// one.
pub fn is_label(text: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&text.len())
        && !text.contains(char::is_control)
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with(char::is_whitespace)
}

/// Why credentials cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The Authorization header is not what RFC 7617 demands.
    Basic,
    /// A part stands twice in the same origin; a header in two spellings stands there twice.
    Duplicated,
    /// A query parameter's percent-encoding is broken.
    PercentEncoding,
    /// A part is too long, or has characters that it must not have.
    Characters,
}

impl Malformed {
    /// A sentence for the client.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Basic => "The Authorization header does not hold well-formed Basic credentials.",
            Self::Duplicated => "A credential is given more than once.",
            Self::PercentEncoding => "A credential's percent-encoding is broken.",
            Self::Characters => "A credential is too long or has characters that are not allowed.",
        }
    }
}

/// Looks through the origins in order. The first that has any of its parts decides, and is named.
pub fn find<'a>(
    origins: &'a [Origin],
    rule: SecretRule,
    headers: &HeaderList,
) -> (Found, Option<&'a Origin>) {
    let with_parts = |origin: &'a Origin| Some((origin, parts(origin, headers).transpose()?));
    match origins.iter().find_map(with_parts) {
        None => (Found::Missing, None),
        Some((origin, parts)) => {
            (parts.and_then(|parts| check(parts, rule)).unwrap_or_else(Found::Malformed), Some(origin))
        }
    }
}

/// Identifier and secret as they stand in an origin, each present or not.
struct Parts<'a> {
    id: Option<Cow<'a, [u8]>>,
    secret: Option<Cow<'a, [u8]>>,
}

fn parts<'a>(origin: &'a Origin, headers: &'a HeaderList) -> Result<Option<Parts<'a>>, Malformed> {
    let (id, secret) = match origin {
        Origin::Basic => {
            let Some(value) = only(headers.all("authorization").filter(|value| basic::is_basic(value)))?
            else {
                return Ok(None);
            };
            // A second Authorization header of another scheme makes it unclear which one the upstream will take.
            only(headers.all("authorization"))?;
            let basic::Basic { id, secret } = basic::parse(value)?;
            (Some(Cow::Owned(id)), Some(Cow::Owned(secret)))
        }
        Origin::Headers { id, secret } => {
            // The upstream may read them in any spelling: what it could read is what is checked.
            let only = |name| only(headers.all_spellings(name));
            (only(id)?.map(Cow::Borrowed), only(secret)?.map(Cow::Borrowed))
        }
        Origin::Query { id, secret } => {
            let path = headers.first(":path").unwrap_or_default();
            let Some(query) = query::of_path(path).and_then(|range| path.get(range)) else {
                return Ok(None);
            };
            (query_part(query, id)?, query_part(query, secret)?)
        }
    };
    Ok((id.is_some() || secret.is_some()).then_some(Parts { id, secret }))
}

fn query_part<'a>(query: &'a [u8], name: &'a str) -> Result<Option<Cow<'a, [u8]>>, Malformed> {
    only(query::values(query, name))?
        .map(|value| percent::decode_form(value).ok_or(Malformed::PercentEncoding))
        .transpose()
}

/// The only item, if any.
fn only<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a [u8]>, Malformed> {
    let first = values.next();
    if values.next().is_some() { Err(Malformed::Duplicated) } else { Ok(first) }
}

fn check(parts: Parts<'_>, rule: SecretRule) -> Result<Found, Malformed> {
    let id = parts.id.filter(|id| !id.is_empty());
    let secret = parts.secret.filter(|secret| !secret.is_empty());
    if let Some(secret) = &secret
        && (secret.len() > MAX_SECRET_BYTES || secret.iter().any(u8::is_ascii_control))
    {
        return Err(Malformed::Characters);
    }
    let Some(id) = id else {
        return Ok(Found::Missing);
    };
    let id = String::from_utf8(id.into_owned()).map_err(|_| Malformed::Characters)?;
    if !is_identifier(&id) {
        return Err(Malformed::Characters);
    }
    match (secret, rule) {
        (None, SecretRule::Required) => Ok(Found::Missing),
        (secret, _) => Ok(Found::Credentials(Credentials { id, secret: secret.map(Cow::into_owned) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: fn() -> Vec<Origin> = || {
        vec![
            Origin::Basic,
            Origin::Headers { id: "client_id".into(), secret: "client_secret".into() },
            Origin::Query { id: "client_id".into(), secret: "client_secret".into() },
        ]
    };

    fn found(headers: &[(&str, &[u8])]) -> Found {
        find(&ALL(), SecretRule::Required, &headers.iter().copied().collect()).0
    }

    fn credentials(id: &str, secret: &str) -> Found {
        Found::Credentials(Credentials { id: id.into(), secret: Some(secret.as_bytes().into()) })
    }

    #[test]
    fn finds_credentials_in_every_origin() {
        let expected = credentials("acme", "s3");
        for headers in [
            &[("authorization", &b"Basic YWNtZTpzMw=="[..])][..],
            &[("client_id", b"acme"), ("client_secret", b"s3")],
            &[(":path", b"/a?client_secret=s%33&x=1&client%5Fid=acme")],
        ] {
            assert_eq!(found(headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn lets_the_first_origin_with_any_part_decide() {
        let query = (":path", &b"/?client_id=q&client_secret=q"[..]);
        assert_eq!(found(&[query, ("client_id", b"h"), ("client_secret", b"h")]), credentials("h", "h"));
        assert_eq!(found(&[query, ("client_id", b"h")]), Found::Missing);
        assert_eq!(found(&[query, ("authorization", b"Bearer t")]), credentials("q", "q"));
        assert_eq!(found(&[query, ("authorization", b"Basic ?")]), Found::Malformed(Malformed::Basic));
    }

    #[test]
    fn never_chooses_among_duplicates() {
        for headers in [
            &[("authorization", &b"Basic YTpi"[..]), ("authorization", b"Basic YTpi")][..],
            &[("authorization", b"Basic YTpi"), ("authorization", b"Bearer x")],
            &[("client_id", b"a"), ("client_id", b"a"), ("client_secret", b"b")],
            &[("client_id", b"a"), ("client_secret", b"b"), ("client_secret", b"")],
            &[(":path", b"/?client_id=a&client_secret=b&client%5fid=a")],
        ] {
            assert_eq!(found(headers), Found::Malformed(Malformed::Duplicated), "{headers:?}");
        }
    }

    #[test]
    fn takes_a_header_in_another_spelling_for_the_same() {
        for other in ["client-id", "client.id", "client~id", "client!id"] {
            let alone = [(other, &b"acme"[..]), ("client_secret", b"s3")];
            assert_eq!(found(&alone), credentials("acme", "s3"), "{other}");
            let beside = [&alone[..], &[("client_id", b"acme")]].concat();
            assert_eq!(found(&beside), Found::Malformed(Malformed::Duplicated), "{other}");
        }
        let secrets = [("client_id", &b"acme"[..]), ("client_secret", b"s3"), ("client-secret", b"s3")];
        assert_eq!(found(&secrets), Found::Malformed(Malformed::Duplicated));
    }

    #[test]
    fn names_the_origin_that_decides() {
        let origins = ALL();
        for (headers, expected) in [
            (&[("authorization", "Basic ?"), ("client_id", "a")][..], Some(0)),
            (&[("client-secret", "a"), (":path", "/?client_id=a")], Some(1)),
            (&[("authorization", "Bearer a"), (":path", "/?client_id=a")], Some(2)),
            (&[(":path", "/")], None),
        ] {
            let headers = headers.iter().copied().collect();
            let (_, origin) = find(&origins, SecretRule::Required, &headers);
            assert_eq!(origin, expected.map(|at: usize| &origins[at]), "{headers:?}");
        }
    }

    #[test]
    fn refuses_parts_that_cannot_be_carried_on() {
        let long_id = [b'a'; MAX_ID_BYTES + 1];
        let long_secret = [b'a'; MAX_SECRET_BYTES + 1];
        for (id, secret) in [
            (&b"a\xff"[..], &b"s"[..]),
            (b"a:b", b"s"),
            (b" a", b"s"),
            ("a\u{a0}".as_bytes(), b"s"),
            (b"a\tb", b"s"),
            ("a\u{85}b".as_bytes(), b"s"),
            (b"a", b"s\x7f"),
            (&long_id, b"s"),
            (b"a", &long_secret),
        ] {
            let headers = [("client_id", id), ("client_secret", secret)];
            assert_eq!(found(&headers), Found::Malformed(Malformed::Characters), "{id:?} {secret:?}");
        }
        for path in [&b"/?client_id=a%00&client_secret=s"[..], b"/?client_id=a&client_secret=%0d%0a"] {
            assert_eq!(found(&[(":path", path)]), Found::Malformed(Malformed::Characters), "{path:?}");
        }
        for path in [&b"/?client_id=a%&client_secret=s"[..], b"/?client_id=a&client_secret=%4"] {
            assert_eq!(found(&[(":path", path)]), Found::Malformed(Malformed::PercentEncoding), "{path:?}");
        }
    }

    #[test]
    fn takes_the_longest_parts_that_are_allowed() {
        let [id, secret] = [MAX_ID_BYTES, MAX_SECRET_BYTES].map(|length| "a".repeat(length));
        let headers = [("client_id", id.as_bytes()), ("client_secret", secret.as_bytes())];
        assert_eq!(found(&headers), credentials(&id, &secret));
    }

    #[test]
    fn takes_empty_parts_for_absent_ones() {
        for headers in [
            &[("client_id", &b""[..]), ("client_secret", b"s")][..],
            &[("client_id", b"a"), ("client_secret", b"")],
            &[("authorization", b"Basic Og==")],
            &[(":path", b"/?client_id&client_secret=s")],
            &[("client_secret", b"s")],
            &[],
        ] {
            assert_eq!(found(headers), Found::Missing, "{headers:?}");
        }
    }

    #[test]
    fn is_content_with_an_identifier_where_the_secret_is_optional() {
        let headers: HeaderList = [("client_id", "a")].into_iter().collect();
        let expected = Found::Credentials(Credentials { id: "a".into(), secret: None });
        assert_eq!(find(&ALL(), SecretRule::Optional, &headers).0, expected);
    }

    #[test]
    fn does_not_show_secrets_when_debugged() {
        let Found::Credentials(credentials) = credentials("a", "hunter2") else { panic!() };
        assert!(!format!("{credentials:?}").contains("hunter2"));
    }
}
