//! Adding instructions to the program.

use super::Compiler;
use super::element::Element;
use crate::error::{CompileError, CompileErrorKind, Place};
use crate::program::{Address, Needs, Op, Origin, SlotNumber};

impl<'m> Compiler<'m> {
    /// What every program begins with: see [`Program::BUILT_IN`](crate::program::Program::BUILT_IN).
    pub(super) fn emit_prologue(&mut self) -> Result<(), CompileError> {
        self.emit(Op::ApplyNext)?;
        self.emit(Op::Return)?;
        Ok(())
    }

    /// Adds an instruction, after what sees to it that what it refers to is there. Gives its address.
    pub(super) fn emit(&mut self, op: Op) -> Result<Address, CompileError> {
        if !self.needs.is_empty() {
            let needs = core::mem::take(&mut self.needs);
            self.push(Op::Need(Box::new(needs)))?;
        }
        self.push(op)
    }

    fn push(&mut self, op: Op) -> Result<Address, CompileError> {
        let limit = self.limits.instructions;
        if self.ops.len() >= limit {
            let place = Place { line: self.origin.line, column: self.origin.column, ..Place::default() };
            return Err(CompileError {
                place,
                kind: CompileErrorKind::TooMany { what: "instructions", limit },
            });
        }
        let address = self.ops.len();
        self.ops.push(op);
        self.origins.push(self.origin);
        Ok(address)
    }

    /// Where the next instruction will be.
    pub(super) fn here(&self) -> Address {
        self.ops.len()
    }

    /// Has the instruction at `address` go on at the end of what there is.
    pub(super) fn land(&mut self, address: Address) {
        let here = self.here();
        if let Some(
            Op::Copy(target, _)
            | Op::Jump(target)
            | Op::Unless(_, target)
            | Op::ForEach(_, target)
            | Op::Parameter(_, _, target)
            | Op::GlobalParameter(_, _, target),
        ) = self.ops.get_mut(address)
        {
            *target = here;
        }
    }

    /// Runs `compile` with instructions counted to `element`.
    pub(super) fn at<T>(
        &mut self,
        element: Element<'m>,
        compile: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let outer = self.origin;
        let (line, column) = element.module.line_and_column(element.node);
        let document = self.loaded.modules.iter().position(|module| core::ptr::eq(module, element.module));
        self.origin =
            Origin { document: document.and_then(|at| u32::try_from(at).ok()).unwrap_or(0), line, column };
        let result = compile(self);
        self.origin = outer;
        result
    }

    pub(super) fn refer_to_global(&mut self, slot: SlotNumber) {
        self.referred_globals.insert(slot);
        if !self.needs.globals.contains(&slot) {
            self.needs.globals.push(slot);
        }
    }

    pub(super) fn refer_to_key(&mut self, key: usize) {
        if !self.needs.keys.contains(&key) {
            self.needs.keys.push(key);
        }
    }

    /// What has been referred to since the last instruction, for where no instruction will be.
    pub(super) fn take_needs(&mut self) -> Needs {
        core::mem::take(&mut self.needs)
    }
}
