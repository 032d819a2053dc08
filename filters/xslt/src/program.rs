//! A compiled stylesheet: a flat list of instructions, and the tables that they refer to.
//!
//! Nested instructions lie between a begin and an end, loops and conditions are jumps, and whoever carries the
//! instructions out keeps a stack of his own: nothing recurses, however deep documents and templates are nested.

use std::collections::BTreeMap;
use std::rc::Rc;

use portcullis_xml::xpath::NamePool;

use crate::expression::{Expression, ValueTemplate};
use crate::format_number::DecimalFormat;
use crate::functions::Scopes;
use crate::number::NumberFormat;
use crate::pattern::{Pattern, RuleSet};
use crate::qname::Expanded;
use crate::result::OutputFormat;

/// The place of an instruction.
pub(crate) type Address = usize;

/// Where the value of a variable is: see [`GLOBAL`].
pub(crate) type SlotNumber = u32;

/// Slots from here on are those of global variables; those below are relative to the template's first one.
pub(crate) const GLOBAL: SlotNumber = 1 << 31;

/// The place of a name in [`Program::result_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NameIndex(pub(crate) u32);

/// The place of a prefix and a namespace in [`Program::result_namespaces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamespaceIndex(pub(crate) u32);

/// An instruction.
#[derive(Debug)]
pub(crate) enum Op {
    /// Writes text.
    Text(Box<str>),
    /// Writes the string-value of an expression.
    ValueOf(Box<Expression>),
    /// Starts an element of a known name.
    StartLiteral(Box<Literal>),
    /// Starts an element of a computed name.
    StartElement(Box<ComputedName>),
    /// Ends the innermost element.
    EndElement,
    /// Writes an attribute of a known name.
    Attribute(NameIndex, Box<ValueTemplate>),
    /// Begins to collect text.
    BeginText,
    /// Writes an attribute: its name, and the text collected.
    EndAttribute(Box<ComputedName>),
    /// Writes a comment of the text collected.
    EndComment,
    /// Writes a processing instruction: its target, and the text collected.
    EndInstruction(Box<ValueTemplate>),
    /// Hands the text collected on as a message.
    EndMessage(Afterwards),
    /// Begins a copy of the current node. Where content is not instantiated, goes on at the first address; where
    /// there is no element to use attribute sets on, at the second.
    Copy(Address, Address),
    /// Ends the copy.
    EndCopy,
    /// Copies nodes with all that they contain, or writes the string-value of something else.
    CopyOf(Box<Expression>),
    /// Writes a number.
    Number(Box<Number>),
    /// Goes on elsewhere.
    Jump(Address),
    /// Goes on elsewhere if the test is false.
    Unless(Box<Expression>, Address),
    /// Begins a loop. Its end is [`Op::Again`]; for no nodes at all, goes on at the address.
    ForEach(Box<Selection>, Address),
    /// Goes on with the next node, at the address, or leaves the loop.
    Again(Address),
    /// Begins to apply templates. [`Op::ApplyNext`] follows.
    Apply(Box<Apply>),
    /// Applies the template of the next node, until there are no more nodes.
    ApplyNext,
    /// Applies the template that the current one has overridden.
    ApplyImports,
    /// Instantiates a template, with the last so many arguments.
    Call(usize, u32),
    /// Carries out instructions that have so many variables of their own, and comes back: those of an
    /// attribute set.
    Use(Address, usize),
    /// Goes back to where the template was instantiated.
    Return,
    /// Gives a variable its value.
    Set(SlotNumber, Box<Expression>),
    /// Begins to collect a temporary tree.
    BeginTree,
    /// Gives a variable the tree collected.
    EndTree(SlotNumber),
    /// One more argument.
    Argument(u32, Box<Expression>),
    /// One more argument: the tree collected.
    EndTreeArgument(u32),
    /// Goes on at the address if the template has been given the argument, which becomes the variable's value.
    Parameter(u32, SlotNumber, Address),
    /// Goes on at the address if the host has given the global parameter.
    GlobalParameter(Box<Expanded>, SlotNumber, Address),
    /// The value of a global variable is complete: goes back to where it was needed.
    GlobalDone,
    /// What the next instruction's expressions refer to must be there.
    Need(Box<Needs>),
    /// Ends the transformation: an instruction of a later version without a fallback.
    Unknown,
}

/// What happens after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Continue,
    Terminate,
}

/// The start of a literal result element.
#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) name: NameIndex,
    pub(crate) namespaces: Box<[NamespaceIndex]>,
}

/// The name of an element or an attribute that is computed (XSLT 1.0, sections 7.1.2 and 7.1.3).
#[derive(Debug)]
pub(crate) struct ComputedName {
    /// The name, if nothing about it has to be computed.
    pub(crate) known: Option<NameIndex>,
    pub(crate) name: ValueTemplate,
    pub(crate) namespace: Option<ValueTemplate>,
    /// The prefixes that the name may have.
    pub(crate) scope: usize,
    /// Whether it is an attribute's, for which the default namespace does not count.
    pub(crate) of: Named,
}

/// What a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Element,
    Attribute,
}

/// Nodes in an order.
#[derive(Debug)]
pub(crate) struct Selection {
    /// What they are; `None` for the children of the current node.
    pub(crate) select: Option<Expression>,
    pub(crate) sorts: Box<[Sort]>,
}

/// A sort key (section 10).
#[derive(Debug)]
pub(crate) struct Sort {
    pub(crate) select: Expression,
    pub(crate) data_type: ValueTemplate,
    pub(crate) order: ValueTemplate,
    pub(crate) case_order: Option<ValueTemplate>,
}

/// `xsl:apply-templates`.
#[derive(Debug)]
pub(crate) struct Apply {
    pub(crate) selection: Selection,
    pub(crate) mode: usize,
    /// How many arguments it takes from the end of those that there are.
    pub(crate) arguments: u32,
}

