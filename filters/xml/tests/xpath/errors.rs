//! What is refused, and how it is said.

use crate::support::compile;

fn error(expression: &str) -> String {
    match compile(expression) {
        Ok(_) => panic!("{expression} compiles"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_say_where_what_was_found_and_what_was_expected() {
    let node_test = "expected a node test: a name, '*', text(), node() and the like";
    for (expression, expected) in [
        ("", "column 1: found the end of the expression, expected an expression".to_owned()),
        ("   ", "column 4: found the end of the expression, expected an expression".to_owned()),
        ("/a/", format!("column 4: found the end of the expression, {node_test}")),
        ("//", format!("column 3: found the end of the expression, {node_test}")),
        ("/a/]", format!("column 4: found ']', {node_test}")),
        ("@", format!("column 2: found the end of the expression, {node_test}")),
        ("a b", "column 3: found 'b', expected an operator or the end of the expression".to_owned()),
        ("(a", "column 3: found the end of the expression, expected an operator or ')'".to_owned()),
        ("a[1", "column 4: found the end of the expression, expected an operator or ']'".to_owned()),
        ("a)", "column 2: found ')', expected an operator or the end of the expression".to_owned()),
        (".[1]", "column 2: found '[', expected an operator or the end of the expression".to_owned()),
        ("count(a b)", "column 9: found 'b', expected an operator, ',' or ')'".to_owned()),
        ("1 +", "column 4: found the end of the expression, expected an expression".to_owned()),
        ("ä = é §", "column 7: found '§', expected a token of XPath".to_owned()),
        ("a ! b", "column 3: found '!', expected a token of XPath".to_owned()),
        ("a : b", "column 3: found ':', expected a token of XPath".to_owned()),
        ("a:b:c", "column 4: found ':', expected a token of XPath".to_owned()),
        ("'a", "column 1: found a string without an end, expected its closing quote".to_owned()),
        ("$", "column 1: found '$', expected '$' with a variable's name".to_owned()),
        ("1e3", "column 2: found 'e3', expected an operator or the end of the expression".to_owned()),
        ("1 2", "column 3: found a number, expected an operator or the end of the expression".to_owned()),
        (
            "a/count(b)",
            "column 3: found 'count', expected a node test: XPath 1.0 has no functions as steps".to_owned(),
        ),
        ("text(1)", "column 6: found a number, expected ')'".to_owned()),
        ("processing-instruction(x)", "column 24: found 'x', expected ')'".to_owned()),
        ("parents::a", "column 1: found 'parents::', expected one of XPath's axes".to_owned()),
        ("a | 'b'", "column 5: found a string, expected a node-set".to_owned()),
        ("1 | a", "column 1: found a number, expected a node-set".to_owned()),
        ("'a'/b", "column 1: found a string, expected a node-set".to_owned()),
        ("(1 = 1)[1]", "column 1: found a boolean, expected a node-set".to_owned()),
        ("count(1)", "column 7: found a number, expected a node-set".to_owned()),
        ("sum('a')", "column 5: found a string, expected a node-set".to_owned()),
        ("1/text(", "column 1: found a number, expected a node-set".to_owned()),
    ] {
        assert_eq!(error(expression), expected, "{expression}");
    }
}

#[test]
fn unknown_names_are_named() {
    for (expression, expected) in [
        ("/a/x:b", "column 4: no namespace is bound to the prefix 'x'"),
        ("x:*", "column 1: no namespace is bound to the prefix 'x'"),
        ("x:f()", "column 1: no namespace is bound to the prefix 'x'"),
        ("upper-case('a')", "column 1: found 'upper-case()', expected a function of XPath 1.0"),
        ("p:f()", "column 1: found 'p:f()', expected a function of XPath 1.0"),
        ("last(1)", "column 1: found 1 argument of 'last()', expected 0"),
        ("concat('a')", "column 1: found 1 argument of 'concat()', expected 2 or more"),
        ("substring('a')", "column 1: found 1 argument of 'substring()', expected 2 to 3"),
        ("1 + not()", "column 5: found 0 arguments of 'not()', expected 1"),
        ("string(1, 2)", "column 1: found 2 arguments of 'string()', expected 0 to 1"),
    ] {
        assert_eq!(error(expression), expected, "{expression}");
    }
}

#[test]
fn what_is_refused_is_refused_with_the_reason() {
    for (expression, expected) in [
        (
            "/a/namespace::p",
            "column 4: the axis 'namespace' is not supported: namespaces are no nodes here; namespace-uri() tells the \
             namespace of a name",
        ),
        (
            "id('x')/a",
            "column 1: the function 'id()' is not supported: only a document type declaration says which attributes \
             are IDs, and there are none",
        ),
        ("a = $x", "column 5: the variable '$x' is not supported: there are no variables here"),
        (
            "current()/a",
            "column 1: the function 'current()' is not supported: it is a function of XSLT, not of XPath",
        ),
    ] {
        assert_eq!(error(expression), expected, "{expression}");
    }
    assert!(error("$z:x").contains("prefix 'z'"));
}

#[test]
fn strings_and_long_names_are_not_repeated() {
    let message = error(&format!("a 'secret' {}", "n".repeat(5000)));
    assert!(!message.contains("secret"), "{message}");
    let message = error(&format!("{}()", "n".repeat(5000)));
    assert!(message.len() < 200, "{message}");
    let message = error(&format!("a {}", "n".repeat(5000)));
    assert!(message.len() < 200, "{message}");
    let message = error(&format!("{}:a", "n".repeat(5000)));
    assert!(message.len() < 200, "{message}");
}
