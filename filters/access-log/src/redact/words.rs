//! Words in a name that suggest that its value is a secret.

use super::names::fold;

/// Words that stand for a secret wherever they are in a name.
pub(crate) const WORDS: [&str; 33] = [
    "apikey",
    "assertion",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "csrf",
    "cvc",
    "cvv",
    "dsn",
    "hmac",
    "jwt",
    "otp",
    "passcode",
    "passkey",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "psk",
    "pwd",
    "secret",
    "secrets",
    "sessionid",
    "sig",
    "signature",
    "signatures",
    "token",
    "totp",
    "xsrf",
];

/// Words that stand for a secret one after the other.
pub(crate) const PAIRS: [[&str; 2]; 20] = [
    ["access", "key"],
    ["access", "tokens"],
    ["account", "key"],
    ["api", "key"],
    ["api", "keys"],
    ["auth", "key"],
    ["connection", "string"],
    ["db", "pass"],
    ["encryption", "key"],
    ["functions", "key"],
    ["master", "key"],
    ["private", "key"],
    ["private", "keys"],
    ["refresh", "tokens"],
    ["session", "id"],
    ["session", "key"],
    ["shared", "key"],
    ["signing", "key"],
    ["subscription", "key"],
    ["user", "pass"],
];

/// Letters that are part of no ordinary word: they stand for a secret in a name whose words are not told apart.
pub(crate) const LETTERS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "clientsecret",
    "privatekey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "sessionid",
];

/// A name whose last word is one of these is about a secret, and its value is none: `token_type`, `password_length`.
pub(crate) const ABOUT: [&str; 23] = [
    "alg",
    "algorithm",
    "count",
    "enabled",
    "endpoint",
    "expiration",
    "expires",
    "expiry",
    "length",
    "lifetime",
    "limit",
    "max",
    "method",
    "min",
    "policy",
    "required",
    "size",
    "strength",
    "ttl",
    "type",
    "usage",
    "used",
    "version",
];

/// Whether the words of a name suggest a secret.
pub(super) fn suggest_a_secret(name: &str) -> bool {
    let apart = split(name, Cases::Apart);
    // `old_PassWord` has two words to one reader, and three to another.
    tell(&apart) || tell(&split(name, Cases::Together)) || {
        let letters = fold(name);
        !is_about(&apart) && LETTERS.iter().any(|secret| letters.contains(secret))
    }
}

fn tell(words: &[String]) -> bool {
    let is_secret = |word: &String| WORDS.contains(&word.as_str());
    let is_pair = |pair: &[String]| PAIRS.iter().any(|known| pair == known);
    !is_about(words) && (words.iter().any(is_secret) || words.windows(2).any(is_pair))
}

fn is_about(words: &[String]) -> bool {
    words.last().is_some_and(|last| ABOUT.contains(&last.as_str()))
}

/// What a change between upper and lower case is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    /// The border of a word: `clientSecret`, `XAmzSignature`, `APIKey`.
    Apart,
    /// Nothing.
    Together,
}

/// The words of a name, folded. Whatever is neither a letter nor a digit separates them, and so do a letter and a digit.
fn split(name: &str, cases: Cases) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = name.chars().filter(|character| !super::names::is_invisible(*character)).peekable();
    let mut before: Option<char> = None;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        if before.is_some_and(|before| is_border(before, character, next, cases)) {
            take(&mut word, &mut words);
        }
        word.push(character);
        before = Some(character);
    }
    take(&mut word, &mut words);
    words
}

fn take(word: &mut String, words: &mut Vec<String>) {
    let folded = fold(word);
    word.clear();
    if !folded.is_empty() {
        words.push(folded);
    }
}

fn is_border(before: char, character: char, next: Option<char>, cases: Cases) -> bool {
    if !before.is_alphanumeric()
        || !character.is_alphanumeric()
        || before.is_numeric() != character.is_numeric()
    {
        return true;
    }
    cases == Cases::Apart
        && character.is_uppercase()
        // The last capital of several begins the next word.
        && (before.is_lowercase() || next.is_some_and(char::is_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_everything_that_separates_words() {
        for (name, expected) in [
            ("", &[][..]),
            ("client_secret", &["client", "secret"]),
            ("--a..b~c[d]@e\0f", &["a", "b", "c", "d", "e", "f"]),
            ("clientSecret", &["client", "secret"]),
            ("XAmzSignature", &["x", "amz", "signature"]),
            ("APIKey", &["api", "key"]),
            ("apiKEY", &["api", "key"]),
            ("token2", &["token", "2"]),
            ("oauth2Token", &["oauth", "2", "token"]),
            ("pass\u{200b}word \u{ad}x", &["password", "x"]),
            ("\u{17f}ecret", &["secret"]),
        ] {
            assert_eq!(split(name, Cases::Apart), expected, "{name}");
        }
        assert_eq!(split("old_PassWord", Cases::Together), ["old", "password"]);
    }

    #[test]
    fn the_lists_hold_what_names_are_folded_to() {
        let all = WORDS.iter().chain(PAIRS.iter().flatten()).chain(&LETTERS).chain(&ABOUT);
        for word in all {
            assert_eq!(split(word, Cases::Apart), [*word]);
        }
    }

    #[test]
    fn the_reference_page_lists_every_word() {
        const PAGE: &str = include_str!("../../../../docs/access-log.md");
        let (_, part) = PAGE.split_once("### Names that suggest a secret").unwrap();
        let (part, _) = part.split_once("\n### ").unwrap();
        let pairs = PAIRS.iter().map(|pair| pair.join(" "));
        for word in WORDS.iter().chain(&LETTERS).chain(&ABOUT).map(|word| (*word).to_owned()).chain(pairs) {
            assert!(part.contains(&format!("`{word}`")), "{word}");
        }
    }

    #[test]
    fn tells_names_of_secrets_from_others() {
        for name in [
            "password_confirmation",
            "old_password",
            "currentPassword",
            "OLD-PASSWORD",
            "oldpassword",
            "new_PassWord",
            "password1",
            "secret",
            "secret_key",
            "api_key",
            "apiKey",
            "API-Key",
            "x-api-key",
            "x.api.key",
            "auth_token",
            "token2",
            "csrfToken",
            "authorization",
            "X-Authorization",
            "authorization_code",
            "pwd",
            "X-Amz-Signature",
            "XAmzSignature",
            "X-Amz-Credential",
            "X-Amz-Security-Token",
            "sig",
            "@password",
            "#secret",
            "client~secret",
            "private_key",
            "PrivateKey",
            "AWSAccessKeyId",
            "ASP.NET_SessionId",
            "PHPSESSIONID",
            "session-id",
            "ocp-apim-subscription-key",
            "user_pass",
            "one_time_otp",
            "credentials",
            "password_reset_url",
            "sentry_dsn",
        ] {
            assert!(suggest_a_secret(name), "{name}");
        }
        for name in [
            "",
            "tokens_used",
            "max_tokens",
            "totalTokens",
            "token_type",
            "tokenType",
            "token_count",
            "token_endpoint",
            "author",
            "authority",
            "authorId",
            "signature_algorithm",
            "SignatureVersion",
            "password_length",
            "passwordPolicy",
            "secretary",
            "spinning",
            "opinion",
            "design",
            "signal",
            "key",
            "keyword",
            "monkey",
            "compass",
            "passenger",
            "session",
            "status_code",
            "client_name",
            "sort_key",
            "idempotency-key",
            "sec-websocket-key",
            "x-request-id",
            "content-security-policy",
        ] {
            assert!(!suggest_a_secret(name), "{name}");
        }
    }
}
