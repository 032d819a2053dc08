//! Thousands of expressions on generated documents, with libxml2 as the judge.
//!
//! The judge is Python's lxml, which `.ci/setup` installs; without it the test says that it is skipped.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

mod deviations;
mod documents;
mod expressions;
mod oracle;
mod random;

use std::collections::BTreeMap;

use portcullis_xml::xpath::{Budget, Namespaces, Value, XPath};
use portcullis_xml::{Document, Limits, NodeId, NodeKind};

use crate::deviations::{DEVIATIONS, Deviation};
use crate::documents::document;
use crate::expressions::Expressions;
use crate::oracle::{Case, Item, Verdict};
use crate::random::Random;

const SEED: u64 = 0x5EED_0F9A_7415;
const DOCUMENTS: usize = 250;
const EXPRESSIONS: usize = 60;

fn items() -> Vec<Item> {
    let mut random = Random::new(SEED);
    let items = (0..DOCUMENTS).map(|_| {
        let document = document(&mut random);
        let parsed = parse(&document);
        let contexts: Vec<usize> = nodes(&parsed)
            // lxml takes the document element where it is told to take the root.
            .filter(|(_, node)| parsed.kind(*node) == NodeKind::Element)
            .map(|(number, _)| number)
            .collect();
        let cases = (0..EXPRESSIONS).map(|_| case(&mut random, &parsed, &contexts)).collect();
        Item { document, cases }
    });
    items.collect()
}

/// An expression and a context. Most selects something: what selects nothing tells little.
fn case(random: &mut Random, document: &Document, contexts: &[usize]) -> Case {
    let mut attempts = 0;
    loop {
        let case = Case { context: random.choose(contexts), expression: Expressions::new(random).any() };
        attempts += 1;
        if attempts == 4 || !matches!(evaluate(document, &case), Verdict::Nodes(nodes) if nodes.is_empty()) {
            return case;
        }
    }
}

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), &Limits::default()).unwrap()
}

/// All nodes with their numbers in document order.
fn nodes(document: &Document) -> impl Iterator<Item = (usize, NodeId)> + '_ {
    let mut nodes = vec![NodeId::ROOT];
    let mut at = 0;
    while let Some(node) = nodes.get(at).copied() {
        let below: Vec<_> = document.attributes(node).chain(document.children(node)).collect();
        nodes.extend(below);
        at += 1;
    }
    nodes.sort_unstable();
    nodes.into_iter().enumerate()
}

fn evaluate(document: &Document, case: &Case) -> Verdict {
    let namespaces = Namespaces::from_iter([("p", "urn:p"), ("q", "urn:q")]);
    let compiled = match XPath::compile(&case.expression, &namespaces) {
        Ok(compiled) => compiled,
        Err(error) => return Verdict::Error(error.to_string()),
    };
    let numbered: Vec<NodeId> = nodes(document).map(|(_, node)| node).collect();
    match compiled.evaluate(document, numbered[case.context], &mut Budget::new(1 << 30)).unwrap() {
        Value::Boolean(boolean) => Verdict::Boolean(boolean),
        Value::Number(number) => Verdict::Number(number.to_string()),
        Value::String(string) => Verdict::String(string.into_owned()),
        Value::Nodes(nodes) => {
            let number = |node| numbered.binary_search(node).unwrap();
            // lxml hands on no roots.
            Verdict::Nodes(nodes.iter().map(number).filter(|number| *number > 0).collect())
        }
    }
}

impl Verdict {
    /// What a list of deviations calls it.
    fn shown(&self) -> String {
        match self {
            Self::Nodes(nodes) => nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Self::Number(number) => number.parse::<f64>().unwrap().to_string(),
            Self::Boolean(boolean) => boolean.to_string(),
            Self::String(text) | Self::Error(text) => text.clone(),
        }
    }
}

#[test]
fn agrees_with_libxml2() {
    let items = items();
    let Some(verdicts) = oracle::ask(&items) else { return };
    let mut counts = BTreeMap::<&str, usize>::new();
    let (mut excused, mut disagreements) = (0, Vec::new());
    let mut verdicts = verdicts.iter();
    for item in &items {
        let document = parse(&item.document);
        for case in &item.cases {
            let theirs = verdicts.next().expect("a verdict for each case");
            let ours = evaluate(&document, case);
            *counts.entry(theirs.kind()).or_default() += 1;
            if ours.agrees(theirs) {
                continue;
            }
            if deviations::excuses(&case.expression) {
                excused += 1;
            } else {
                let Case { context, expression } = case;
                let document = &item.document;
                disagreements.push(format!("{document}\nat {context}: {expression}\n{ours:?}\n{theirs:?}\n"));
            }
        }
    }
    let all: usize = counts.values().sum();
    println!("{all} expressions on {DOCUMENTS} documents: {counts:?}; known deviations: {excused}");
    let shown = disagreements.get(..10).unwrap_or(&disagreements).join("\n");
    assert!(disagreements.is_empty(), "{} disagreements: {shown}", disagreements.len());

    // The judge has had something to judge.
    assert!(all >= 10_000 && excused * 100 < all, "{all} {excused}");
    assert_eq!(counts.get("error"), None);
    assert!(
        ["nodes", "boolean", "number", "string"].iter().all(|kind| counts[kind] * 12 > all),
        "{counts:?}"
    );
}

#[test]
fn deviates_from_libxml2_where_it_deviates_from_the_specification() {
    let items: Vec<_> = DEVIATIONS
        .iter()
        .map(|deviation| Item {
            document: deviation.document.to_owned(),
            cases: vec![Case {
                context: number_of_the_document_element(deviation.document),
                expression: deviation.expression.to_owned(),
            }],
        })
        .collect();
    let Some(verdicts) = oracle::ask(&items) else { return };
    for ((deviation, item), theirs) in DEVIATIONS.iter().zip(&items).zip(verdicts) {
        let Deviation { document, expression, section, .. } = deviation;
        let ours = evaluate(&parse(document), &item.cases[0]);
        assert_eq!(ours.shown(), deviation.ours, "{expression}, section {section}");
        assert_eq!(theirs.shown(), deviation.theirs, "{expression}, section {section}");
    }
}

fn number_of_the_document_element(document: &str) -> usize {
    let parsed = parse(document);
    let (number, _) = nodes(&parsed).find(|(_, node)| parsed.kind(*node) == NodeKind::Element).unwrap();
    number
}
