//! Nothing grows beyond bounds.

use portcullis_xml::xpath::EvaluateError;

use crate::support::{check, compile, eval, evaluate_with, parse};

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn nesting_is_bounded_when_compiled() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("a[", "b", "]"),
        ("not(", "1", ")"),
        ("1 + (", "1", ")"),
        ("concat('a', ", "'b'", ")"),
    ] {
        assert!(compile(&nested(open, inner, close, 63)).is_ok(), "{open}");
        for depth in [64, 1000, 5000] {
            let error = compile(&nested(open, inner, close, depth)).unwrap_err().to_string();
            assert!(error.contains("nested more than 64 deep"), "{open}: {error}");
        }
    }
}

#[test]
fn chains_are_not_nested() {
    let document = parse("<a/>");
    let chain = |link: &str, count: usize| vec!["1"; count].join(link);
    for (link, expected) in
        [(" + ", "3000"), (" - ", "-2998"), (" * ", "1"), (" or ", "true"), (" and ", "true")]
    {
        assert_eq!(eval(&document, &chain(link, 3000)), expected, "{link}");
        assert_eq!(eval(&document, &chain(link, 3000).replace('1', "number(1)")), expected, "{link}");
    }
    assert_eq!(eval(&document, &format!("{}1", "-".repeat(50_001))), "-1");
    assert_eq!(eval(&document, &format!("/a{}", "/..//a".repeat(3000))), "a");
    assert_eq!(eval(&document, &format!("a{}", " | a".repeat(3000))), "a");
    assert_eq!(eval(&document, &format!("a{}", "[1]".repeat(3000))), "a");
    assert_eq!(eval(&document, &chain(" = ", 17)), "true");
    let error = compile(&chain(" = ", 19)).unwrap_err().to_string();
    assert!(error.ends_with("more than 16 comparisons in a row"), "{error}");
}

#[test]
fn each_chain_of_comparisons_is_bounded_by_itself_with_those_in_it() {
    let chain = |count: usize| vec!["1"; count].join(" = ");
    let beside = |chain: &str| {
        [
            vec![chain; 40].join(" and "),
            vec![chain; 40].join(" or "),
            format!("concat({})", vec![chain; 40].join(", ")),
            format!("/r{}", format!("[{chain}]").repeat(40)),
            format!("({chain}) + ({chain})"),
            format!("({chain}) = ({})", chain.replace('=', "+")),
            vec![chain.replace('=', "<"); 40].join(" and "),
        ]
    };
    let document = parse("<r/>");
    for expression in beside(&chain(17)) {
        eval(&document, &expression);
    }
    for expression in beside(&chain(19)) {
        let error = compile(&expression).unwrap_err().to_string();
        assert!(error.ends_with("more than 16 comparisons in a row"), "{expression}: {error}");
    }
    // What is within the first operand is below all the others, and what is within the last one below one of them.
    for (outer, inner, expected) in
        [(8, 8, true), (16, 2, true), (2, 16, true), (10, 10, false), (17, 5, false)]
    {
        for within in ["(CHAIN)", "not(CHAIN)", "count(/r[CHAIN])", "(1 < 2 and CHAIN)", "(2 + (CHAIN))"] {
            let inner = within.replace("CHAIN", &chain(inner));
            let first = format!("{inner} = {}", chain(outer));
            assert_eq!(compile(&first).is_ok(), expected, "{first}");
            let last = format!("{} = {inner}", chain(outer));
            assert!(compile(&last).is_ok(), "{last}");
        }
    }
    assert!(compile(&format!("1 = ({})", chain(18))).is_ok());
    assert!(compile(&format!("1 = 1 = ({})", chain(18))).is_err());
}

#[test]
fn length_is_bounded_when_compiled() {
    let spaces = " ".repeat(64 << 10);
    let error = compile(&format!("a{spaces}")).unwrap_err().to_string();
    assert_eq!(error, "column 1: an expression of more than 65536 bytes");
}

