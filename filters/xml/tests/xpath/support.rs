//! Evaluating, and telling what came out.

use portcullis_xml::xpath::{Budget, CompileError, EvaluateError, Namespaces, Value, XPath};
use portcullis_xml::{Document, Limits, NodeId, NodeKind};

pub(crate) fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), &Limits::default()).unwrap()
}

pub(crate) fn namespaces() -> Namespaces {
    Namespaces::from_iter([("p", "urn:p"), ("q", "urn:q")])
}

pub(crate) fn compile(expression: &str) -> Result<XPath, CompileError> {
    XPath::compile(expression, &namespaces())
}

/// Evaluates an expression with the root as the context, and describes what it yields.
pub(crate) fn eval(document: &Document, expression: &str) -> String {
    eval_at(document, NodeId::ROOT, expression)
}

/// Evaluates an expression with each node that another one selects as the context.
pub(crate) fn eval_from(document: &Document, from: &str, expression: &str) -> String {
    let path = compile(from).unwrap();
    let Value::Nodes(nodes) = path.evaluate(document, NodeId::ROOT, &mut Budget::new(1 << 30)).unwrap()
    else {
        panic!("{from} selects no nodes")
    };
    let results: Vec<_> = nodes.iter().map(|node| eval_at(document, *node, expression)).collect();
    results.join("; ")
}

pub(crate) fn eval_at(document: &Document, node: NodeId, expression: &str) -> String {
    let compiled = compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let mut budget = Budget::new(1 << 30);
    let value = compiled.evaluate(document, node, &mut budget).unwrap();

    // Whatever short ways there are to the string and to the truth of a value, they lead to the same.
    let string = compiled.string(document, node, &mut budget).unwrap();
    assert_eq!(string, value.clone().into_string(document), "{expression}");
    assert_eq!(compiled.matches(document, node, &mut budget).unwrap(), value.to_boolean(), "{expression}");
    describe(document, &value)
}

pub(crate) fn evaluate_with(
    document: &Document,
    expression: &str,
    steps: u64,
) -> Result<String, EvaluateError> {
    let compiled = compile(expression).unwrap();
    let value = compiled.evaluate(document, NodeId::ROOT, &mut Budget::new(steps))?;
    Ok(describe(document, &value))
}

/// Strings in quotes, nodes as what stands for them in the document.
fn describe(document: &Document, value: &Value<'_>) -> String {
    match value {
        Value::String(string) => format!("'{string}'"),
        Value::Boolean(_) | Value::Number(_) => value.clone().into_string(document).into_owned(),
        Value::Nodes(nodes) => {
            let nodes: Vec<_> = nodes.iter().map(|node| describe_node(document, *node)).collect();
            if nodes.is_empty() { "nothing".to_owned() } else { nodes.join(" ") }
        }
    }
}

fn describe_node(document: &Document, node: NodeId) -> String {
    let (name, text) = (document.local_name(node), document.string_value(node));
    match document.kind(node) {
        NodeKind::Root => "/".to_owned(),
        NodeKind::Element => name.to_owned(),
        NodeKind::Attribute => format!("@{name}"),
        NodeKind::Text => format!("'{text}'"),
        NodeKind::Comment => format!("<!--{text}-->"),
        NodeKind::ProcessingInstruction => format!("<?{name}?>"),
    }
}

/// Evaluates each expression on a document with the root as the context.
pub(crate) fn check(document: &str, table: &[(&str, &str)]) {
    let document = parse(document);
    for (expression, expected) in table {
        assert_eq!(eval(&document, expression), *expected, "{expression}");
    }
}
