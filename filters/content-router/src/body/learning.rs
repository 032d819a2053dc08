//! What has been learned of an envelope.

use std::rc::Rc;

use portcullis_policy::HeaderList;
use portcullis_xml::xpath::stream::{SoapMatcher, StreamSet};

use super::envelope::EnvelopeTest;
use super::{BodyFacts, Undecidable};
use crate::condition::Facts;
use crate::rules::{Rules, Ruling};
use crate::truth::Truth;

/// How a test has come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Known(bool),
    /// It has not yet.
    Open,
    /// It never will: it would take more than is kept or done for a body.
    TooLarge,
}

impl Verdict {
    /// What is known, or not yet.
    pub(super) fn known(truth: Truth) -> Self {
        match truth {
            Truth::True => Self::Known(true),
            Truth::False => Self::Known(false),
            Truth::Unknown => Self::Open,
        }
    }

    /// Whether one of them is true.
    pub(super) fn any(verdicts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Self::Known(false);
        for verdict in verdicts {
            any = match (any, verdict) {
                (Self::Known(true), _) | (_, Self::Known(true)) => Self::Known(true),
                (Self::Open, _) | (_, Self::Open) => Self::Open,
                (Self::TooLarge, _) | (_, Self::TooLarge) => Self::TooLarge,
                (Self::Known(false), Self::Known(false)) => Self::Known(false),
            };
        }
        any
    }
}

/// What the tests that matter have come to in a body. Rules that the headers have decided have none that do.
#[derive(Debug)]
pub(super) struct Learned {
    truths: Vec<Truth>,
    /// The tests that may still come out.
    open: Vec<usize>,
    /// Those that never will. That matters only when nothing else can decide a rule any more.
    too_large: Vec<usize>,
    /// For each place of the stream's set how many open tests ask it.
    asked: Vec<u32>,
}

impl Learned {
    /// Nothing, of the tests that are open. The matcher is told of the places that none of these asks.
    pub(super) fn new(
        tests: &[EnvelopeTest],
        open: Vec<usize>,
        matcher: &mut SoapMatcher<Rc<StreamSet>>,
        places: usize,
    ) -> Self {
        let mut asked = vec![0u32; places];
        for place in open.iter().filter_map(|at| tests.get(*at)).flat_map(EnvelopeTest::places) {
            if let Some(count) = asked.get_mut(*place) {
                *count = count.saturating_add(1);
            }
        }
        for (place, _) in asked.iter().enumerate().filter(|(_, count)| **count == 0) {
            matcher.forget(place);
        }
        Self { truths: vec![Truth::Unknown; tests.len()], open, too_large: Vec::new(), asked }
    }

    /// Asks the open tests what they have come to. Says whether one of them has. Their texts are not kept any longer.
    pub(super) fn look(&mut self, tests: &[EnvelopeTest], matcher: &mut SoapMatcher<Rc<StreamSet>>) -> bool {
        let before = self.open.len();
        for at in core::mem::take(&mut self.open) {
            let Some(test) = tests.get(at) else { continue };
            match test.verdict(matcher) {
                Verdict::Open => self.open.push(at),
                verdict => {
                    self.note(at, verdict);
                    self.forget(test.places(), matcher);
                }
            }
        }
        self.open.len() < before
    }

    /// A test has come out.
    pub(super) fn learn(&mut self, test: usize, verdict: Verdict) {
        self.open.retain(|open| *open != test);
        self.note(test, verdict);
    }

    fn note(&mut self, test: usize, verdict: Verdict) {
        match (verdict, self.truths.get_mut(test)) {
            (Verdict::Known(is_true), Some(truth)) => *truth = is_true.into(),
            _ => self.too_large.push(test),
        }
    }

