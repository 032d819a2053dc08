//! Expressions of any text, evaluated for every node of a document.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use portcullis_xml::xpath::{Budget, EvaluateError, Value};
use portcullis_xml::{Document, Limits, Namespaces, NodeId, XPath};

const DOCUMENT: &str = "<!--c--><r xmlns:p='urn:p' xmlns:q='urn:q' k='1' xml:lang='en'><p:a k='1' l='x'>x<b>1</b>\
    <b>2<c/></b></p:a><?x 3?><q:b p:k='2'><b> 3 <b k=''>äß𝄞</b></b><c xml:lang='de'>y 2.5</c><c/></q:b></r><?y?>";

/// What an evaluation may take here.
const STEPS: u64 = 100_000;

static TREE: LazyLock<Document> =
    LazyLock::new(|| Document::parse(DOCUMENT.as_bytes(), &Limits::default()).unwrap());

fn nodes(document: &Document) -> Vec<NodeId> {
    let mut nodes = vec![NodeId::ROOT];
    let mut at = 0;
    while let Some(node) = nodes.get(at).copied() {
        nodes.extend(document.attributes(node).chain(document.children(node)));
        at += 1;
    }
    nodes
}

fuzz_target!(|expression: &str| {
    let namespaces = Namespaces::from_iter([("p", "urn:p"), ("q", "urn:q")]);
    let compiled = match XPath::compile(expression, &namespaces) {
        Ok(compiled) => compiled,
        Err(error) => {
            assert!(error.column > 0 && error.column <= expression.chars().count() + 1);
            assert!(error.to_string().len() < 1024);
            return;
        }
    };

    let document = &*TREE;
    for node in nodes(document) {
        let mut budget = Budget::new(STEPS);
        let value = match compiled.evaluate(document, node, &mut budget) {
            Ok(value) => value,
            Err(EvaluateError::BudgetExceeded) => {
                assert_eq!(budget.left(), 0);
                return;
            }
            Err(other) => panic!("{other}"),
        };
        if let Value::Nodes(nodes) = &value {
            assert!(nodes.is_sorted_by(|a, b| a < b), "in document order, each once");
        }
        // Short ways lead to the same end.
        let mut budget = Budget::new(STEPS * 2);
        assert_eq!(compiled.matches(document, node, &mut budget).ok(), Some(value.to_boolean()));
        let mut budget = Budget::new(STEPS * 2);
        let string = compiled.string(document, node, &mut budget).ok();
        assert_eq!(string, Some(value.into_string(document)));
    }
});
