//! From the syntax tree to conditions and strings.

use super::condition::{Condition, Match, Spaces, Text, TextTest, Want};
use super::refusal::{self, Refusal, WHOLE_DOCUMENT};
use crate::xpath::ast::{self, Call, Comparison, CoreFunction, Expr, Function};
use crate::xpath::number;

/// Where an expression stands: what its paths can be, and whether it has a position.
pub(super) trait Context {
    /// What is known of the nodes that a path selects.
    type Leaf;
    const HAS_POSITION: bool;

    fn leaf(&mut self, path: &ast::Path, want: Want) -> Result<Self::Leaf, Refusal>;
}

/// The expression as a boolean (XPath 1.0, section 4.3), which a number would not be in a predicate.
pub(super) fn condition<C: Context>(
    context: &mut C,
    expression: &Expr,
) -> Result<Condition<C::Leaf>, Refusal> {
    match expression {
        Expr::Or(operands) => Ok(Condition::Any(conditions(context, operands)?)),
        Expr::And(operands) => Ok(Condition::All(conditions(context, operands)?)),
        Expr::Compare { comparison, left, right } => compare(context, *comparison, left, right),
        Expr::Path(path) => Ok(Condition::Holds(context.leaf(path, Want::Existence)?)),
        Expr::Literal(text) => Ok(Condition::Constant(!text.is_empty())),
        Expr::Call(call) => boolean_call(context, expression, call),
        _ => Err(refuse(expression)),
    }
}

fn conditions<C: Context>(context: &mut C, operands: &[Expr]) -> Result<Vec<Condition<C::Leaf>>, Refusal> {
    operands.iter().map(|operand| condition(context, operand)).collect()
}

fn boolean_call<C: Context>(
    context: &mut C,
    expression: &Expr,
    call: &Call,
) -> Result<Condition<C::Leaf>, Refusal> {
    match (call.function, call.arguments.as_slice()) {
        (Function::Core(CoreFunction::Boolean), [argument]) => condition(context, argument),
        (Function::Core(CoreFunction::Not), [argument]) => {
            Ok(Condition::Not(Box::new(condition(context, argument)?)))
        }
        (Function::Core(CoreFunction::True), _) => Ok(Condition::Constant(true)),
        (Function::Core(CoreFunction::False), _) => Ok(Condition::Constant(false)),
        (Function::Core(CoreFunction::StartsWith), [subject, Expr::Literal(start)]) => {
            Ok(Condition::Text(text(context, subject)?, TextTest::StartsWith(start.clone())))
        }
        (Function::Core(CoreFunction::Contains), [subject, Expr::Literal(part)]) => {
            Ok(Condition::Text(text(context, subject)?, TextTest::Contains(part.clone())))
        }
        (Function::Core(CoreFunction::String | CoreFunction::NormalizeSpace), _) => {
            Ok(Condition::Text(text(context, expression)?, TextTest::NotEmpty))
        }
        (Function::Core(CoreFunction::StartsWith | CoreFunction::Contains), _) => {
            let reason = "its second argument is not written out";
            let instead = "give a literal, as in starts-with(/a/b, 'c')";
            Err(Refusal::new("a text to look for that depends on the document", reason, instead))
        }
        _ => Err(refuse(expression)),
    }
}

fn compare<C: Context>(
    context: &mut C,
    comparison: Comparison,
    left: &Expr,
    right: &Expr,
) -> Result<Condition<C::Leaf>, Refusal> {
    let (subject, wanted) = match (operand(left), operand(right)) {
        (None, Some(operand)) => (left, wanted(comparison, operand)),
        (Some(operand), None) => (right, wanted(turned(comparison), operand)),
        _ => {
            let reason = "one side of it must be a literal or a number, and the other a path";
            let instead = "compare with what is written out, as in /a/b = 'c'";
            return Err(Refusal::new("a comparison of two such operands", reason, instead));
        }
    };
    match subject {
        Expr::Path(path) => Ok(Condition::Holds(context.leaf(path, Want::Any(wanted))?)),
        Expr::Call(Call { function: Function::Core(CoreFunction::Position), .. }) if C::HAS_POSITION => {
            Ok(match wanted {
                Match::Number(comparison, expected) => Condition::Position(comparison, expected),
                Match::Equal(text) => Condition::Position(Comparison::Equal, number::parse(&text)),
                Match::NotEqual(text) => Condition::Position(Comparison::NotEqual, number::parse(&text)),
            })
        }
        Expr::Call(Call {
            function: Function::Core(CoreFunction::String | CoreFunction::NormalizeSpace),
            ..
        }) => Ok(Condition::Text(text(context, subject)?, TextTest::Match(wanted))),
        Expr::Call(Call {
            function:
                Function::Core(
                    CoreFunction::Boolean
                    | CoreFunction::Not
                    | CoreFunction::StartsWith
                    | CoreFunction::Contains
                    | CoreFunction::True
                    | CoreFunction::False,
                ),
            ..
        })
        | Expr::Compare { .. }
        | Expr::And(_)
        | Expr::Or(_) => {
            let reason = "only strings and numbers are compared";
            Err(Refusal::new(
                "a comparison with a boolean",
                reason,
                "write the boolean alone, or not() of it",
            ))
        }
        _ => Err(refuse(subject)),
    }
}

