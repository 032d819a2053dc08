//! From a stylesheet's documents to a [`Program`](crate::program::Program).
//!
//! Three passes: the documents are loaded, what they declare gets its name and number, and then bodies are compiled,
//! which may refer to what comes later. Recursion follows the elements of the stylesheet, whose depth is bounded by
//! [`CompileLimits`](crate::CompileLimits).

mod arguments;
mod attribute_sets;
mod body;
mod circular;
mod conditions;
mod construct;
mod context;
mod declare;
mod element;
mod emit;
mod expressions;
mod fallback;
mod formats;
mod iterate;
mod keys;
mod literal;
mod load;
mod module;
mod names;
mod number;
mod options;
mod output;
mod space;
mod symbols;
mod templates;
mod text;
mod variables;

pub use options::CompileOptions;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use portcullis_xml::xpath::NamePool;

use self::element::Element;
use self::load::{Declaration, Loaded};
use self::symbols::{Numbering, ResultSymbols, Variables};
use crate::error::CompileError;
use crate::format_number::DecimalFormat;
use crate::functions::Scopes;
use crate::limits::CompileLimits;
use crate::pattern::{Rule, RuleSet};
use crate::program::{
    Global, Key, NamespaceIndex, Needs, Op, Origin, Program, SlotNumber, SpaceRule, SpaceRules, Template,
};
use crate::qname::Expanded;
use crate::result::OutputFormat;

/// Compiles a stylesheet.
pub(crate) fn compile(source: &[u8], options: &CompileOptions) -> Result<Program, CompileError> {
    let loaded = Loaded::new(source, options)?;
    let mut compiler = Compiler::new(&loaded, &options.limits);
    compiler.declare()?;
    compiler.bodies()?;
    compiler.finish()
}

/// What is known and made so far.
struct Compiler<'m> {
    loaded: &'m Loaded,
    limits: &'m CompileLimits,

    ops: Vec<Op>,
    origins: Vec<Origin>,
    /// Where the instructions that are emitted stand.
    origin: Origin,
    /// What the next instruction refers to.
    needs: Needs,

    names: NamePool,
    result: ResultSymbols,
    scopes: Scopes,
    variables: Variables,
    modes: Numbering<Expanded>,
    argument_names: Numbering<Expanded>,
    keys: Numbering<Expanded>,
    key_elements: Vec<(Expanded, Element<'m>)>,
    key_definitions: Vec<KeySource<'m>>,
    template_names: BTreeMap<Expanded, usize>,
    templates: Vec<TemplateSource<'m>>,
    globals: Vec<GlobalSource<'m>>,
    /// The places of the global variables.
    global_names: BTreeMap<Expanded, usize>,
    attribute_sets: BTreeMap<Expanded, AttributeSet<'m>>,
    /// What stands for a namespace of the stylesheet in the result.
    aliases: BTreeMap<&'m str, &'m str>,
    decimal_formats: BTreeMap<Expanded, DecimalFormat>,
    space: Vec<(SpaceRule, u32)>,
    output: OutputFormat,
    media_type: Option<Box<str>>,

    rules: Vec<Rule>,
    /// The keys that patterns of templates refer to.
    rule_keys: BTreeSet<usize>,
    reads_last: bool,
    /// The namespaces that the enclosing literal result element has in the result already.
    enclosing: Option<BTreeSet<NamespaceIndex>>,
    /// The global variables that have been referred to since this was emptied.
    referred_globals: BTreeSet<SlotNumber>,
}

/// A template that is to be compiled.
struct TemplateSource<'m> {
    element: Element<'m>,
    declaration: Declaration,
    compiled: Template,
}

/// A global variable that is to be compiled.
struct GlobalSource<'m> {
    name: Expanded,
    element: Element<'m>,
    precedence: u32,
    compiled: Global,
    /// Those whose values it refers to itself.
    refers_to: BTreeSet<SlotNumber>,
}

/// A key, and the first element that defines it.
struct KeySource<'m> {
    key: Key,
    element: Element<'m>,
}

/// All definitions of one attribute set, the ones that yield to others first.
#[derive(Default)]
struct AttributeSet<'m> {
    definitions: Vec<Element<'m>>,
    /// Where its instructions are, and how many variables they have.
    compiled: Option<(usize, usize)>,
}

impl<'m> Compiler<'m> {
    fn new(loaded: &'m Loaded, limits: &'m CompileLimits) -> Self {
        let mut modes = Numbering::default();
        // The default mode has the number 0.
        modes.number(Expanded::default());
        Self {
            loaded,
            limits,
            ops: Vec::new(),
            origins: Vec::new(),
            origin: Origin::default(),
            needs: Needs::default(),
            names: NamePool::default(),
            result: ResultSymbols::default(),
            scopes: Scopes::default(),
            variables: Variables::default(),
            modes,
            argument_names: Numbering::default(),
            keys: Numbering::default(),
            key_elements: Vec::new(),
            key_definitions: Vec::new(),
            template_names: BTreeMap::new(),
            templates: Vec::new(),
            globals: Vec::new(),
            global_names: BTreeMap::new(),
            attribute_sets: BTreeMap::new(),
            aliases: BTreeMap::new(),
            decimal_formats: BTreeMap::new(),
            space: Vec::new(),
            output: OutputFormat::default(),
            media_type: None,
            rules: Vec::new(),
            rule_keys: BTreeSet::new(),
            reads_last: false,
            enclosing: None,
            referred_globals: BTreeSet::new(),
        }
    }

    /// Compiles what has been declared.
    fn bodies(&mut self) -> Result<(), CompileError> {
        self.emit_prologue()?;
        self.number_globals();
        self.compile_keys()?;
        self.compile_attribute_sets()?;
        self.compile_globals()?;
        self.compile_templates()
    }

    fn finish(mut self) -> Result<Program, CompileError> {
        self.order_keys()?;
        self.check_globals()?;
        let rules = RuleSet::new(self.rules, self.modes.len());
        let parameters = self.globals.iter().filter(|global| global.element.is("param"));
        Ok(Program {
            parameters: parameters.map(|global| global.name.clone()).collect(),
            ops: self.ops,
            origins: self.origins,
            documents: self.loaded.modules.iter().map(|module| module.name.clone()).collect(),
            templates: self.templates.into_iter().map(|template| template.compiled).collect(),
            globals: self.globals.into_iter().map(|global| global.compiled).collect(),
            rules,
            rule_keys: self.rule_keys.into_iter().collect(),
            keys: self.key_definitions.into_iter().map(|source| source.key).collect(),
            names: self.names,
            result_names: self.result.names.into_names(),
            result_namespaces: self.result.namespaces.into_names(),
            scopes: self.scopes,
            decimal_formats: self.decimal_formats,
            space: Rc::new(SpaceRules::new(self.space.into_iter().map(|(rule, _)| rule))),
            output: self.output,
            media_type: self.media_type,
            reads_last: self.reads_last,
        })
    }
}
