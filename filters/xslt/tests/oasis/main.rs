//! The OASIS conformance suite for XSLT 1.0, the part that Lotus submitted: 1669 cases.
//!
//! The suite is not in the repository. It is looked for in the folder `xslt-oasis` of `$PORTCULLIS_CONFORMANCE`, or of
//! the folder `shared/conformance` beside the repository. Where it is not, there is nothing to check.
//!
//! Each case ends in one of four ways, and any other fails the test: the output is the expected one; a stylesheet or
//! a document is refused, and the message names a construct that is really there; the document has a document type
//! declaration; or the case is on the [list of exceptions](exceptions), each with its reason.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

mod canonical;
mod case;
mod exceptions;
mod refusals;
mod suite;

use std::collections::BTreeMap;

use crate::case::Verdict;
use crate::suite::Suite;

/// How many cases Lotus submitted.
const CASES: usize = 1669;

#[test]
fn every_case_agrees_or_is_accounted_for() {
    let Some(suite) = Suite::find() else { return };

    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    let mut needless = Vec::new();
    let cases = suite.cases();
    for case in &cases {
        let verdict = case::run(&suite, case);
        let exception = exceptions::reason(&case.id);
        let outcome = match (&verdict, exception) {
            (Verdict::Disagrees(_), Some(_)) => "excepted".to_owned(),
            (Verdict::Disagrees(how), None) => {
                failed.push(format!("{}: {how}", case.id));
                "failed".to_owned()
            }
            (_, Some(_)) => {
                needless.push(case.id.clone());
                verdict.to_string()
            }
            (_, None) => verdict.to_string(),
        };
        let count = counts.entry(outcome).or_default();
        *count += 1;
    }

    println!("{} cases", cases.len());
    for (outcome, count) in &counts {
        println!("{count:5}  {outcome}");
    }
    assert!(failed.is_empty(), "{} cases disagree:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(needless, Vec::<String>::new(), "exceptions for cases that need none");
    assert_eq!(cases.len(), CASES);
}

#[test]
fn every_exception_is_for_a_case_of_the_suite() {
    let Some(suite) = Suite::find() else { return };

    let cases = suite.cases();
    let unknown: Vec<&str> =
        exceptions::ids().filter(|id| !cases.iter().any(|case| case.id == **id)).collect();

    assert_eq!(unknown, Vec::<&str>::new());
}
