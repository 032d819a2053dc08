//! What an expression says, once its abbreviations are written out, its prefixes resolved and its functions known.
//!
//! The tree is what everything else works on: the evaluator, and whoever can do with a part of the language and has to
//! see whether an expression keeps to that part.

/// An expression (XPath 1.0, sections 2 and 3).
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// `a or b or c`: at least two operands.
    Or(Vec<Expr>),
    /// `a and b and c`: at least two operands.
    And(Vec<Expr>),
    /// `a = b`, `a < b` and the like.
    Compare {
        /// How they are compared.
        comparison: Comparison,
        /// What stands to the left.
        left: Box<Expr>,
        /// What stands to the right.
        right: Box<Expr>,
    },
    /// `a + b - c`, or `a * b div c`: operators of one precedence, applied from left to right.
    Arithmetic {
        /// The first operand.
        first: Box<Expr>,
        /// The others, each with the operator that stands before it: at least one.
        rest: Vec<(Operator, Expr)>,
    },
    /// `-a`. Pairs of signs are gone: `--a` is `number(a)`.
    Negate(Box<Expr>),
    /// `a | b | c`: at least two operands, each of them a node-set.
    Union(Vec<Expr>),
    /// A location path, or an expression with steps behind it.
    Path(Path),
    /// `$nodes[1]`, `(//a)[1]`: predicates that see the whole node-set at once, in document order.
    Filter {
        /// A node-set.
        base: Box<Expr>,
        /// At least one.
        predicates: Vec<Predicate>,
    },
    /// `'text'`.
    Literal(Box<str>),
    /// `1.5`.
    Number(f64),
    /// `$name`.
    Variable(Variable),
    /// `name(arguments)`.
    Call(Call),
}

/// What an expression is known to yield before it is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A node-set.
    Nodes,
    /// A boolean.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// Any of them: only the value of a variable or the host's function tells.
    Any,
}

/// How two values are compared (section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// An operator on numbers (section 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `div`
    Divide,
    /// `mod`: the remainder of a truncating division, as in Java and C.
    Remainder,
}

/// A location path: where it starts, and the steps from there (section 2).
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Where the first step starts.
    pub start: Start,
    /// The steps. Only a path that starts at the root can have none: that is `/`.
    pub steps: Vec<Step>,
}

/// Where a path starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// At the root of the tree that has the context node: an absolute path.
    Root,
    /// At the context node: a relative path.
    Context,
    /// At each node of a node-set.
    Nodes(Box<Expr>),
}

/// A step of a path (section 2.1).
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which way it goes.
    pub axis: Axis,
    /// Which nodes on its way it selects.
    pub test: NodeTest,
    /// Which of these it keeps.
    pub predicates: Vec<Predicate>,
}

/// The way a step goes (section 2.2). There is no `namespace` axis: an expression that uses it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The parent, its parent and so on.
    Ancestor,
    /// The node itself and its ancestors.
    AncestorOrSelf,
    /// The attributes.
    Attribute,
    /// The children.
    Child,
    /// The children, their children and so on.
    Descendant,
    /// The node itself and its descendants.
    DescendantOrSelf,
    /// All nodes that begin behind the node's end, but for attributes.
    Following,
    /// The siblings behind the node.
    FollowingSibling,
    /// The parent.
    Parent,
    /// All nodes that end before the node, but for attributes.
    Preceding,
    /// The siblings before the node.
    PrecedingSibling,
    /// The node itself.
    SelfNode,
}

impl Axis {
    /// Whether positions on the axis are counted against document order (section 2.4).
    #[must_use]
    pub fn is_reverse(self) -> bool {
        matches!(self, Self::Ancestor | Self::AncestorOrSelf | Self::Preceding | Self::PrecedingSibling)
    }
}

