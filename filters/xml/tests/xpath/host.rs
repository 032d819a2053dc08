//! What a host adds: variables and functions, names shared by several expressions.

use std::borrow::Cow;

use portcullis_xml::xpath::ast::{HostFunction, Reads, Slot, Type, Variable};
use portcullis_xml::xpath::{
    Bindings, Budget, Context, Environment, EvaluateError, Evaluation, HostCall, HostSignature, Lookup,
    NamePool, StaticContext, Value, compile,
};
use portcullis_xml::{Document, NodeId};

use crate::support::parse;

/// Variables `n` (number), `s` (nodes), `any`; functions `twice(string)`, `current()` and `nth()`.
#[derive(Debug)]
struct Host {
    nodes: Vec<NodeId>,
    any: Value<'static>,
}

const TWICE: HostFunction = HostFunction { id: 1, returns: Type::String, reads: Reads::Node };
const CURRENT: HostFunction = HostFunction { id: 2, returns: Type::Nodes, reads: Reads::Node };
const NTH: HostFunction = HostFunction { id: 3, returns: Type::Boolean, reads: Reads::Position };

impl StaticContext for Host {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix == "h").then_some("urn:host")
    }

    fn variable(&self, namespace: &str, local: &str) -> Lookup<Variable> {
        match (namespace, local) {
            ("", "n") => Lookup::Found(Variable { slot: Slot(0), type_: Type::Number }),
            ("", "s") => Lookup::Found(Variable { slot: Slot(1), type_: Type::Nodes }),
            ("urn:host", "any") => Lookup::Found(Variable { slot: Slot(2), type_: Type::Any }),
            _ => Lookup::Unknown,
        }
    }

    fn function(&self, namespace: &str, local: &str) -> Option<HostSignature> {
        match (namespace, local) {
            ("urn:host", "twice") => {
                Some(HostSignature { function: TWICE, required: &[Type::String], optional: &[] })
            }
            ("", "current") => Some(HostSignature { function: CURRENT, required: &[], optional: &[] }),
            ("urn:host", "nth") => {
                Some(HostSignature { function: NTH, required: &[], optional: &[Type::Nodes] })
            }
            _ => None,
        }
    }
}

impl Environment for Host {
    fn variable(&self, slot: Slot) -> Option<Value<'_>> {
        match slot.0 {
            0 => Some(Value::Number(2.0)),
            1 => Some(Value::Nodes(Cow::Borrowed(&self.nodes))),
            2 => Some(self.any.clone()),
            _ => None,
        }
    }

    fn call<'a>(
        &'a self,
        function: HostFunction,
        call: HostCall<'_, 'a>,
    ) -> Result<Value<'a>, EvaluateError> {
        match function.id {
            1 => {
                let text = call.arguments.into_iter().next().unwrap().into_string(call.document);
                call.budget.charge_bytes(text.len())?;
                Ok(Value::String(Cow::Owned(text.repeat(2))))
            }
            2 => Ok(Value::Nodes(Cow::Borrowed(self.nodes.get(..1).unwrap_or_default()))),
            3 => Ok(Value::Boolean(call.context.position == call.context.size)),
            _ => Err(EvaluateError::Host("no such function".into())),
        }
    }
}

fn eval(host: &Host, document: &Document, expression: &str) -> Result<String, EvaluateError> {
    let mut names = NamePool::default();
    let compiled = compile(expression, host, &mut names).unwrap();
    let bindings = Bindings::new(&names, document);
    let mut budget = Budget::new(1 << 20);
    let value = Evaluation::new(document, &bindings, host, &mut budget)
        .value(&compiled, Context::of(NodeId::ROOT))?;
    Ok(match value {
        Value::Nodes(nodes) => {
            nodes.iter().map(|node| document.string_value(*node)).collect::<Vec<_>>().join(" ")
        }
        other => other.into_string(document).into_owned(),
    })
}

const LIST: &str = "<r><i>1</i><i>2</i><i>3</i></r>";

fn host(document: &Document, any: Value<'static>) -> Host {
    let root = document.first_child(NodeId::ROOT).unwrap();
    Host { nodes: document.children(root).skip(1).collect(), any }
}

