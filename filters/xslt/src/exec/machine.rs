//! The state of a transformation.

use portcullis_xml::tree::{Document, Names, PrefixId, UriId};
use portcullis_xml::xpath::{Bindings, Budget, Context, Value};
use portcullis_xml::{Limits, NodeId};

use core::ops::Range;

use super::error::{Failure, Result};
use super::frame::{Application, Focus, Frame, Nodes};
use super::key_tables::KeyTable;
use super::trees::Trees;
use super::values::{Arguments, Values};
use crate::error::{Place, TransformError, TransformErrorKind};
use crate::limits::TransformLimits;
use crate::messages::Messages;
use crate::parameters::Parameters;
use crate::pattern::BoundPool;
use crate::program::{Address, NameIndex, NamespaceIndex, Program};
use crate::result::{ResultLimits, ResultName, ResultWriter};
use crate::source::Source;

/// How much output any input may have, whatever its size.
const OUTPUT_FOR_ALL: usize = 64 << 10;
/// How much room is made for the output at once, at the most.
const RESERVED: usize = 64 << 10;
/// Attributes written to one element. In a temporary tree, each is compared with those before it.
const ATTRIBUTES: usize = 256;

/// A transformation that is going on.
pub(super) struct Machine<'p, 'h> {
    pub(super) program: &'p Program,
    pub(super) parameters: &'h Parameters,
    pub(super) messages: &'h mut dyn Messages,
    pub(super) limits: &'h TransformLimits,

    /// The source, and behind it the temporary trees.
    pub(super) document: Document,
    pub(super) pool: BoundPool,
    pub(super) bindings: Bindings,
    result_names: Vec<Option<ResultName>>,
    result_namespaces: Vec<Option<(PrefixId, UriId)>>,
    pub(super) writer: ResultWriter,
    pub(super) budget: Budget,

    /// The instruction that is carried out.
    at: Address,
    /// The one that is carried out next.
    pub(super) next: Address,
    pub(super) frames: Vec<Frame>,
    /// How many of the frames are calls.
    pub(super) depth: usize,
    pub(super) focus: Focus,
    /// The local variables of all templates that are open.
    pub(super) locals: Values,
    /// Where those of the innermost one begin.
    pub(super) base: usize,
    pub(super) arguments: Arguments,
    /// Those of the arguments that the innermost template was given.
    pub(super) given: Range<usize>,
    pub(super) globals: Vec<GlobalValue>,
    pub(super) keys: Vec<Option<KeyTable>>,
    pub(super) trees: Trees,
    /// How many bytes the node lists of loops and of templates being applied take.
    pub(super) listed: usize,
    /// How many bytes are kept to the end.
    pub(super) kept: usize,
    /// A string that is not in use, for its memory.
    pub(super) scratch: String,
}

/// The value of a global variable, or why there is none.
#[derive(Debug)]
pub(super) enum GlobalValue {
    Unknown,
    /// It is being computed.
    Pending,
    Known(Value<'static>),
}

impl<'p, 'h> Machine<'p, 'h> {
    pub(super) fn new(
        program: &'p Program,
        source: Source,
        parameters: &'h Parameters,
        limits: &'h TransformLimits,
        messages: &'h mut dyn Messages,
    ) -> Self {
        let Source { mut document, bytes } = source;
        let names = document.names_mut();
        let pool = BoundPool::new(&program.names, names);
        let result_names = program.result_names.iter().map(|name| {
            Some(ResultName { name: name_of(names, &name.name)?, prefix: names.prefix(&name.prefix)? })
        });
        let result_names = result_names.collect();
        let namespaces = program.result_namespaces.iter();
        let result_namespaces =
            namespaces.map(|(prefix, uri)| Some((names.prefix(prefix)?, names.uri(uri)?))).collect();
        let bindings = Bindings::new(&program.names, &document);
        let by_size = bytes.saturating_mul(limits.output_factor).saturating_add(OUTPUT_FOR_ALL);
        let result_limits = ResultLimits {
            output_bytes: limits.output_bytes.min(by_size),
            capture_bytes: limits.temporary_bytes,
            fragment_nodes: usize::try_from(limits.nodes).unwrap_or(usize::MAX),
            attributes: ATTRIBUTES,
        };
        let mut writer = ResultWriter::new(&program.output, result_limits);
        // Most results are about as large as their sources.
        writer.reserve(bytes.min(RESERVED));
        let focus = Focus { context: Context::of(NodeId::ROOT), rule: None, mode: 0 };
        // Processing begins with the root, as if templates had been applied to it (section 5.1).
        let root = Application {
            nodes: Nodes::List(vec![NodeId::ROOT], 0),
            position: 0,
            size: 1,
            mode: 0,
            arguments: 0..0,
            focus,
        };
        Self {
            program,
            parameters,
            messages,
            limits,
            pool,
            bindings,
            result_names,
            result_namespaces,
            writer,
            budget: Budget::new(limits.steps).with_memory(limits.temporary_bytes),
            at: Program::BUILT_IN,
            next: Program::BUILT_IN,
            frames: vec![Frame::Apply(root)],
            depth: 0,
            focus,
            locals: Values::default(),
            base: 0,
            arguments: Arguments::default(),
            given: 0..0,
            globals: program.globals.iter().map(|_| GlobalValue::Unknown).collect(),
            keys: program.keys.iter().map(|_| None).collect(),
            trees: Trees::new(&document),
            listed: 0,
            kept: 0,
            document,
            scratch: String::new(),
        }
    }

    /// Carries out the program.
    pub(super) fn run(&mut self) -> core::result::Result<(), TransformErrorKind> {
        self.run_all().map_err(|failure| failure.into_kind(self.limits))
    }

    fn run_all(&mut self) -> Result<()> {
        let program = self.program;
        for key in &program.rule_keys {
            self.prepare_key(*key)?;
        }
        loop {
            self.budget.charge(1)?;
            self.at = self.next;
            self.next = self.at.saturating_add(1);
            // Every path through the program ends with a return.
            let Some(op) = program.ops.get(self.at) else { return Ok(()) };
            if !self.carry_out(op)? {
                return Ok(());
            }
        }
    }

    /// The output.
    pub(super) fn finish(self) -> core::result::Result<Vec<u8>, TransformError> {
        let limits = self.limits;
        self.writer.finish().map_err(|error| TransformError {
            place: Place { line: 1, column: 1, ..Place::default() },
            kind: Failure::from(error).into_kind(limits),
        })
    }

    /// The address of the instruction that is carried out.
    pub(super) fn here(&self) -> Address {
        self.at
    }

    pub(super) fn result_name(&self, index: NameIndex) -> Result<ResultName> {
        let name = usize::try_from(index.0).ok().and_then(|index| self.result_names.get(index));
        name.copied().flatten().ok_or(Failure::Nodes)
    }

    pub(super) fn result_namespace(&self, index: NamespaceIndex) -> Result<(PrefixId, UriId)> {
        let namespace = usize::try_from(index.0).ok().and_then(|index| self.result_namespaces.get(index));
        namespace.copied().flatten().ok_or(Failure::Nodes)
    }

    /// The limits of a temporary tree.
    pub(super) fn tree_limits(&self) -> Limits {
        Limits { nodes: self.limits.nodes, ..Limits::default() }
    }
}

fn name_of(names: &mut Names, name: &crate::qname::Expanded) -> Option<portcullis_xml::tree::NameId> {
    let uri = names.uri(&name.namespace)?;
    names.name(uri, &name.local)
}
