//! Carrying out a compiled stylesheet.
//!
//! One loop goes from instruction to instruction. What is open (templates, loops, lists of nodes that templates are
//! applied to) lies on a stack of its own, so that neither the depth of the document nor that of templates takes any
//! of the stack of the program.

mod call;
mod computed_name;
mod counting;
mod environment;
mod error;
mod evaluate;
mod frame;
mod instructions;
mod key_tables;
mod machine;
mod numbering;
mod place;
mod selection;
mod store;
mod trees;
mod values;
mod walk;

use self::machine::Machine;
use crate::error::TransformError;
use crate::limits::TransformLimits;
use crate::messages::Messages;
use crate::parameters::Parameters;
use crate::program::Program;
use crate::source::Source;

/// Transforms a document.
pub(crate) fn transform(
    program: &Program,
    source: Source,
    parameters: &Parameters,
    limits: &TransformLimits,
    messages: &mut dyn Messages,
) -> Result<Vec<u8>, TransformError> {
    let mut machine = Machine::new(program, source, parameters, limits, messages);
    match machine.run() {
        Ok(()) => machine.finish(),
        Err(kind) => Err(machine.locate(kind)),
    }
}
