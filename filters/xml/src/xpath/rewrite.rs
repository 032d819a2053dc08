//! The same expression, in a form that is faster to evaluate.

use super::ast::{Axis, Expr, NodeTest, Operator, Path, Start, Step};

/// Simplifies the steps of a path as they are added one by one.
///
/// `//a` stands for `/descendant-or-self::node()/child::a`, which would visit every node twice. It selects the same as
/// `/descendant::a`, unless a predicate counts: `//a[1]` is each first `a` of its parent.
pub(super) fn push_step(steps: &mut Vec<Step>, mut step: Step) {
    let plain = step.predicates.is_empty() && step.test == NodeTest::Node;
    match steps.last_mut() {
        // `.` selects what there is already: it stands first or not at all, and only if nothing follows.
        Some(last) if is_plain(last, Axis::SelfNode) => {
            *last = step;
            return;
        }
        Some(_) if plain && step.axis == Axis::SelfNode => return,
        Some(last) if is_plain(last, Axis::DescendantOrSelf) => {
            let merged = match step.axis {
                Axis::Child | Axis::Descendant => Some(Axis::Descendant),
                Axis::SelfNode | Axis::DescendantOrSelf => Some(Axis::DescendantOrSelf),
                _ => None,
            };
            if let Some(axis) = merged.filter(|_| step.is_unordered()) {
                step.axis = axis;
                *last = step;
                return;
            }
            if step.axis == Axis::Attribute {
                // Only elements have attributes.
                last.test = NodeTest::Any;
            }
        }
        _ => {}
    }
    steps.push(step);
}

fn is_plain(step: &Step, axis: Axis) -> bool {
    step.axis == axis && step.test == NodeTest::Node && step.predicates.is_empty()
}

/// The path from `start` by `steps`; `/.` is `/`.
pub(super) fn path(start: Start, mut steps: Vec<Step>) -> Expr {
    if start == Start::Root && matches!(&*steps, [step] if is_plain(step, Axis::SelfNode)) {
        steps.clear();
    }
    Expr::Path(Path { start, steps })
}

/// Applies operators of one precedence; what is constant is computed.
pub(super) fn arithmetic(first: Expr, rest: Vec<(Operator, Expr)>) -> Expr {
    let mut rest = rest.into_iter().peekable();
    let mut first = first;
    while let Expr::Number(left) = first
        && let Some((operator, Expr::Number(right))) =
            rest.next_if(|(_, next)| matches!(next, Expr::Number(_)))
    {
        first = Expr::Number(operator.apply(left, right));
    }
    let rest: Vec<_> = rest.collect();
    if rest.is_empty() { first } else { Expr::Arithmetic { first: Box::new(first), rest } }
}

/// Puts a minus sign before an expression.
pub(super) fn negate(operand: Expr) -> Expr {
    match operand {
        Expr::Number(number) => Expr::Number(-number),
        other => Expr::Negate(Box::new(other)),
    }
}

impl Operator {
    /// IEEE 754 arithmetic (XPath 1.0, section 3.5).
    pub(super) fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::Remainder => left % right,
        }
    }
}