    fn forget(&mut self, places: &[usize], matcher: &mut SoapMatcher<Rc<StreamSet>>) {
        for place in places {
            if let Some(count) = self.asked.get_mut(*place) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    matcher.forget(*place);
                }
            }
        }
    }

    /// What the rules say to it.
    ///
    /// # Errors
    /// [`Undecidable::TooLarge`] where the rule that is to decide next depends on nothing but tests that never come out.
    pub(super) fn rule(&self, rules: &Rules, headers: &HeaderList) -> Result<Ruling, Undecidable> {
        let ruling = rules.decide(self.facts(headers));
        if ruling == Ruling::Undecided
            && !self.too_large.is_empty()
            && self.waits_for(rules, headers).is_empty()
        {
            return Err(Undecidable::TooLarge);
        }
        Ok(ruling)
    }

    /// The tests for which the rule that is to decide next is waiting, in the order in which they stand in it.
    pub(super) fn waits_for(&self, rules: &Rules, headers: &HeaderList) -> Vec<usize> {
        let mut tests = rules.open(self.facts(headers)).next().unwrap_or_default();
        tests.retain(|test| !self.too_large.contains(test));
        tests
    }

    fn facts<'a>(&'a self, headers: &'a HeaderList) -> Facts<'a> {
        Facts { headers, body: BodyFacts::Envelope(&self.truths) }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_xml::soap::Binding;
    use serde_json::{Value, json};

    use super::*;
    use crate::body::{Audience, BodyReader, BodyTests, EnvelopeReading};
    use crate::config::Config;

    /// How many bytes of text a request has the worker keep that has sent this much.
    fn kept(rules: Vec<Value>, sent: &str) -> usize {
        let rule = |when: &Value| json!({"when": when, "then": {"route": "r"}});
        let config: Value = json!({"rules": rules.iter().map(rule).collect::<Vec<_>>()});
        let config: Config = serde_json::from_value(config).unwrap();
        let mut tests = BodyTests::new(&config);
        let rules = Rules::compile(&config.rules, &mut tests).unwrap();
        let reader: BodyReader = tests.finish(&config.body);
        let headers: HeaderList = [(":method", "POST"), (":path", "/")].into_iter().collect();
        let body = BodyFacts::Envelope(&[]);
        let open = rules.open(Facts { headers: &headers, body }).flatten().collect();
        let mut reading = EnvelopeReading::new(&reader, open, Binding::Xml, None, Audience::None);
        for piece in sent.as_bytes().chunks(16 << 10) {
            assert_eq!(reading.feed(piece, &reader, &rules, &headers), Ok(Ruling::Undecided));
        }
        reading.kept()
    }

    fn operation() -> Value {
        json!({"operation": {"namespace": "urn:o", "name": "ping"}})
    }

    fn block(value: &str) -> Value {
        json!({"soap-header": {"namespace": "urn:h", "name": "region", "value": {"exact": value}}})
    }

    const LENGTH: usize = 60_000;

    /// A request that holds back the end of its header block, or what comes behind it. Text comes out of the tokenizer
    /// when it is there as a whole.
    fn sent(end: &str) -> String {
        let text = "e".repeat(LENGTH);
        format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'>\
             <e:Header><region xmlns='urn:h'>{text}<i/>{end}"
        )
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_rules() {
        for rules in [1, 50, 200] {
            // Requests wait for their operation, whatever the rules behind say of their header blocks.
            let all =
                || [operation()].into_iter().chain((0..rules).map(|at| block(&format!("v{at}")))).collect();
            let while_open = kept(all(), &sent(""));
            assert!((LENGTH..=2 * (64 << 10)).contains(&while_open), "{while_open} with {rules} rules");
            let behind = kept(all(), &sent("</region><more>"));
            assert!(behind <= 1000, "{behind} with {rules} rules");
        }
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_ways_to_say_the_same() {
        let paths = (0..50).map(|at| {
            let expression = format!("/*/*[position() < {}]/*", at + 2);
            json!({"xpath": {"expression": expression, "value": {"exact": "x"}}})
        });
        let kept = kept([operation()].into_iter().chain(paths).collect(), &sent("</region><more>"));
        assert!(kept <= 1000, "{kept}");
    }

    #[test]
    fn nothing_is_kept_for_rules_that_the_headers_have_decided() {
        let elsewhere = json!({"path": {"exact": "/elsewhere"}});
        let here = json!({"path": {"exact": "/"}});
        for irrelevant in [
            json!({"all": [elsewhere, block("a")]}),
            json!({"all": [block("a"), elsewhere]}),
            json!({"not": {"any": [block("a"), here]}}),
            json!({"all": [operation(), {"any": [{"all": [elsewhere, block("a")]}, here]}]}),
        ] {
            let kept = kept(vec![operation(), irrelevant.clone()], &sent(""));
            assert!(kept <= 1000, "{kept} for {irrelevant}");
        }
        // Nor behind one that is true in any case.
        assert!(kept(vec![operation(), here, block("a")], &sent("")) <= 1000);
        assert!(kept(vec![operation(), block("a")], &sent("")) >= LENGTH);
    }

    #[test]
    fn one_that_is_true_is_enough_and_otherwise_all_have_to_be_known() {
        use Verdict::{Known, Open, TooLarge};
        for (verdicts, expected) in [
            (&[][..], Known(false)),
            (&[Known(false), Known(true)], Known(true)),
            (&[TooLarge, Known(true)], Known(true)),
            (&[Open, Known(true)], Known(true)),
            (&[TooLarge, Open], Open),
            (&[Open, Known(false)], Open),
            (&[Known(false), TooLarge], TooLarge),
            (&[Known(false), Known(false)], Known(false)),
        ] {
            assert_eq!(Verdict::any(verdicts.iter().copied()), expected, "{verdicts:?}");
            assert_eq!(Verdict::any(verdicts.iter().rev().copied()), expected, "{verdicts:?}");
        }
    }
}
