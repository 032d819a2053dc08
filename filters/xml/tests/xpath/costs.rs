//! What evaluations are charged for: whatever text and whichever nodes they go through, each time they do.

use std::borrow::Cow;

use portcullis_xml::xpath::ast::{HostFunction, Reads, Slot, Type, Variable};
use portcullis_xml::xpath::{
    Bindings, Budget, Context, Environment, EvaluateError, Evaluation, HostCall, HostSignature, Lookup,
    NamePool, StaticContext, Value, compile,
};
use portcullis_xml::{Document, NodeId};

use crate::support::{eval, parse};

/// Variables `nodes`, `text` and `number`; `any-nodes` and `any-text`, of which the compiler knows no type; `owned-nodes`
/// and `owned-text`, which are made anew each time; and functions that say what they are given.
struct Host {
    nodes: Vec<NodeId>,
    text: String,
}

const VARIABLES: [(&str, Type); 7] = [
    ("nodes", Type::Nodes),
    ("text", Type::String),
    ("number", Type::Number),
    ("any-nodes", Type::Any),
    ("any-text", Type::Any),
    ("owned-nodes", Type::Nodes),
    ("owned-text", Type::String),
];

const FUNCTIONS: [(&str, &[Type]); 4] = [
    ("basic", &[Type::Boolean, Type::Number, Type::String]),
    ("nodes", &[Type::Nodes]),
    ("any", &[Type::Any]),
    ("string", &[Type::String]),
];

impl StaticContext for Host {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix == "h").then_some("urn:host")
    }

    fn variable(&self, _namespace: &str, local: &str) -> Lookup<Variable> {
        let place = VARIABLES.iter().position(|(name, _)| *name == local);
        place.map_or(Lookup::Unknown, |place| {
            Lookup::Found(Variable { slot: Slot(place.try_into().unwrap()), type_: VARIABLES[place].1 })
        })
    }

    fn function(&self, _namespace: &str, local: &str) -> Option<HostSignature> {
        let place = FUNCTIONS.iter().position(|(name, _)| *name == local)?;
        let function =
            HostFunction { id: place.try_into().unwrap(), returns: Type::String, reads: Reads::Node };
        Some(HostSignature { function, required: FUNCTIONS[place].1, optional: &[] })
    }
}

impl Environment for Host {
    fn variable(&self, slot: Slot) -> Option<Value<'_>> {
        Some(match VARIABLES[usize::try_from(slot.0).unwrap()].0 {
            "nodes" | "any-nodes" => Value::Nodes(Cow::Borrowed(&self.nodes)),
            "text" | "any-text" => Value::String(Cow::Borrowed(&self.text)),
            "number" => Value::Number(1.0),
            "owned-nodes" => Value::Nodes(Cow::Owned(self.nodes.clone())),
            _ => Value::String(Cow::Owned(self.text.clone())),
        })
    }

    fn call<'a>(
        &'a self,
        _function: HostFunction,
        call: HostCall<'_, 'a>,
    ) -> Result<Value<'a>, EvaluateError> {
        let types = call.arguments.iter().map(|argument| match argument {
            Value::Nodes(_) => "nodes",
            Value::Boolean(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
        });
        Ok(Value::String(Cow::Owned(types.collect::<Vec<_>>().join(" "))))
    }
}

/// So many elements `a`, of which each has an attribute; text of so many digits; and what selects the elements.
fn host(count: usize, digits: usize) -> (Document, Host) {
    let (elements, digits) = ("<a x='1'>1</a>".repeat(count), "1".repeat(digits));
    let document = parse(&format!("<r><b>{digits}</b>{elements}</r>"));
    let root = document.first_child(NodeId::ROOT).unwrap();
    let nodes = document.children(root).skip(1).collect();
    (document, Host { nodes, text: digits })
}

fn evaluate(document: &Document, host: &Host, expression: &str) -> (String, u64) {
    let mut names = NamePool::default();
    let compiled =
        compile(expression, host, &mut names).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let bindings = Bindings::new(&names, document);
    let mut budget = Budget::new(1 << 40);
    let value = Evaluation::new(document, &bindings, host, &mut budget)
        .string(&compiled, Context::of(NodeId::ROOT))
        .unwrap_or_else(|error| panic!("{expression}: {error}"));
    (value.into_owned(), (1 << 40) - budget.left())
}

fn steps(document: &Document, host: &Host, expression: &str) -> u64 {
    evaluate(document, host, expression).1
}

/// Elements, and steps that the text takes each time.
const ELEMENTS: u64 = 200;
const TEXT: u64 = 1000;

#[test]
fn a_text_that_becomes_a_number_is_paid_for_each_time() {
    let (document, host) = host(200, 16_000);
    for expression in [
        "count(//a[@x > string(/r/b)])",
        "count(//a[string(/r/b) > @x])",
        "count(//a[. < concat(/r/b, '')])",
        "count(//a[string(.) > string(/r/b)])",
        "count(//a[string(/r/b) = 1])",
        "count(//a[@x <= /r/b])",
        "count(//a[number(/r/b) = .])",
        "count(//a[-string(/r/b)])",
        "count(//a[sum(/r/b) = 1])",
        "count(//a[$text > 1])",
        "count(//a[$text > .])",
        "count(//a[number($text) = 1])",
        "count(//a[$any-text > 1])",
        "count(//a[$any-text = 1])",
        "count(//a[$any-text > .])",
        "count(//a[. < $any-text])",
        "count(//a[number($any-text) = 1])",
        "count(//a[$any-text + 1])",
        "count(//a[-$any-text])",
        "count(//a[floor($any-text)])",
        "count(//a[$any-text = $any-text])",
        "count(//a[$any-text >= $any-text])",
        "count(//a[contains($any-text, 2)])",
        "count(//a[$owned-text])",
        "count(//a[h:string($text)])",
        "count(//a[h:string($any-text)])",
        "count(//a[h:string(/r/b)])",
        "count(//a[h:any($any-text)])",
    ] {
        let steps = steps(&document, &host, expression);
        assert!((ELEMENTS * TEXT..ELEMENTS * TEXT * 3).contains(&steps), "{expression}: {steps}");
    }
}

