//! The engine and libxslt on the same stylesheets and documents, which are made up.
//!
//! libxslt is used through Python's lxml, which `.ci/setup` installs; where it is not installed, there is nothing to
//! compare with. What is made up is the same in every run, and keeps clear of what libxslt is known to do wrong. Another
//! first seed than 0 can be given as `PORTCULLIS_SEED`.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

#[path = "../oasis/canonical.rs"]
mod canonical;
mod document;
mod expression;
mod generate;
mod oracle;
mod random;
mod sizes;

use portcullis_xml::Limits;
use portcullis_xslt::{CompileOptions, NoMessages, Parameters, Stylesheet, TransformLimits};

use crate::canonical::{Prefixes, Space};
use crate::generate::Pair;
use crate::oracle::{Answer, Oracle};

const PAIRS: u64 = 3_300;

/// Room for the largest documents.
const LIMITS: Limits = Limits {
    depth: 256,
    attributes: 128,
    bindings: 128,
    namespaces: 1024,
    name_bytes: 1 << 16,
    value_bytes: 1 << 16,
    text_bytes: 1 << 20,
    document_bytes: 8 << 20,
    nodes: 1 << 21,
};

/// What libxslt says, by way of lxml, when it stops where the engine leaves an attribute out, as it may (XSLT 1.0,
/// section 7.1.3).
const LATE_ATTRIBUTES: &[&str] = &[
    "xsl:attribute: Cannot add attributes to an element if children have been already added to the element.",
    "Attribute nodes must be added before any child nodes to an element.",
    "Cannot add an attribute node to a non-element node.",
];

#[test]
fn transforms_like_libxslt() {
    let Some(oracle) = Oracle::find() else { return };

    let first = std::env::var("PORTCULLIS_SEED").map_or(0, |seed| seed.parse().unwrap());
    let pairs: Vec<Pair> = (first..first + PAIRS).map(generate::pair).collect();
    let answers = oracle.ask("differential-pairs", &pairs);
    assert_eq!(answers.len(), pairs.len());
    let (mut agreed, mut bytes, mut late, mut disagreed) = (0_usize, 0, 0_usize, Vec::new());
    for (seed, (pair, answer)) in pairs.iter().zip(&answers).enumerate() {
        match (transform(pair), answer) {
            (Ok(output), Answer::Output(expected)) if same(&output, expected) => {
                agreed += 1;
                bytes += output.len();
            }
            (Ok(_), Answer::Error(error)) if LATE_ATTRIBUTES.contains(&&**error) => late += 1,
            (output, answer) => disagreed.push(describe(seed, pair, &output, answer)),
        }
    }

    println!(
        "{agreed} agree, with {bytes} bytes of output; {late} have attributes that come too late; {} disagree",
        disagreed.len()
    );
    assert!(disagreed.is_empty(), "{} disagree:\n{}", disagreed.len(), disagreed.join("\n"));
    // The pairs are no mere failures, nor empty documents.
    assert!(agreed > 3_000, "{agreed}");
    assert!(bytes / agreed > 200, "{bytes}");
}

fn transform(pair: &Pair) -> Result<Vec<u8>, String> {
    let stylesheet = Stylesheet::compile(pair.stylesheet.as_bytes(), &CompileOptions::default())
        .map_err(|error| format!("does not compile: {error}"))?;
    let source = stylesheet
        .parse(pair.document.as_bytes(), &LIMITS)
        .map_err(|error| format!("does not parse: {error}"))?;
    // Copies of copies make more of a small document than any stylesheet should.
    let limits = TransformLimits {
        output_factor: 100_000,
        output_bytes: 64 << 20,
        steps: 200_000_000,
        nodes: 1 << 21,
        ..TransformLimits::default()
    };
    let output = stylesheet.transform(source, &Parameters::new(), &limits, &mut NoMessages);
    Ok(output.map_err(|error| format!("fails: {error}"))?.bytes)
}

fn same(output: &[u8], expected: &[u8]) -> bool {
    if output == expected {
        return true;
    }
    let canonical = |output| {
        let tree = canonical::parse(output).ok()?;
        // Which superfluous declarations there are is left to the processor.
        Some(canonical::canonical(&tree, Space::Kept, Prefixes::Ignored))
    };
    matches!((canonical(output), canonical(expected)), (Some(output), Some(expected)) if output == expected)
}

fn describe(seed: usize, pair: &Pair, output: &Result<Vec<u8>, String>, answer: &Answer) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = output.as_ref().map(|output| text(output));
    let answer = match answer {
        Answer::Output(output) => Ok(text(output)),
        Answer::Error(error) => Err(error),
    };
    format!(
        "=== seed {seed}\n{}\n{}\n--- engine\n{output:?}\n--- libxslt\n{answer:?}",
        pair.document, pair.stylesheet
    )
}
