//! Expressions and patterns.
//!
//! None of them depends on what processors may do in their own way: numbers are whole, or have one digit behind the
//! point; what is compared by order is a number.

use crate::random::Random;

const ELEMENTS: &[&str] = &["a", "b", "c", "d", "p:a", "p:b", "*", "p:*"];
const OTHERS: &[&str] = &["node()", "text()", "comment()"];
const AXES: &[&str] = &[
    "child",
    "child",
    "child",
    "descendant",
    "descendant-or-self",
    "self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
];
/// Those that find siblings, in document order.
const SIBLINGS: &[&str] = &["child", "self", "following-sibling"];
/// Those that lead away from the root: templates that are applied to what they select come to an end.
const DOWNWARD: &[&str] = &["child", "child", "descendant"];
const PATTERNS: &[&str] = &[
    "/",
    "doc",
    "a",
    "b",
    "c",
    "d",
    "p:a",
    "p:b",
    "*",
    "p:*",
    "text()",
    "comment()",
    "processing-instruction()",
    "processing-instruction('go')",
    "node()",
    "@*",
    "@x",
    "@y",
    "@p:w",
    "a/b",
    "a//b",
    "/doc",
    "/doc/a",
    "//c",
    "doc//d",
    "a | b",
    "c | @x",
    "a[1]",
    "b[2]",
    "*[last()]",
    "a[@x]",
    "b[@x = 1]",
    "c[text()]",
    "d[position() mod 2 = 0]",
    "*[self::a or self::c]",
    "a[b]/c",
    "*/*/*",
    "key('by-x', '1')",
    "key('by-x', 'red')/b",
    "doc/*[position() &lt; 3]",
    "text()[. = 'red']",
    "a[count(preceding-sibling::a) = 1]",
];

/// A pattern of a template.
pub(crate) fn pattern(random: &mut Random) -> &'static str {
    random.of(PATTERNS)
}

/// A node-set of what is below the context node, and its attributes.
pub(crate) fn below(random: &mut Random) -> String {
    match random.below(8) {
        0 => "@*".to_owned(),
        1 => "@* | *".to_owned(),
        2 => "*".to_owned(),
        3 => ".//b".to_owned(),
        _ => {
            if random.one_in(3) {
                let first = step(random, DOWNWARD, Nodes::Elements);
                return format!("{first}/{}", step(random, DOWNWARD, Nodes::Elements));
            }
            step(random, DOWNWARD, Nodes::All)
        }
    }
}

/// A node-set from anywhere in the document.
pub(crate) fn nodes(random: &mut Random, depth: usize) -> String {
    match random.below(12) {
        0 => ".".to_owned(),
        1 => "@x".to_owned(),
        2 => "@*".to_owned(),
        3 => "//a".to_owned(),
        4 => format!("/doc/{}", step(random, AXES, Nodes::All)),
        5 => "key('by-x', '1')".to_owned(),
        6 => "key('by-x', @x)".to_owned(),
        7 if depth > 0 => format!("({})[{}]", nodes(random, depth - 1), predicate(random, depth - 1)),
        8 if depth > 0 => format!("({} | {})[self::*]", nodes(random, depth - 1), nodes(random, depth - 1)),
        9 => "..".to_owned(),
        _ => {
            let steps = random.below(3);
            let mut path = String::new();
            for _ in 0..steps {
                path.push_str(&step(random, AXES, Nodes::Elements));
                path.push('/');
            }
            path.push_str(&step(random, AXES, if steps == 0 { Nodes::All } else { Nodes::Elements }));
            path
        }
    }
}

/// What a step selects. libxslt does not always put text and comments in document order, if they are not siblings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nodes {
    Elements,
    All,
}

