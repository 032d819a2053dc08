//! What is known of an expression before it is evaluated.

use super::ast::{
    Axis, Call, Comparison, CoreFunction, Expr, Function, NodeTest, Path, Predicate, Reads, Start, Step, Type,
};

impl Expr {
    /// What it yields.
    #[must_use]
    pub fn type_(&self) -> Type {
        match self {
            Self::Or(_) | Self::And(_) | Self::Compare { .. } => Type::Boolean,
            Self::Arithmetic { .. } | Self::Negate(_) | Self::Number(_) => Type::Number,
            Self::Union(_) | Self::Path(_) | Self::Filter { .. } => Type::Nodes,
            Self::Literal(_) => Type::String,
            Self::Variable(variable) => variable.type_,
            Self::Call(call) => call.function.type_(),
        }
    }

    /// Whether its value depends on the context position or size.
    pub(super) fn reads_position(&self) -> bool {
        match self {
            Self::Or(operands) | Self::And(operands) | Self::Union(operands) => {
                operands.iter().any(Self::reads_position)
            }
            Self::Compare { left, right, .. } => left.reads_position() || right.reads_position(),
            Self::Arithmetic { first, rest } => {
                first.reads_position() || rest.iter().any(|(_, operand)| operand.reads_position())
            }
            Self::Negate(operand) => operand.reads_position(),
            // Predicates have a position and size of their own.
            Self::Path(Path { start: Start::Nodes(base), .. }) | Self::Filter { base, .. } => {
                base.reads_position()
            }
            Self::Path(_) | Self::Literal(_) | Self::Number(_) | Self::Variable(_) => false,
            Self::Call(Call { function, arguments }) => {
                function.reads_position() || arguments.iter().any(Self::reads_position)
            }
        }
    }

    /// The path `.`.
    pub(super) fn context_node() -> Self {
        Self::Path(Path { start: Start::Context, steps: vec![Step::any(Axis::SelfNode)] })
    }
}

impl Step {
    /// `axis::node()`
    pub(super) fn any(axis: Axis) -> Self {
        Self { axis, test: NodeTest::Node, predicates: Vec::new() }
    }

    /// Whether each of its predicates can be told of a node alone, wherever it stands among the others.
    pub(super) fn is_unordered(&self) -> bool {
        self.predicates.iter().all(|predicate| matches!(predicate, Predicate::Condition(_)))
    }
}

impl Function {
    fn type_(self) -> Type {
        match self {
            Self::Host(function) => function.returns,
            Self::Core(function) => function.type_(),
        }
    }

    fn reads_position(self) -> bool {
        match self {
            Self::Host(function) => function.reads == Reads::Position,
            Self::Core(function) => matches!(function, CoreFunction::Position | CoreFunction::Last),
        }
    }
}

impl CoreFunction {
    fn type_(self) -> Type {
        match self {
            Self::Last
            | Self::Position
            | Self::Count
            | Self::StringLength
            | Self::Number
            | Self::Sum
            | Self::Floor
            | Self::Ceiling
            | Self::Round => Type::Number,
            Self::LocalName
            | Self::NamespaceUri
            | Self::Name
            | Self::String
            | Self::Concat
            | Self::SubstringBefore
            | Self::SubstringAfter
            | Self::Substring
            | Self::NormalizeSpace
            | Self::Translate => Type::String,
            Self::StartsWith
            | Self::Contains
            | Self::Boolean
            | Self::Not
            | Self::True
            | Self::False
            | Self::Lang => Type::Boolean,
        }
    }
}

impl Predicate {
    /// The predicate that an expression makes (XPath 1.0, section 2.4: a number stands for a position).
    pub(super) fn new(expression: Expr) -> Self {
        match &expression {
            Expr::Number(number) => Self::at(*number),
            expression if is_last(expression) => Self::Last,
            Expr::Compare { comparison: Comparison::Equal, left, right } => match (&**left, &**right) {
                (position, Expr::Number(number)) | (Expr::Number(number), position)
                    if is_position(position) =>
                {
                    Self::at(*number)
                }
                (a, b) if is_position(a) && is_last(b) || is_last(a) && is_position(b) => Self::Last,
                _ => Self::of(expression),
            },
            _ => Self::of(expression),
        }
    }

    fn of(expression: Expr) -> Self {
        match expression.type_() {
            Type::Number | Type::Any => Self::Positional(expression),
            Type::Nodes | Type::Boolean | Type::String if expression.reads_position() => {
                Self::Positional(expression)
            }
            Type::Nodes | Type::Boolean | Type::String => Self::Condition(expression),
        }
    }

    fn at(number: f64) -> Self {
        let position = number as u32;
        // Positions beyond 32 bits are those of no node.
        if position > 0 && f64::from(position) == number { Self::Position(position) } else { Self::Never }
    }
}

fn is_core(expression: &Expr, function: CoreFunction) -> bool {
    matches!(expression, Expr::Call(call) if call.function == Function::Core(function))
}

fn is_last(expression: &Expr) -> bool {
    is_core(expression, CoreFunction::Last)
}

fn is_position(expression: &Expr) -> bool {
    is_core(expression, CoreFunction::Position)
}