/// The expression as a string (XPath 1.0, section 4.2).
pub(super) fn text<C: Context>(context: &mut C, expression: &Expr) -> Result<Text<C::Leaf>, Refusal> {
    match expression {
        Expr::Path(path) => Ok(Text::Of(context.leaf(path, Want::First(Spaces::Kept))?)),
        Expr::Call(Call { function: Function::Core(function), arguments }) => {
            match (function, arguments.as_slice()) {
                (CoreFunction::String, [argument]) => text(context, argument),
                (CoreFunction::NormalizeSpace, [argument]) => {
                    Ok(Text::Normalized(Box::new(text(context, argument)?)))
                }
                _ => Err(refuse(expression)),
            }
        }
        _ => Err(refuse(expression)),
    }
}

enum Operand<'a> {
    Text(&'a str),
    Number(f64),
}

fn operand(expression: &Expr) -> Option<Operand<'_>> {
    match expression {
        Expr::Literal(text) => Some(Operand::Text(text)),
        Expr::Number(number) => Some(Operand::Number(*number)),
        Expr::Negate(inner) => match **inner {
            Expr::Number(number) => Some(Operand::Number(-number)),
            _ => None,
        },
        _ => None,
    }
}

/// Section 3.4: strings are compared as strings for equality only, and otherwise as numbers.
fn wanted(comparison: Comparison, operand: Operand<'_>) -> Match {
    match (comparison, operand) {
        (Comparison::Equal, Operand::Text(text)) => Match::Equal(text.into()),
        (Comparison::NotEqual, Operand::Text(text)) => Match::NotEqual(text.into()),
        (_, Operand::Text(text)) => Match::Number(comparison, number::parse(text)),
        (_, Operand::Number(number)) => Match::Number(comparison, number),
    }
}

/// The comparison with its sides exchanged.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal | Comparison::NotEqual => comparison,
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
    }
}

fn refuse(expression: &Expr) -> Refusal {
    let needs_all = "it selects from nodes that would have to be kept";
    match expression {
        Expr::Union(_) => {
            let reason = "which of its nodes comes first is known only when all paths are decided";
            Refusal::new("`|`", reason, "use an expression for each path, or boolean(/a) or boolean(/b)")
        }
        Expr::Filter { .. } => {
            Refusal::new("a predicate on an expression in parentheses", needs_all, "put it into the step")
        }
        Expr::Path(_) => Refusal::new("a path", "a boolean or a string is wanted here", WHOLE_DOCUMENT),
        Expr::Arithmetic { .. } | Expr::Negate(_) => {
            Refusal::new("arithmetic", "nothing is computed on a stream", WHOLE_DOCUMENT)
        }
        Expr::Number(_) => {
            Refusal::new("a number", "a path or a condition is wanted here", "compare a path with it")
        }
        Expr::Literal(_) => {
            Refusal::new("a literal", "a path or a condition is wanted here", "compare a path with it")
        }
        Expr::Variable(_) => Refusal::new("a variable", "its value is not known", "write the value out"),
        Expr::Call(Call { function: Function::Core(function), .. }) => refusal::function(*function),
        Expr::Call(_) => Refusal::new("a function of the host", "it may ask for any node", WHOLE_DOCUMENT),
        Expr::Or(_) | Expr::And(_) | Expr::Compare { .. } => {
            Refusal::new("a condition", "a string is wanted here", "write the condition alone")
        }
    }
}