/// `xsl:number` (section 7.7).
#[derive(Debug)]
pub(crate) struct Number {
    pub(crate) source: NumberSource,
    pub(crate) format: Format,
    pub(crate) grouping_separator: Option<ValueTemplate>,
    pub(crate) grouping_size: Option<ValueTemplate>,
}

/// `format` of `xsl:number`.
#[derive(Debug)]
pub(crate) enum Format {
    Known(NumberFormat),
    Computed(ValueTemplate),
}

/// Where a number comes from.
#[derive(Debug)]
pub(crate) enum NumberSource {
    /// It is computed.
    Value(Expression),
    /// Nodes are counted.
    Count {
        level: Level,
        /// `None` for nodes of the current one's kind and name.
        count: Option<Pattern>,
        from: Option<Pattern>,
    },
}

/// `level` of `xsl:number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Single,
    Multiple,
    Any,
}

/// Global variables and keys that expressions refer to.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) globals: Vec<SlotNumber>,
    pub(crate) keys: Vec<usize>,
}

impl Needs {
    pub(crate) fn is_empty(&self) -> bool {
        self.globals.is_empty() && self.keys.is_empty()
    }
}

/// A template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) body: Address,
    /// How many variables it has.
    pub(crate) slots: usize,
}

/// A global variable or parameter.
#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) body: Address,
    pub(crate) slots: usize,
}

/// A key: all definitions of one name (section 12.2).
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: Expanded,
    pub(crate) definitions: Vec<(Pattern, Expression)>,
    /// The keys that have to be there before this one, and this one.
    pub(crate) order: Vec<usize>,
}

/// Where an instruction stands in the stylesheet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin {
    /// The document, by its number.
    pub(crate) document: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A name of the result: prefix and expanded name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrefixedName {
    pub(crate) prefix: Box<str>,
    pub(crate) name: Expanded,
}

/// A compiled stylesheet.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// Of each instruction.
    pub(crate) origins: Vec<Origin>,
    /// The names of the documents.
    pub(crate) documents: Vec<Box<str>>,
    pub(crate) templates: Vec<Template>,
    pub(crate) globals: Vec<Global>,
    /// The names of the global parameters.
    pub(crate) parameters: Vec<Expanded>,
    pub(crate) rules: RuleSet,
    pub(crate) keys: Vec<Key>,
    /// The keys that patterns of rules refer to.
    pub(crate) rule_keys: Vec<usize>,
    /// The names that expressions and patterns test for.
    pub(crate) names: NamePool,
    pub(crate) result_names: Vec<PrefixedName>,
    /// Prefix and URI.
    pub(crate) result_namespaces: Vec<(Box<str>, Box<str>)>,
    /// Prefixes in scope where they have to be resolved at run time.
    pub(crate) scopes: Scopes,
    pub(crate) decimal_formats: BTreeMap<Expanded, DecimalFormat>,
    pub(crate) space: Rc<SpaceRules>,
    pub(crate) output: OutputFormat,
    /// What `xsl:output` says.
    pub(crate) media_type: Option<Box<str>>,
    /// Whether the size of a node list matters to any expression.
    pub(crate) reads_last: bool,
}

impl Program {
    /// The address of what applies the templates for the children of a node that only a built-in rule is for
    /// (section 5.8): an [`Op::ApplyNext`] and an [`Op::Return`].
    pub(crate) const BUILT_IN: Address = 0;
}

/// Which elements of the source lose text that is white space alone (section 3.4), by rules that yield to those before
/// them: for each name test the first.
#[derive(Debug, Default)]
pub(crate) struct SpaceRules {
    /// By local name.
    names: BTreeMap<Box<str>, SpaceByNamespace>,
    namespaces: SpaceByNamespace,
    any: Option<RankedSpace>,
}

type SpaceByNamespace = BTreeMap<Box<str>, RankedSpace>;

/// What a rule says, and its place among all rules.
#[derive(Debug, Clone, Copy)]
struct RankedSpace {
    place: usize,
    space: Space,
}

impl SpaceRules {
    /// Of rules in descending order.
    pub(crate) fn new(rules: impl IntoIterator<Item = SpaceRule>) -> Self {
        let mut all = Self::default();
        for (place, SpaceRule { test, space }) in rules.into_iter().enumerate() {
            let rule = RankedSpace { place, space };
            match test {
                SpaceTest::Any => {
                    all.any.get_or_insert(rule);
                }
                SpaceTest::Namespace(uri) => {
                    all.namespaces.entry(uri).or_insert(rule);
                }
                SpaceTest::Name(name) => {
                    all.names.entry(name.local).or_default().entry(name.namespace).or_insert(rule);
                }
            }
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.namespaces.is_empty() && self.any.is_none()
    }

    /// Whether white space counts in an element of this name.
    pub(crate) fn keeps(&self, namespace: &str, local: &str) -> bool {
        let of_name = self.names.get(local).and_then(|namespaces| namespaces.get(namespace));
        let rules = [of_name, self.namespaces.get(namespace), self.any.as_ref()];
        let first = rules.into_iter().flatten().min_by_key(|rule| rule.place);
        first.is_none_or(|rule| rule.space == Space::Preserve)
    }
}

/// One of `xsl:strip-space` and `xsl:preserve-space`, for one name test; in descending order of what it yields to.
#[derive(Debug)]
pub(crate) struct SpaceRule {
    pub(crate) test: SpaceTest,
    pub(crate) space: Space,
}

/// The elements that a rule is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SpaceTest {
    Any,
    Namespace(Box<str>),
    Name(Expanded),
}

/// What becomes of white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Strip,
    Preserve,
}
