//! Expressions of all that the language has.
//!
//! They are made by type, because libxml2 differs from the specification where some numbers become strings: where one
//! can become a string, it is one that both write in the same way (see `deviations.rs`).

use crate::random::Random;

const AXES: [&str; 12] = [
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "child",
    "descendant",
    "descendant-or-self",
    "following",
    "following-sibling",
    "parent",
    "preceding",
    "preceding-sibling",
    "self",
];
const NAMES: [&str; 8] = ["a", "b", "c", "d", "r", "p:a", "q:b", "p:c"];
const ATTRIBUTES: [&str; 8] = ["*", "*", "k", "l", "m", "p:k", "node()", "xml:*"];
const TESTS: [&str; 12] = [
    "node()",
    "node()",
    "node()",
    "*",
    "*",
    "text()",
    "comment()",
    "processing-instruction()",
    "processing-instruction('x')",
    "*",
    "p:*",
    "q:*",
];
const STRINGS: [&str; 14] = [
    "''",
    "'1'",
    "'2'",
    "'2.5'",
    "' 3 '",
    "'x'",
    "'xy'",
    "'y'",
    "'a b'",
    "'ab'",
    "\"äß𝄞\"",
    "'ß'",
    "' '",
    "'en'",
];
const NUMBERS: [&str; 13] =
    ["0", "1", "2", "3", "0.5", "2.5", "1.25", "-1", "-0.5", "1 div 0", "-1 div 0", "0 div 0", "-(0)"];
const SIMPLE: [&str; 8] = ["0", "1", "2", "3", "10", "0.5", "2.5", "-1"];
const COMPARISONS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];

/// Makes expressions, up to a depth.
pub(crate) struct Expressions<'r> {
    random: &'r mut Random,
    /// How many predicates are open: without any, there is no position.
    predicates: usize,
}

impl<'r> Expressions<'r> {
    pub(crate) fn new(random: &'r mut Random) -> Self {
        Self { random, predicates: 0 }
    }

    pub(crate) fn any(&mut self) -> String {
        match self.random.below(10) {
            0..7 => self.nodes(3),
            7 => self.boolean(3),
            8 => self.number(3),
            _ => self.string(3),
        }
    }