/// Which nodes a step selects (section 2.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeTest {
    /// `*`: any node of the axis's principal type, which is attributes on the attribute axis and elsewhere elements.
    Any,
    /// `prefix:*`: any node of the principal type in the namespace.
    Namespace(NamespaceTest),
    /// `name` or `prefix:name`: a node of the principal type with this name.
    Name(NameTest),
    /// `node()`.
    Node,
    /// `text()`.
    Text,
    /// `comment()`.
    Comment,
    /// `processing-instruction()`.
    ProcessingInstruction,
    /// `processing-instruction('target')`: the name is that of the target, in no namespace.
    Target(NameTest),
}

/// An expanded name to test for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTest {
    /// The namespace's URI, empty for no namespace. A name without a prefix has none: there is no default namespace.
    pub namespace: Box<str>,
    /// The local name.
    pub local: Box<str>,
    /// The place of the name in the pool that the expression was compiled with.
    pub name: NameRef,
}

/// A namespace to test for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceTest {
    /// The namespace's URI.
    pub namespace: Box<str>,
    /// Its place in the pool that the expression was compiled with.
    pub uri: UriRef,
}

/// The place of an expanded name in a [`NamePool`](super::NamePool).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRef(pub u32);

/// The place of a namespace in a [`NamePool`](super::NamePool).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UriRef(pub u32);

/// A predicate, with what is known of it before it is evaluated (section 2.4).
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// `[@a = 'b']`: true or false of a node wherever it stands among the others.
    Condition(Expr),
    /// `[3]`: the node at this position, counted from 1.
    Position(u32),
    /// `[last()]`: the last one.
    Last,
    /// `[position() mod 2 = 1]`, `[$n]`: depends on where the node stands, or on a value of unknown type.
    Positional(Expr),
    /// `[0]`, `[1.5]`: holds for no node.
    Never,
}

/// A variable that the static context knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// The place of its value, as the static context gave it.
    pub slot: Slot,
    /// What it is known to hold.
    pub type_: Type,
}

/// Where the environment keeps the value of a variable: a number of the host's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

/// A call of a function. Their number is right for the function, and where it takes a node-set, it gets one (or an
/// expression of unknown type).
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// Its arguments. Where XPath lets one default to the context node (`string()`, `name()`), it is written out as
    /// the path `self::node()`.
    pub arguments: Vec<Expr>,
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// One of the core library.
    Core(CoreFunction),
    /// One that the static context added.
    Host(HostFunction),
}

/// A function that the static context added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostFunction {
    /// Which one: a number of the host's choice.
    pub id: u32,
    /// What it returns.
    pub returns: Type,
    /// What it reads of the context.
    pub reads: Reads,
}

/// What a function of the host reads of the evaluation context, which decides what may be done ahead or once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// At most the context node.
    Node,
    /// The context position or size too.
    Position,
}

/// The core function library (section 4), but for `id()`, which needs a DTD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreFunction {
    /// `last()`
    Last,
    /// `position()`
    Position,
    /// `count(node-set)`
    Count,
    /// `local-name(node-set?)`
    LocalName,
    /// `namespace-uri(node-set?)`
    NamespaceUri,
    /// `name(node-set?)`
    Name,
    /// `string(object?)`
    String,
    /// `concat(string, string, string*)`
    Concat,
    /// `starts-with(string, string)`
    StartsWith,
    /// `contains(string, string)`
    Contains,
    /// `substring-before(string, string)`
    SubstringBefore,
    /// `substring-after(string, string)`
    SubstringAfter,
    /// `substring(string, number, number?)`
    Substring,
    /// `string-length(string?)`
    StringLength,
    /// `normalize-space(string?)`
    NormalizeSpace,
    /// `translate(string, string, string)`
    Translate,
    /// `boolean(object)`
    Boolean,
    /// `not(boolean)`
    Not,
    /// `true()`
    True,
    /// `false()`
    False,
    /// `lang(string)`
    Lang,
    /// `number(object?)`
    Number,
    /// `sum(node-set)`
    Sum,
    /// `floor(number)`
    Floor,
    /// `ceiling(number)`
    Ceiling,
    /// `round(number)`
    Round,
}
