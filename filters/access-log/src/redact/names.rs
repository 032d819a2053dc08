//! Names of what is hidden, and all spellings in which somebody may read one of them.

use std::collections::BTreeSet;

use portcullis_policy::json;

/// Names with more parts than this are not taken apart: they could be any.
const MAX_PARTS: usize = 32;
/// How many parts may be one name.
const MAX_JOINED: usize = 4;

/// Names of parameters, fields and members that are hidden.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Hides a name. One without a letter or digit is no name.
    pub fn add(&mut self, name: &str) {
        let folded = fold(name);
        if !folded.is_empty() {
            self.0.insert(folded);
        }
    }

    /// Whether a name, or a part of a nested one, is hidden: `user[password]`, `user.password` and `password[]` are all
    /// a password to somebody, and so is what stands before a NUL.
    pub fn hide(&self, name: &str) -> bool {
        if self.0.contains(&fold(name)) {
            return true;
        }
        if !name.contains(is_separator) {
            return false;
        }
        let parts: Vec<String> = name.split(is_separator).map(fold).filter(|part| !part.is_empty()).collect();
        if parts.len() > MAX_PARTS {
            return !self.0.is_empty();
        }
        // To those that take a dot for an underscore, several parts are one name.
        (0..parts.len()).any(|first| {
            let mut joined = String::new();
            parts.iter().skip(first).take(MAX_JOINED).any(|part| {
                joined.push_str(part);
                self.0.contains(&joined)
            })
        })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_separator(character: char) -> bool {
    matches!(character, '[' | ']' | '.' | ':' | '/' | '$' | '\0')
}

/// One spelling for all that some reader takes for the same: without regard to case (U+212A is a `k` to some, and U+017F
/// an `s`), to what joins words (`client_secret`, `client-secret`, `clientSecret`), and to what cannot be seen.
pub(super) fn fold(name: &str) -> String {
    name.chars()
        .filter(|character| !is_filler(*character))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_filler(character: char) -> bool {
    matches!(character, '_' | '-' | '.') || character.is_whitespace() || json::must_be_escaped(character)
}

#[cfg(test)]
mod tests {
    use super::*;

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