    fn nodes(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .random
                .choose(&[".", "a", "*", "@k", "@*", "..", "text()", "/r", "//b", "//@l"])
                .to_owned();
        }
        match self.random.below(10) {
            0 => format!("{} | {}", self.nodes(depth - 1), self.nodes(depth - 1)),
            1 => format!("({}){}", self.nodes(depth - 1), self.predicate(depth - 1)),
            2 => format!("({})/{}", self.nodes(depth - 1), self.step(depth - 1)),
            3 => format!("({})//{}", self.nodes(depth - 1), self.step(depth - 1)),
            _ => self.path(depth),
        }
    }

    fn path(&mut self, depth: usize) -> String {
        let mut path = self.random.choose(&["", "/", "//", "//", ".//", "../", "./"]).to_owned();
        for index in 0..1 + self.random.below(3) {
            if index > 0 {
                path.push_str(self.random.choose(&["/", "/", "/", "//"]));
            }
            path.push_str(&self.step(depth - 1));
        }
        path
    }

    fn step(&mut self, depth: usize) -> String {
        let test =
            if self.random.one_in(2) { self.random.choose(&TESTS) } else { self.random.choose(&NAMES) };
        let mut step = match self.random.below(16) {
            0 => return self.random.choose(&[".", ".."]).to_owned(),
            1 => format!("@{}", self.random.choose(&ATTRIBUTES)),
            2 => format!("@{test}"),
            3..8 => test.to_owned(),
            _ => format!("{}::{test}", self.random.choose(&AXES)),
        };
        for _ in 0..self.random.below(3) {
            if self.random.one_in(2) {
                step.push_str(&self.predicate(depth));
            }
        }
        step
    }

    fn predicate(&mut self, depth: usize) -> String {
        self.predicates += 1;
        let depth = depth.saturating_sub(1);
        let inner = match self.random.below(8) {
            0 | 1 => self.random.choose(&["1", "2", "3", "last()", "last() - 1", "0"]).to_owned(),
            2 => format!("position() {} {}", self.random.choose(&COMPARISONS), self.number(depth)),
            3 => self.nodes(depth),
            4 => self.number(depth),
            5 => self.string(depth),
            _ => self.boolean(depth),
        };
        self.predicates -= 1;
        format!("[{inner}]")
    }

    fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.random.choose(&["true()", "false()", "@k", "lang('en')", "not(b)"]).to_owned();
        }
        let depth = depth - 1;
        match self.random.below(10) {
            0 => format!("{} and {}", self.operand(depth), self.operand(depth)),
            1 => format!("{} or {}", self.operand(depth), self.operand(depth)),
            2 => format!("not({})", self.operand(depth)),
            3 => format!("boolean({})", self.operand(depth)),
            4 => format!("contains({}, {})", self.text(depth), self.text(depth)),
            5 => format!("starts-with({}, {})", self.text(depth), self.text(depth)),
            6 => format!("lang({})", self.text(depth)),
            7 => format!(
                "({}) {} ({})",
                self.nodes(depth),
                self.random.choose(&COMPARISONS),
                self.nodes(depth)
            ),
            _ => {
                let (left, right) = (self.operand(depth), self.operand(depth));
                format!("({left}) {} ({right})", self.random.choose(&COMPARISONS))
            }
        }
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 | 1 => self.nodes(depth),
            2 => format!("({})", self.boolean(depth)),
            3 => self.number(depth),
            _ => self.string(depth),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.random.choose(&NUMBERS).to_owned();
        }
        let depth = depth - 1;
        match self.random.below(10) {
            0 => format!("sum({})", self.nodes(depth)),
            1 => format!("number({})", self.operand(depth)),
            2 => format!("floor({})", self.number(depth)),
            3 => format!("ceiling({})", self.number(depth)),
            4 => format!("round({})", self.number(depth)),
            5 => format!("-({})", self.operand(depth)),
            6 | 7 => {
                let operator = self.random.choose(&["+", "-", "*", "div", "mod"]);
                format!("({}) {operator} ({})", self.operand(depth), self.operand(depth))
            }
            _ => self.simple_number(depth),
        }
    }

    /// A number that is written with few digits.
    fn simple_number(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => format!("count({})", self.nodes(depth)),
            1 => format!("string-length({})", self.text(depth)),
            2 if self.predicates > 0 => self.random.choose(&["position()", "last()"]).to_owned(),
            3 if depth > 0 => {
                format!("{} + {}", self.simple_number(depth - 1), self.simple_number(depth - 1))
            }
            _ => self.random.choose(&SIMPLE).to_owned(),
        }
    }

    /// Something to be taken as a string.
    fn text(&mut self, depth: usize) -> String {
        match self.random.below(6) {
            0 | 1 => self.nodes(depth),
            2 => self.simple_number(depth),
            3 => self.boolean(depth),
            _ => self.string(depth),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.random.choose(&STRINGS).to_owned();
        }
        let depth = depth - 1;
        match self.random.below(13) {
            0 => format!("string({})", self.text(depth)),
            1 => format!("concat({}, {}, {})", self.text(depth), self.text(depth), self.text(depth)),
            2 => format!("substring-before({}, {})", self.text(depth), self.text(depth)),
            3 => format!("substring-after({}, {})", self.text(depth), self.text(depth)),
            4 => format!("substring({}, {})", self.text(depth), self.number(depth)),
            5 => format!("substring({}, {}, {})", self.text(depth), self.number(depth), self.number(depth)),
            6 => format!("normalize-space({})", self.text(depth)),
            7 => format!("translate({}, {}, {})", self.text(depth), self.text(depth), self.text(depth)),
            8 => format!("name({})", self.nodes(depth)),
            9 => format!("local-name({})", self.nodes(depth)),
            10 => format!("namespace-uri({})", self.nodes(depth)),
            11 => self.random.choose(&["string()", "name()", "local-name()", "normalize-space()"]).to_owned(),
            _ => self.random.choose(&STRINGS).to_owned(),
        }
    }
}
