//! Ordered rules.

use portcullis_policy::ConfigError;

use crate::action::Action;
use crate::body::BodyTests;
use crate::condition::{Condition, Facts};
use crate::config;
use crate::truth::Truth;

/// Compiled rules.
#[derive(Debug)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    when: Condition,
    then: Action,
}

/// What the rules say of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// The rule of this number is true, and those before it are not.
    Rule(usize),
    /// None is true.
    Default,
    /// It depends on what is not known yet.
    Undecided,
}

impl Rules {
    pub(crate) fn compile(rules: &[config::Rule], tests: &mut BodyTests) -> Result<Self, ConfigError> {
        let compile = |(at, rule): (usize, &config::Rule)| {
            let when = Condition::compile(&rule.when, tests)
                .map_err(|error| error.within("when").within(&format!("rules[{at}]")))?;
            Ok(Rule { when, then: Action::compile(&rule.then, "content_router_rule") })
        };
        Ok(Self { rules: rules.iter().enumerate().map(compile).collect::<Result<_, _>>()? })
    }

    /// What the rules say, as far as is known: the first that is not false decides, or nothing does yet.
    pub(crate) fn decide(&self, facts: Facts<'_>) -> Ruling {
        for (at, rule) in self.rules.iter().enumerate() {
            match rule.when.truth(facts) {
                Truth::True => return Ruling::Rule(at),
                Truth::Unknown => return Ruling::Undecided,
                Truth::False => {}
            }
        }
        Ruling::Default
    }

    /// For each rule that may still come to decide, in order, the tests of the body on which it depends.
    pub(crate) fn open(&self, facts: Facts<'_>) -> impl Iterator<Item = Vec<usize>> {
        let asked = self.rules.iter().map(move |rule| {
            let mut open = Vec::new();
            (rule.when.ask(facts, &mut open), open)
        });
        // What stands behind a rule that is true does not decide any more.
        asked
            .take_while(|(truth, _)| *truth != Truth::True)
            .filter_map(|(truth, open)| (truth == Truth::Unknown).then_some(open))
    }

    /// What becomes of requests for which the rule of this number decides.
    pub(crate) fn action(&self, rule: usize) -> Option<&Action> {
        self.rules.get(rule).map(|rule| &rule.then)
    }
}
