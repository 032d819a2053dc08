//! The W3C's XML conformance suite, as far as it is about documents without a document type declaration.
//!
//! The suite is not in the repository. It is `xmlts20130923.zip` of <https://www.w3.org/XML/Test/>, looked for in the
//! folder `xmlconf` of `$PORTCULLIS_CONFORMANCE`, or of the folder `shared/conformance` beside the repository. Where
//! it is not, there is nothing to check.
#![cfg(test)]

mod catalog;
mod document;
mod suite;

use portcullis_xml::{ErrorKind, Limits};

use crate::catalog::{Case, Namespaces, Verdict};
use crate::document::{has_document_type, refusal, refusal_in_chunks};
use crate::suite::Suite;

/// The cases that are about XML 1.0, fifth edition, and Namespaces 1.0, with their documents.
fn cases(suite: &Suite) -> Vec<(Case, Vec<u8>)> {
    let cases = catalog::read(suite);
    assert!(cases.len() > 2000, "{} cases: the catalog was not read", cases.len());
    cases
        .into_iter()
        .filter(|case| case.is_in_force)
        .map(|case| {
            let document = suite.file(&case.path);
            (case, document)
        })
        .collect()
}

#[test]
fn refuses_every_document_without_a_document_type_that_is_not_well_formed() {
    let Some(suite) = Suite::find() else { return };

    let (mut refused, mut unread, mut accepted) = (0, Vec::new(), Vec::new());
    for (case, document) in cases(&suite) {
        if case.verdict != Verdict::NotWellFormed || has_document_type(&document) {
            continue;
        }
        match refusal(&document, &Limits::default()).map(|error| error.kind) {
            None => accepted.push(case.id),
            Some(ErrorKind::DocumentType | ErrorKind::LimitExceeded(..)) => panic!("{}", case.path),
            Some(ErrorKind::UnsupportedEncoding(name)) => unread.push((case.id, name)),
            Some(_) => refused += 1,
        }
    }

    println!(
        "not well-formed, no document type: {refused} refused, {} accepted; refused for the name of their encoding: \
         {unread:?}",
        accepted.len()
    );
    assert_eq!(accepted, Vec::<String>::new());
    assert!(refused > 200, "{refused}");
}

#[test]
fn accepts_every_document_without_a_document_type_that_is_well_formed() {
    let Some(suite) = Suite::find() else { return };

    let (mut accepted, mut without_namespaces, mut foreign, mut refused) = (0, 0, Vec::new(), Vec::new());
    for (case, document) in cases(&suite) {
        if !matches!(case.verdict, Verdict::Valid | Verdict::Invalid) || has_document_type(&document) {
            continue;
        }
        match (refusal(&document, &Limits::default()).map(|error| error.kind), case.namespaces) {
            (None, Namespaces::Yes) => accepted += 1,
            (Some(ErrorKind::Namespace(_)), Namespaces::No) => without_namespaces += 1,
            (Some(ErrorKind::UnsupportedEncoding(name)), _) => foreign.push((case.id, name)),
            (kind, _) => refused.push((case.id, kind)),
        }
    }

    println!(
        "well-formed, no document type: {accepted} accepted, {} refused; not by namespaces: \
         {without_namespaces} refused; in other encodings: {foreign:?}",
        refused.len()
    );
    assert_eq!(refused, Vec::new());
    assert!(accepted > 10, "{accepted}");
}

#[test]
fn refuses_every_document_type_for_what_it_is() {
    let Some(suite) = Suite::find() else { return };

    let (mut refused, mut others) = (0, Vec::new());
    for (case, document) in cases(&suite) {
        if !matches!(case.verdict, Verdict::Valid | Verdict::Invalid) || !has_document_type(&document) {
            continue;
        }
        match refusal(&document, &Limits::default()).map(|error| error.kind) {
            Some(ErrorKind::DocumentType) => refused += 1,
            Some(ErrorKind::UnsupportedEncoding(_)) => {}
            kind => others.push((case.id, kind)),
        }
    }

    println!("well-formed, with a document type: {refused} refused for it");
    assert_eq!(others, Vec::new());
    assert!(refused > 500, "{refused}");
}

#[test]
fn refuses_every_other_document_that_is_not_well_formed_too() {
    let Some(suite) = Suite::find() else { return };

    let accepted: Vec<String> = cases(&suite)
        .into_iter()
        .filter(|(case, document)| {
            case.verdict == Verdict::NotWellFormed && refusal(document, &Limits::default()).is_none()
        })
        .map(|(case, _)| case.id)
        .collect();

    assert_eq!(accepted, Vec::<String>::new());
}

#[test]
fn says_the_same_of_every_document_byte_by_byte() {
    let Some(suite) = Suite::find() else { return };

    let different: Vec<String> = cases(&suite)
        .into_iter()
        .filter(|(_, document)| {
            let limits = Limits::default();
            refusal_in_chunks(document.chunks(1), &limits) != refusal(document, &limits)
        })
        .map(|(case, _)| case.id)
        .collect();

    assert_eq!(different, Vec::<String>::new());
}