fn step(random: &mut Random, axes: &[&'static str], nodes: Nodes) -> String {
    let axis = random.of(axes);
    let others = nodes == Nodes::All && SIBLINGS.contains(&axis) && random.one_in(3);
    let test = random.of(if others { OTHERS } else { ELEMENTS });
    let predicate =
        if random.one_in(3) { format!("[{}]", self::predicate(random, 0)) } else { String::new() };
    // What follows an attribute is what follows its element's start tag, but not to libxslt.
    let elements = if axis == "following" || axis == "preceding" { "self::*/" } else { "" };
    format!("{elements}{axis}::{test}{predicate}")
}

fn predicate(random: &mut Random, depth: usize) -> String {
    match random.below(9) {
        0 => "1".to_owned(),
        1 => "2".to_owned(),
        2 => "last()".to_owned(),
        3 => "position() mod 2 = 1".to_owned(),
        4 => "@x".to_owned(),
        5 => "not(@x)".to_owned(),
        6 => "position() &gt; 1".to_owned(),
        _ => boolean(random, depth),
    }
}

/// A boolean.
pub(crate) fn boolean(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.of(&["true()", "@x", "b", "false()", ". = 'red'", "@x = '1'", "not(*)"]).to_owned();
    }
    let next = depth - 1;
    match random.below(10) {
        0 => format!("{} = {}", nodes(random, next), string(random, next)),
        1 => format!("{} != {}", nodes(random, next), nodes(random, next)),
        2 => format!("{} &lt; {}", number(random, next), number(random, next)),
        3 => format!("{} &gt;= {}", nodes(random, next), number(random, next)),
        4 => format!("not({})", boolean(random, next)),
        5 => format!("({}) and ({})", boolean(random, next), boolean(random, next)),
        6 => format!("({}) or ({})", boolean(random, next), boolean(random, next)),
        7 => format!("contains({}, {})", string(random, next), string(random, next)),
        8 => format!("starts-with({}, {})", string(random, next), string(random, next)),
        _ => format!("boolean({})", nodes(random, next)),
    }
}

/// A number.
pub(crate) fn number(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let leaves =
            ["0", "1", "2", "7", "2.5", "-3", "position()", "last()", "count(*)", "@x", "number(@y)"];
        return random.of(&leaves).to_owned();
    }
    let next = depth - 1;
    match random.below(11) {
        0 => format!("count({})", nodes(random, next)),
        1 => format!("string-length({})", string(random, next)),
        2 => format!("{} + {}", number(random, next), number(random, next)),
        3 => format!("({}) - ({})", number(random, next), number(random, next)),
        4 => format!("({}) * 2", number(random, next)),
        5 => format!("({}) mod 3", number(random, next)),
        6 => format!("floor({})", number(random, next)),
        7 => format!("ceiling({})", number(random, next)),
        8 => format!("round({})", number(random, next)),
        9 => format!("({}) div 2", number(random, next)),
        _ => format!("number({})", string(random, next)),
    }
}

/// A string.
pub(crate) fn string(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let leaves =
            ["'red'", "'e'", "''", "string()", "name()", "@x", "local-name()", "'1'", "namespace-uri()"];
        return random.of(&leaves).to_owned();
    }
    let next = depth - 1;
    match random.below(13) {
        0 => format!("string({})", nodes(random, next)),
        1 => format!("concat({}, '-', {})", string(random, next), string(random, next)),
        2 => format!("substring-before({}, 'e')", string(random, next)),
        3 => format!("substring-after({}, 'r')", string(random, next)),
        4 => format!("substring({}, 2, {})", string(random, next), number(random, 0)),
        5 => format!("normalize-space({})", string(random, next)),
        6 => format!("translate({}, 'abcdef', 'ABC')", string(random, next)),
        7 => format!("name({})", nodes(random, next)),
        8 => format!("string({})", number(random, next)),
        9 => format!("string({})", boolean(random, next)),
        10 => format!("local-name({})", nodes(random, next)),
        11 => format!("string(current()/{})", random.of(&["@x", "a", "."])),
        _ => format!(
            "format-number({}, '{}')",
            number(random, next),
            random.of(&["0.0", "#,##0.00", "000.0;(0.0)"])
        ),
    }
}

/// Any of them.
pub(crate) fn any(random: &mut Random, depth: usize) -> String {
    match random.below(4) {
        0 => nodes(random, depth),
        1 => boolean(random, depth),
        2 => number(random, depth),
        _ => string(random, depth),
    }
}
