//! Names of what is hidden, and all spellings in which somebody may read one of them.

use std::collections::BTreeSet;

use portcullis_policy::json;

use super::words::suggest_a_secret;

/// Names with more parts than this are not taken apart: they could be any.
const MAX_PARTS: usize = 32;
/// How many parts may be one name.
const MAX_JOINED: usize = 4;

/// Names of headers, or of parameters, fields and members, that are hidden: those that are listed, and perhaps those whose
/// words suggest a secret. Everything that is redacted by its name is redacted by this.
#[derive(Debug, Default)]
pub struct Names {
    /// Folded.
    listed: BTreeSet<String>,
    by_words: ByWords,
    /// Names, folded, that are not hidden because of their words.
    except: BTreeSet<String>,
}

/// Whether names are hidden because of their words.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ByWords {
    #[default]
    No,
    Yes,
}

impl Names {
    /// No names yet but those whose [words](super::words) suggest a secret.
    pub fn of_secrets() -> Self {
        Self { by_words: ByWords::Yes, ..Self::default() }
    }

    /// Hides a name. One without a letter or digit is no name.
    pub fn add(&mut self, name: &str) {
        let folded = fold(name);
        if !folded.is_empty() {
            self.listed.insert(folded);
        }
    }

    /// Does not hide a name because of its words. If it is listed it is hidden all the same.
    pub fn except(&mut self, name: &str) {
        self.except.insert(fold(name));
    }

    /// Whether a name, or a part of a nested one, is hidden: `user[password]`, `user.password` and `password[]` are all
    /// a password to somebody, and so is what stands before a NUL.
    pub fn hide(&self, name: &str) -> bool {
        let folded = fold(name);
        if self.listed.contains(&folded) {
            return true;
        }
        let by_words = self.by_words == ByWords::Yes && !self.except.contains(&folded);
        if !name.contains(is_separator) {
            return by_words && suggest_a_secret(name);
        }
        let parts: Vec<String> = name.split(is_separator).map(fold).filter(|part| !part.is_empty()).collect();
        if parts.len() > MAX_PARTS {
            return !self.is_empty();
        }
        if by_words {
            let parts = name.split(is_separator).filter(|part| !self.except.contains(&fold(part)));
            // Words of several parts may belong together: `api.key`.
            let joined = parts.clone().collect::<Vec<_>>().join(" ");
            if parts.into_iter().any(suggest_a_secret) || suggest_a_secret(&joined) {
                return true;
            }
        }
        // To those that take a dot for an underscore, several parts are one name.
        (0..parts.len()).any(|first| {
            let mut joined = String::new();
            parts.iter().skip(first).take(MAX_JOINED).any(|part| {
                joined.push_str(part);
                self.listed.contains(&joined)
            })
        })
    }

    /// Whether a name is hidden because it is listed.
    pub(super) fn lists(&self, name: &str) -> bool {
        self.listed.contains(&fold(name))
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.by_words == ByWords::No
    }
}

fn is_separator(character: char) -> bool {
    matches!(character, '[' | ']' | '.' | ':' | '/' | '$' | '\0')
}

/// One spelling for all that some reader takes for the same: without regard to case (U+212A is a `k` to some, and U+017F
/// an `s`), to everything that is neither a letter nor a digit (`client_secret`, `client-secret`, `clientSecret`), as
/// [`spelling`](portcullis_policy::spelling) has it, and to what cannot be seen.
pub(super) fn fold(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric() && !json::must_be_escaped(*character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a character is nothing to a reader. A NUL ends the name to some.
pub(super) fn is_invisible(character: char) -> bool {
    json::must_be_escaped(character) && character != '\0'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_by_words_what_is_not_excepted() {
        let mut names = Names::of_secrets();
        names.add("team");
        for name in ["page_token", "next.page.token", "x-signature", "password"] {
            names.except(name);
        }
        names.add("password");
        for name in [
            "team",
            "api_key",
            "user[api_key]",
            "api.key",
            "user.old_password",
            "old_password[0][type]",
            "token",
            "page_token_2",
            // It is listed.
            "password",
        ] {
            assert!(names.hide(name), "{name}");
        }
        for name in [
            "pageToken",
            "page-token",
            "next.page.token",
            "X_Signature",
            "q[page_token]",
            "token_type",
            "teams",
        ] {
            assert!(!names.hide(name), "{name}");
        }
        assert!(!Names::of_secrets().is_empty() && Names::default().is_empty());
        assert!(!Names::default().hide("api_key"));
    }

    #[test]
    fn finds_a_name_in_every_spelling_and_at_every_place() {
        let mut names = Names::default();
        for name in ["client_secret", "password", "straße"] {
            names.add(name);
        }
        for name in [
            "client_secret",
            "clientSecret",
            "client-secret",
            "Client.Secret",
            "client secret",
            "CLIENTSECRET",
            "oauth.client.secret",
            "oauth[client][secret]",
            "user[password]",
            "user.password",
            "password[]",
            "password[0][x]",
            " password\t",
            "password\0",
            "password\0x",
            "pass\u{200b}word",
            "pass\u{ad}word",
            "pass\u{e0041}word",
            "pa\u{17f}\u{17f}word",
            "STRASSE",
            "ctl00$password",
            "@password",
            "client~secret",
            "client!secret",
        ] {
            assert!(names.hide(name), "{name}");
        }
        for name in ["", "_", "secret", "passwords", "user[name]", "pass[x]word", "client", "user.name.first"]
        {
            assert!(!names.hide(name), "{name}");
        }
        assert!(!names.hide(&vec!["a"; MAX_PARTS].join(".")));
        let many = vec!["a"; MAX_PARTS + 1].join(".");
        assert!(names.hide(&many) && !Names::default().hide(&many));
    }
}
