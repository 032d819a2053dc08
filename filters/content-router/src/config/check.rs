//! What types cannot say, but for what is found out by compiling.

use std::collections::BTreeMap;

use portcullis_policy::headers::{has_meaning, is_reserved, is_token, suite_owner};
use portcullis_policy::{ConfigError, Policy};

use super::{Action, Config, Rule, possible};
use crate::ContentRouter;

/// How many rules there may be: each has a counter.
pub(crate) const MAX_RULES: usize = 256;

impl Config {
    /// Refuses what makes no sense, with the path of the first field that does not.
    ///
    /// # Errors
    /// That field, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_header()?;
        if self.rules.is_empty() || self.rules.len() > MAX_RULES {
            return Err(ConfigError::new("rules", format!("must be 1 to {MAX_RULES} rules")));
        }
        self.check_rules()?;
        check_action(&self.default, "default")?;
        self.check_namespaces()?;
        in_range("body.max_bytes", self.body.max_bytes, 1024, 64 << 20)?;
        in_range("body.max_depth", self.body.max_depth, 4, 1024)?;
        in_range("body.max_held_bytes", self.body.max_held_bytes, 1 << 20, 256 << 20)
    }

    fn check_rules(&self) -> Result<(), ConfigError> {
        let mut names = BTreeMap::new();
        for (at, rule) in self.rules.iter().enumerate() {
            let within = |error: ConfigError| error.within(&format!("rules[{at}]"));
            if let Some(earlier) = names.insert(rule_name(at, rule), at) {
                let is_given = |rule: Option<&Rule>| rule.is_some_and(|rule| rule.name.is_some());
                let which = match (is_given(self.rules.get(earlier)), is_given(Some(rule))) {
                    (true, false) => {
                        format!("rules[{earlier}] has been given the name that this one has by its place")
                    }
                    (false, _) => format!("rules[{earlier}] has it by its place"),
                    (true, true) => format!("rules[{earlier}] has it"),
                };
                return Err(within(ConfigError::new(
                    "name",
                    format!("is another rule's name already: {which}"),
                )));
            }
            check_name(rule)
                .and_then(|()| possible::check(&rule.when).map_err(|error| error.within("when")))
                .and_then(|()| check_action(&rule.then, "then"))
                .map_err(within)?;
        }
        Ok(())
    }

    fn check_namespaces(&self) -> Result<(), ConfigError> {
        let refused = |problem| Err(ConfigError::new("namespaces", problem));
        for (prefix, namespace) in &self.namespaces {
            if prefix.is_empty() || namespace.is_empty() {
                return refused("must be namespaces by prefix, neither of them empty");
            }
            // Namespaces in XML 1.0, section 3: these two are bound for good.
            if prefix == "xml" || prefix == "xmlns" {
                return refused("must not have the prefixes xml and xmlns: these stand for what XML says");
            }
            if !is_prefix(prefix) {
                return refused(
                    "must have prefixes that are names without a colon: no expression could use others",
                );
            }
        }
        Ok(())
    }

    fn check_header(&self) -> Result<(), ConfigError> {
        let name = &self.header;
        let problem = if !is_token(name) || name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            "must be a header name in lower case"
        } else if has_meaning(name) {
            "must be a header that has no meaning of its own"
        } else if is_reserved(name.as_bytes()) && suite_owner(name) != Some(ContentRouter::NAME) {
            "is reserved; of such names, x-portcullis-route and those that begin with x-portcullis-route- may be used"
        } else {
            return Ok(());
        };
        Err(ConfigError::new("header", problem))
    }
}

/// A name without a colon (Namespaces in XML 1.0, production 4), about: what XPath cannot read, it refuses.
fn is_prefix(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && text.chars().all(|char| char.is_alphanumeric() || "_-.\u{b7}".contains(char))
}

/// The name of the rule at this place.
pub(crate) fn rule_name(at: usize, rule: &Rule) -> String {
    rule.name.clone().unwrap_or_else(|| format!("rule-{}", at.saturating_add(1)))
}

fn check_name(rule: &Rule) -> Result<(), ConfigError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    match &rule.name {
        Some(name) if !(1..=32).contains(&name.len()) || !name.bytes().all(is_plain) => {
            Err(ConfigError::new("name", "must be 1 to 32 of a to z, 0 to 9, _ and -"))
        }
        _ => Ok(()),
    }
}

fn check_action(action: &Action, field: &str) -> Result<(), ConfigError> {
    match action {
        Action::Pass => Ok(()),
        Action::Route(name) => {
            let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b',';
            if (1..=256).contains(&name.len()) && name.bytes().all(is_plain) {
                return Ok(());
            }
            let problem = "must be 1 to 256 printable ASCII characters, without spaces and commas";
            Err(ConfigError::new(format!("{field}.route"), problem))
        }
        Action::Reply(refusal) => in_range("status", u32::from(refusal.status), 400, 599)
            .and_then(|()| check_text("title", refusal.title.as_deref()))
            .and_then(|()| check_text("detail", refusal.detail.as_deref()))
            .map_err(|error| error.within("reply").within(field)),
    }
}

/// A title or a detail is for people, and for one line of a log.
fn check_text(field: &str, text: Option<&str>) -> Result<(), ConfigError> {
    match text {
        Some(text) if !(1..=1024).contains(&text.len()) || text.chars().any(char::is_control) => {
            Err(ConfigError::new(field, "must be 1 to 1024 bytes, without control characters"))
        }
        _ => Ok(()),
    }
}

fn in_range(field: &str, value: u32, least: u32, most: u32) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(field, format!("must be from {least} to {most}")))
    }
}
