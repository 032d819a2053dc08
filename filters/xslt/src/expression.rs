//! Expressions and attribute value templates of a stylesheet, and what can be told of them ahead.

use portcullis_xml::xpath::ast::{
    Axis, Call, CoreFunction, Expr, Function, NodeTest, Path, Predicate, Start, Step, Type,
};

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) expr: Expr,
    pub(crate) shape: Shape,
}

/// What an expression is, if it is so plain that there is no need to evaluate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `.`
    Current,
    /// `node()`
    Children,
    /// `name` or the like: children that a test selects
    Child,
    /// `@*|node()`, which is what most stylesheets apply templates to
    Contents,
    /// Something else.
    Other,
}

impl Shape {
    fn of(expr: &Expr) -> Self {
        match expr {
            Expr::Union(operands) => match &**operands {
                [a, b] if is_attributes(a) && is_step(b, Axis::Child) => Self::Contents,
                [a, b] if is_attributes(b) && is_step(a, Axis::Child) => Self::Contents,
                _ => Self::Other,
            },
            expr if is_step(expr, Axis::SelfNode) => Self::Current,
            expr if is_step(expr, Axis::Child) => Self::Children,
            expr if only_step(expr).is_some_and(|step| step.axis == Axis::Child) => Self::Child,
            _ => Self::Other,
        }
    }
}

/// `axis::node()`, and nothing more.
fn is_step(expr: &Expr, axis: Axis) -> bool {
    only_step(expr).is_some_and(|step| step.axis == axis && step.test == NodeTest::Node)
}

/// `@*` or `@node()`.
fn is_attributes(expr: &Expr) -> bool {
    only_step(expr).is_some_and(|step| {
        step.axis == Axis::Attribute && matches!(step.test, NodeTest::Any | NodeTest::Node)
    })
}

/// The one step, without predicates, of a path from the context node.
fn only_step(expr: &Expr) -> Option<&Step> {
    match expr {
        Expr::Path(Path { start: Start::Context, steps }) => match &**steps {
            [step] if step.predicates.is_empty() => Some(step),
            _ => None,
        },
        _ => None,
    }
}

impl Expression {
    pub(crate) fn new(expr: Expr) -> Self {
        let shape = Shape::of(&expr);
        Self { expr, shape }
    }

    /// What the children have to be that it selects, if it is of [that shape](Shape::Child).
    #[inline]
    pub(crate) fn child_test(&self) -> Option<&NodeTest> {
        if self.shape == Shape::Child { only_step(&self.expr).map(|step| &step.test) } else { None }
    }

    /// Whether it can yield a node-set.
    pub(crate) fn can_be_nodes(&self) -> bool {
        matches!(self.expr.type_(), Type::Nodes | Type::Any)
    }
}

/// An attribute value template (XSLT 1.0, section 7.6.2).
#[derive(Debug, Clone, Default)]
pub(crate) struct ValueTemplate {
    pub(crate) parts: Vec<Part>,
}

/// A part of an attribute value template.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(Box<str>),
    Expression(Expression),
}

impl ValueTemplate {
    pub(crate) fn of_text(text: &str) -> Self {
        Self { parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text.into())] } }
    }

    /// The value, if there is nothing to evaluate.
    pub(crate) fn constant(&self) -> Option<&str> {
        match &*self.parts {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn push_text(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => *text = [&**text, more].concat().into(),
            _ if more.is_empty() => {}
            _ => self.parts.push(Part::Text(more.into())),
        }
    }
}

/// Shows an expression and all those within it. The compiler of expressions has bounded how deep they are nested.
pub(crate) fn visit<'e>(expr: &'e Expr, look: &mut dyn FnMut(&'e Expr)) {
    look(expr);
    match expr {
        Expr::Or(operands) | Expr::And(operands) | Expr::Union(operands) => {
            operands.iter().for_each(|operand| visit(operand, look));
        }
        Expr::Compare { left, right, .. } => {
            visit(left, look);
            visit(right, look);
        }
        Expr::Arithmetic { first, rest } => {
            visit(first, look);
            rest.iter().for_each(|(_, operand)| visit(operand, look));
        }
        Expr::Negate(operand) => visit(operand, look),
        Expr::Path(Path { start, steps }) => {
            if let Start::Nodes(base) = start {
                visit(base, look);
            }
            steps
                .iter()
                .flat_map(|step| &step.predicates)
                .for_each(|predicate| visit_predicate(predicate, look));
        }
        Expr::Filter { base, predicates } => {
            visit(base, look);
            predicates.iter().for_each(|predicate| visit_predicate(predicate, look));
        }
        Expr::Call(Call { arguments, .. }) => arguments.iter().for_each(|argument| visit(argument, look)),
        Expr::Literal(_) | Expr::Number(_) | Expr::Variable(_) => {}
    }
}

/// Shows the expressions in a predicate.
pub(crate) fn visit_predicate<'e>(predicate: &'e Predicate, look: &mut dyn FnMut(&'e Expr)) {
    match predicate {
        Predicate::Condition(expr) | Predicate::Positional(expr) => visit(expr, look),
        Predicate::Position(_) | Predicate::Last | Predicate::Never => {}
    }
}

/// Whether an expression calls a function of the core library itself.
pub(crate) fn is_call_of(expr: &Expr, function: CoreFunction) -> bool {
    matches!(expr, Expr::Call(call) if call.function == Function::Core(function))
}