/// The deepest expressions that compile need no more stack than a module has, even without optimisation.
#[test]
fn the_deepest_expressions_fit_the_stack_of_a_module() {
    let run = || {
        let document = parse("<a><b/></a>");
        let deep = [
            nested("(", "1", ")", 63),
            nested("/a[1 = 1 and -count(", "/a", ") < (1 + 1)]", 31),
            nested("concat('a', string(", "'b'", "))", 31),
            nested("1 = (", "1", ")", 63),
            nested("(/a|(/a[", "1", "])[1])", 20),
        ];
        for expression in deep {
            let _ = eval(&document, &expression);
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

fn wide(count: usize) -> String {
    format!("<r>{}</r>", "<x><y>1</y></x>".repeat(count))
}

#[test]
fn evaluation_ends_when_the_budget_is_spent() {
    let document = parse(&wide(1000));
    for expression in [
        "//x[following-sibling::x[y = 2]]",
        "count(//*[count(//*) > 0])",
        "//y[. = //y[. = //y]]",
        "string-length(translate(/, '1', '2')) > count(//x/following::y[position() > 1])",
        "sum(//x/preceding::y[position() mod 2 = 1])",
        "concat(//x[2000], string(//x[.//y[../../x[last()]] = 2]))",
    ] {
        assert_eq!(
            evaluate_with(&document, expression, 10_000),
            Err(EvaluateError::BudgetExceeded),
            "{expression}"
        );
    }
    assert_eq!(evaluate_with(&document, "1", 0), Err(EvaluateError::BudgetExceeded));
}

#[test]
fn texts_that_are_made_are_bounded() {
    let document = parse("<a>0123456789</a>");
    for (expression, longest) in [
        ("concat(/, /, '!')", 21),
        // The text that goes in is there while the other is made.
        ("concat(concat(/, /), /)", 50),
        ("translate(/, '0', 'x')", 10),
        // As far as can be told before it is made.
        ("translate(/, '0', 'ü')", 40),
    ] {
        let compiled = compile(expression).unwrap();
        let with = |bytes: usize| {
            let mut budget = portcullis_xml::xpath::Budget::new(1000).with_memory(bytes);
            compiled.string(&document, portcullis_xml::NodeId::ROOT, &mut budget).map(|_| ())
        };
        assert_eq!(with(longest), Ok(()), "{expression}");
        assert_eq!(with(longest - 1), Err(EvaluateError::MemoryExceeded), "{expression}");
    }
}

/// The steps that an expression takes on documents of one size and of four times that.
fn growth(expression: &str) -> f64 {
    let steps = |count: usize| {
        let document = parse(&wide(count));
        let compiled = compile(expression).unwrap();
        let mut budget = portcullis_xml::xpath::Budget::new(1 << 40);
        compiled.evaluate(&document, portcullis_xml::NodeId::ROOT, &mut budget).unwrap();
        (1_u64 << 40) - budget.left()
    };
    steps(4000) as f64 / steps(1000) as f64
}

#[test]
fn common_expressions_take_linear_time() {
    for expression in [
        "//y",
        "//x/y[. = 1]",
        "//x[y = 1][y]",
        "//y/ancestor::*",
        "//y/following::y",
        "//y/preceding::y",
        "//x/following-sibling::x",
        "//x/preceding-sibling::x",
        "//x/descendant-or-self::node()/..",
        "//x/following-sibling::x[1]",
        "//x[1] | //x[last()]",
        "//x = //y",
        "//x != //y",
        "//x < //y",
        "count(//x[following-sibling::*[1]])",
        "//x/following::nothing",
        "boolean(//x/following::y[2 = 3])",
        "boolean(//x/parent::*[count(x) = 0])",
        "sum(//y)",
        "normalize-space(/)",
        "translate(/, '1', '2')",
        "concat(/, /)",
        "(//y)[1]",
        "string(//y)",
    ] {
        let growth = growth(expression);
        assert!(growth < 5.0, "{expression}: {growth}");
    }
}

#[test]
fn the_first_node_is_found_without_looking_at_the_rest() {
    let document = parse(&wide(10_000));
    for expression in [
        "boolean(//y)",
        "string(//y)",
        "boolean(/r/x[y])",
        "string(/r/x[2]/y)",
        "/r/x[3]",
        "/r/x = 1",
        "/r/x[y = 1][2]/y",
    ] {
        assert!(evaluate_with(&document, expression, 200).is_ok(), "{expression}");
    }
}

#[test]
fn text_is_paid_for() {
    let long = format!("<r><t>{}</t></r>", "x".repeat(100_000));
    let document = parse(&long);
    for expression in [
        "string-length(//t)",
        "normalize-space(//t)",
        "contains(//t, 'y')",
        "translate(//t, 'x', 'y')",
        "concat(//t, //t)",
        "number(//t)",
        "//t = //t",
        "substring(//t, 5)",
        "//t < 1",
    ] {
        assert_eq!(
            evaluate_with(&document, expression, 1000),
            Err(EvaluateError::BudgetExceeded),
            "{expression}"
        );
        assert!(evaluate_with(&document, expression, 40_000).is_ok(), "{expression}");
    }
    // The string-value itself is there already.
    assert!(evaluate_with(&document, "string(//t)", 20).is_ok());
}

#[test]
fn a_deep_document_is_walked_without_recursion() {
    let deep = nested("<a>", "x", "</a>", 256);
    check(
        &deep,
        &[
            ("count(//a)", "256"),
            ("count(//text()/ancestor::a)", "256"),
            ("count(//a//a)", "255"),
            ("string(/)", "'x'"),
            ("count(//a/ancestor-or-self::node()/descendant::a)", "256"),
        ],
    );
}