#[test]
fn variables_and_functions_are_the_hosts() {
    let document = parse(LIST);
    let host = host(&document, Value::Number(3.0));
    for (expression, expected) in [
        ("$n + 1", "3"),
        ("//i[$n]", "2"),
        ("//i[. = $n]", "2"),
        ("$s", "2 3"),
        ("$s[1]", "2"),
        ("$s/..", "123"),
        ("$s[2] | //i[1]", "1 3"),
        ("count($s)", "2"),
        ("string($s)", "2"),
        ("//i = $s", "true"),
        ("//i[$h:any]", "3"),
        ("$h:any = 3", "true"),
        ("$h:any < //i", "false"),
        ("//i >= $h:any", "true"),
        ("h:twice('ab')", "abab"),
        ("h:twice(//i)", "11"),
        ("h:twice(1 + 1)", "22"),
        ("//i[h:nth()]", "3"),
        ("//i[h:nth($s)]", "3"),
        ("//i[. = current()]", "2"),
        ("current()/following-sibling::i", "3"),
        ("//i[. = h:twice('')]", ""),
    ] {
        assert_eq!(eval(&host, &document, expression).as_deref(), Ok(expected), "{expression}");
    }
}

#[test]
fn a_value_of_unknown_type_is_treated_as_what_it_is() {
    let document = parse(LIST);
    let string = host(&document, Value::String("2".into()));
    for (expression, expected) in [
        ("//i[$h:any]", "1 2 3"),
        ("//i[. = $h:any]", "2"),
        ("$h:any = '2'", "true"),
        ("$h:any + 1", "3"),
        ("boolean($h:any)", "true"),
        ("$h:any = $h:any", "true"),
        ("$h:any = 2", "true"),
        ("$h:any = true()", "true"),
    ] {
        assert_eq!(eval(&string, &document, expression).as_deref(), Ok(expected), "{expression}");
    }
    for expression in ["count($h:any)", "$h:any/a", "$h:any[1]", "$h:any | //i"] {
        assert_eq!(eval(&string, &document, expression), Err(EvaluateError::NotNodes), "{expression}");
    }

    let nodes = host(&document, Value::Nodes(Cow::Owned(vec![])));
    assert_eq!(eval(&nodes, &document, "count($h:any)").as_deref(), Ok("0"));
    assert_eq!(eval(&nodes, &document, "$h:any = $h:any").as_deref(), Ok("false"));
    assert_eq!(eval(&nodes, &document, "$h:any = false()").as_deref(), Ok("true"));
    assert_eq!(eval(&nodes, &document, "$h:any != 1").as_deref(), Ok("false"));
    assert_eq!(eval(&nodes, &document, "//i[$h:any]").as_deref(), Ok(""));
}

#[test]
fn what_the_host_does_not_know_is_refused() {
    let document = parse(LIST);
    let host = host(&document, Value::Number(0.0));
    let mut names = NamePool::default();
    let error =
        |expression: &str, names: &mut NamePool| compile(expression, &host, names).unwrap_err().to_string();
    assert_eq!(error("$x", &mut names), "column 1: there is no variable '$x'");
    assert_eq!(error("h:f()", &mut names), "column 1: found 'h:f()', expected a function of XPath 1.0");
    assert_eq!(error("h:twice()", &mut names), "column 1: found 0 arguments of 'h:twice()', expected 1");
    assert_eq!(error("h:nth(1)", &mut names), "column 7: found a number, expected a node-set");
    assert_eq!(error("count($n)", &mut names), "column 7: found a number, expected a node-set");
}

#[test]
fn expressions_of_one_pool_are_bound_at_once() {
    let document = parse(LIST);
    let host = host(&document, Value::Number(0.0));
    let mut names = NamePool::default();
    let expressions: Vec<_> = ["//i", "count(//i)", "//r/i[2]", "//x | //h:y | //h:*"]
        .map(|text| compile(text, &host, &mut names).unwrap())
        .into();
    assert_eq!(names.names().collect::<Vec<_>>(), [("", "i"), ("", "r"), ("", "x"), ("urn:host", "y")]);
    assert_eq!(names.uris().collect::<Vec<_>>(), ["urn:host"]);
    let bindings = Bindings::new(&names, &document);
    let mut budget = Budget::new(1000);
    let counts: Vec<_> = expressions
        .iter()
        .map(|expression| {
            let mut evaluation = Evaluation::new(&document, &bindings, &host, &mut budget);
            evaluation.string(expression, Context::of(NodeId::ROOT)).unwrap()
        })
        .collect();
    assert_eq!(counts, ["1", "3", "2", ""]);
}
