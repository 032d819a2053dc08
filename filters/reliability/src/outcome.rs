//! What becomes of a request: what must, what does, and in what they differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the client has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Nothing: it has left.
    Nothing,
    /// A response without a body: to HEAD, or one that switches protocols.
    Bodiless,
    /// The upstream's body, byte for byte.
    Upstream,
    /// The upstream's body, transformed.
    Transformed,
    /// A body of the gateway's own: a policy's or Envoy's.
    Gateway,
}

impl Answer {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nobody",
            Self::Bodiless => "no body",
            Self::Upstream => "the upstream's",
            Self::Transformed => "transformed",
            Self::Gateway => "the gateway's",
        }
    }
}

/// What the upstream has got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// Not a byte, nor a connection.
    No,
    /// A connection was tried and refused.
    Tried,
    /// The request's beginning: its client has left.
    Part,
    /// The whole request, as it must be there.
    Whole,
    /// A whole request that is not what it must be, and why.
    Wrong(String),
}

impl Reached {
    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::No => "no".to_owned(),
            Self::Tried => "tried".to_owned(),
            Self::Part => "in part".to_owned(),
            Self::Whole => "yes".to_owned(),
            Self::Wrong(why) => format!("wrongly: {why}"),
        }
    }
}

/// How much a counter grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Count {
    /// By so much.
    Exactly(u64),
    /// By so much, or more: where something is tried again until it succeeds.
    AtLeast(u64),
}

impl Count {
    fn allows(self, found: u64) -> bool {
        match self {
            Self::Exactly(n) => found == n,
            Self::AtLeast(n) => found >= n,
        }
    }
}

impl From<Count> for String {
    fn from(count: Count) -> Self {
        match count {
            Count::Exactly(n) => n.to_string(),
            Count::AtLeast(n) => format!("≥ {n}"),
        }
    }
}

impl TryFrom<String> for Count {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.strip_prefix("≥ ") {
            Some(n) => Ok(Self::AtLeast(n.parse()?)),
            None => Ok(Self::Exactly(text.parse()?)),
        }
    }
}

/// A counter of the suite's, without what all of them begin with, such as `client_id.admitted`.
pub type Counter = String;

/// What must become of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The status that the client gets; none if it leaves before.
    pub status: Option<u16>,
    /// What it gets besides.
    pub answer: Answer,
    /// What the upstream gets.
    pub upstream: Reached,
    /// The status in the log: access-log's where that policy stands, else Envoy's own.
    pub logged_status: Option<u16>,
    /// What `%RESPONSE_CODE_DETAILS%` begins with.
    pub details: String,
    /// What the log says that policies have decided.
    pub outcomes: Vec<String>,
    /// How many lines access-log writes.
    pub lines: usize,
    /// How much counters grow; those that are not here do not.
    pub counters: BTreeMap<Counter, Count>,
}

/// What has become of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The status that the client got.
    pub status: Option<u16>,
    /// What it got besides.
    pub answer: Answer,
    /// What the upstream got.
    pub upstream: Reached,
    /// The status in the log: access-log's where that policy stands, else Envoy's own.
    pub logged_status: Option<u16>,
    /// `%RESPONSE_CODE_DETAILS%`.
    pub details: String,
    /// What the log says that policies have decided.
    pub outcomes: Vec<String>,
    /// How many lines access-log wrote.
    pub lines: usize,
    /// How much counters grew.
    pub counters: BTreeMap<Counter, u64>,
}

impl Expected {
    /// Whether the counters have grown so far as they must; they may have grown further.
    pub fn is_reached_by(&self, counters: &BTreeMap<Counter, u64>) -> bool {
        self.counters.iter().all(|(name, count)| {
            let (Count::Exactly(least) | Count::AtLeast(least)) = *count;
            counters.get(name).copied().unwrap_or(0) >= least
        })
    }

    /// In what `observed` is not what must be, a sentence for each; none if nothing.
    pub fn differences(&self, observed: &Observed) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, expected: String, observed: String| {
            if expected != observed {
                found.push(format!("{what}: {expected} expected, {observed} found"));
            }
        };
        compare("status", status(self.status), status(observed.status));
        compare("answer", self.answer.words().to_owned(), observed.answer.words().to_owned());
        compare("upstream reached", self.upstream.words(), observed.upstream.words());
        compare("status in the log", status(self.logged_status), status(observed.logged_status));
        compare("outcomes", self.outcomes.join(", "), observed.outcomes.join(", "));
        compare("lines of access-log", self.lines.to_string(), observed.lines.to_string());
        if !observed.details.starts_with(&self.details) {
            compare("details", self.details.clone(), observed.details.clone());
        }
        let names = self.counters.keys().chain(observed.counters.keys());
        let names: std::collections::BTreeSet<_> = names.collect();
        for name in names {
            let expected = self.counters.get(name).copied().unwrap_or(Count::Exactly(0));
            let observed = observed.counters.get(name).copied().unwrap_or(0);
            if !expected.allows(observed) {
                compare(name, expected.into(), observed.to_string());
            }
        }
        found
    }
}

/// A status in words.
pub fn status(status: Option<u16>) -> String {
    status.map_or_else(|| "none".to_owned(), |status| status.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> Expected {
        Expected {
            status: Some(200),
            answer: Answer::Upstream,
            upstream: Reached::Whole,
            logged_status: Some(200),
            details: "via_upstream".to_owned(),
            outcomes: vec!["client-id:passed:admitted".to_owned()],
            lines: 1,
            counters: [("a".to_owned(), Count::Exactly(1)), ("b".to_owned(), Count::AtLeast(2))].into(),
        }
    }

    fn observed() -> Observed {
        Observed {
            status: Some(200),
            answer: Answer::Upstream,
            upstream: Reached::Whole,
            logged_status: Some(200),
            details: "via_upstream".to_owned(),
            outcomes: vec!["client-id:passed:admitted".to_owned()],
            lines: 1,
            counters: [("a".to_owned(), 1), ("b".to_owned(), 5)].into(),
        }
    }

    #[test]
    fn sees_every_difference() {
        assert_eq!(expected().differences(&observed()), Vec::<String>::new());
        let changes: [fn(&mut Observed); 11] = [
            |observed| observed.status = None,
            |observed| observed.answer = Answer::Gateway,
            |observed| observed.upstream = Reached::Part,
            |observed| observed.logged_status = Some(503),
            |observed| observed.details = "response_timeout".to_owned(),
            |observed| observed.outcomes.clear(),
            |observed| observed.lines = 2,
            |observed| *observed.counters.get_mut("a").unwrap() = 2,
            |observed| *observed.counters.get_mut("b").unwrap() = 1,
            |observed| {
                observed.counters.remove("a");
            },
            |observed| {
                observed.counters.insert("c".to_owned(), 1);
            },
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut observed = observed();
            change(&mut observed);
            assert_eq!(expected().differences(&observed).len(), 1, "{at}");
        }
    }

    #[test]
    fn counts_are_read_as_they_are_written() {
        for count in [Count::Exactly(3), Count::AtLeast(2)] {
            assert_eq!(Count::try_from(String::from(count)).unwrap(), count);
        }
    }
}