#[test]
fn a_text_that_nothing_is_compared_with_is_not_read() {
    let (document, host) = host(200, 16_000);
    for expression in [
        "count(//a[@none > string(/r/b)])",
        "count(//a[string(/r/b) > none])",
        "count(//a[@none = $any-text])",
        "count(//a[$any-text > @none])",
        "count(//a[@none > /r/b[1]])",
        "count(//a[/r/b[1] = none])",
        "count(//a[$text])",
        "count(//a[$any-text])",
    ] {
        let steps = steps(&document, &host, expression);
        assert!(steps < ELEMENTS * 20, "{expression}: {steps}");
    }
    // It is converted once for all nodes.
    let once = steps(&document, &host, "//a > string(/r/b)");
    assert!((TEXT..TEXT + ELEMENTS * 5).contains(&once), "{once}");
}

#[test]
fn nodes_of_a_variable_are_paid_for_each_time_they_are_gone_through() {
    let (document, host) = host(200, 1);
    for expression in [
        "count(//a[count($nodes | $nodes) = 1])",
        "count(//a[($nodes | /r)[1]])",
        "count(//a[$nodes/b])",
        "count(//a[$nodes/nothing])",
        "count(//a[count($nodes/nothing[1]) = 1])",
        "count(//a[$any-nodes/nothing[last()]])",
        "count(//a[count($nodes/ancestor-or-self::a) = 1])",
        "count(//a[count($nodes/descendant-or-self::a) = 1])",
        "count(//a[$nodes[position() > 200]])",
        "count(//a[count($any-nodes[position() mod 7 = 1]) = 2])",
        "count(//a[$nodes[none]])",
        "count(//a[$nodes = 2])",
        "count(//a[$any-nodes = 2])",
        "count(//a[$any-nodes != $any-nodes])",
        "count(//a[sum($nodes) = 1])",
        "count(//a[$owned-nodes])",
    ] {
        let steps = steps(&document, &host, expression);
        assert!(steps >= ELEMENTS * ELEMENTS, "{expression}: {steps}");
    }
}

#[test]
fn one_node_of_a_variable_is_found_without_the_others() {
    let (document, host) = host(200, 1);
    for (expression, expected) in [
        ("count(//a[$nodes[2]])", "200"),
        ("count(//a[$nodes[last()]])", "200"),
        ("count(//a[$nodes[201]])", "0"),
        ("count(//a[$nodes[0]])", "0"),
        ("count(//a[$nodes[position() = 2]])", "200"),
        ("count(//a[$nodes[2][1]])", "200"),
        ("count(//a[$nodes[2][2]])", "0"),
        ("count(//a[$any-nodes[last()][. = 1]])", "200"),
        ("count(//a[string($nodes[last()]) = '1'])", "200"),
        ("count(//a[$nodes[7]/@x])", "200"),
        ("count(//a[$nodes])", "200"),
        ("count(//a[count($nodes) = 200])", "200"),
        ("count(//a[$any-nodes = 1])", "200"),
    ] {
        let (value, steps) = evaluate(&document, &host, expression);
        assert_eq!(value, expected, "{expression}");
        assert!(steps < ELEMENTS * 30, "{expression}: {steps}");
    }
}

#[test]
fn sorting_is_paid_for() {
    let (document, host) = host(2000, 1);
    // The same nodes, which are in order in the one union, and not in the other.
    let sorted = steps(&document, &host, "count(//b | //a)");
    let unsorted = steps(&document, &host, "count(//a | //b)");
    assert!(unsorted >= sorted + 2000, "{sorted} {unsorted}");
}

#[test]
fn arguments_of_the_hosts_functions_are_converted() {
    let (document, host) = host(2, 1);
    for (expression, expected) in [
        ("h:basic(true(), 1, 'a')", "boolean number string"),
        ("h:basic('a', 'a', 1)", "boolean number string"),
        ("h:basic(//a, //a, //a)", "boolean number string"),
        ("h:basic($number, $nodes, $number)", "boolean number string"),
        ("h:basic($any-text, $any-text, $any-text)", "boolean number string"),
        ("h:basic($any-nodes, $any-nodes, $any-nodes)", "boolean number string"),
        ("h:nodes(//a)", "nodes"),
        ("h:nodes($any-nodes)", "nodes"),
        // Which is for the function to refuse.
        ("h:nodes($any-text)", "string"),
        ("h:any(//a)", "nodes"),
        ("h:any(1)", "number"),
        ("h:any($any-text)", "string"),
    ] {
        assert_eq!(evaluate(&document, &host, expression).0, expected, "{expression}");
    }
}

#[test]
fn comparisons_with_nothing_are_false() {
    let document = parse("<r><a>1</a></r>");
    for comparison in ["=", "!=", "<", "<=", ">", ">="] {
        for (left, right) in [("//a", "//none"), ("//none", "//a"), ("//none", "//none"), ("//none", "'1'")] {
            let expression = format!("{left} {comparison} {right}");
            assert_eq!(eval(&document, &expression), "false", "{expression}");
        }
    }
}
