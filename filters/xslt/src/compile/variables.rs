//! Variables and global parameters (section 11).

use super::Compiler;
use super::context::Situation;
use super::element::Element;
use super::symbols::{Holds, VariableSymbol};
use crate::error::{CompileError, CompileErrorKind};
use crate::expression::Expression;
use crate::program::{GLOBAL, Op, SlotNumber};
use portcullis_xml::xpath::ast::Expr;

impl<'m> Compiler<'m> {
    pub(super) fn local_variable(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "select"])?;
        let name = element.expand("name", element.required("name")?)?;
        if self.variables.is_local(&name) {
            // Section 11.5: a variable may hide a global one, but none of its own template.
            return Err(element.error(CompileErrorKind::Duplicate {
                what: "variable in scope with the name",
                name: name.local,
            }));
        }
        let slot = self.variables.allocate();
        let holds = self.assign(element, slot)?;
        self.variables.declare(VariableSymbol { name, slot, holds });
        Ok(())
    }

    /// Gives a variable the value that its element says.
    pub(super) fn assign(&mut self, element: Element<'m>, slot: SlotNumber) -> Result<Holds, CompileError> {
        match self.value(element)? {
            Some(expression) => {
                let holds = if self.is_fragment(&expression.expr) {
                    Holds::Fragment
                } else {
                    Holds::Value(expression.expr.type_())
                };
                self.emit(Op::Set(slot, Box::new(expression)))?;
                Ok(holds)
            }
            None => {
                self.tree(element)?;
                self.emit(Op::EndTree(slot))?;
                Ok(Holds::Fragment)
            }
        }
    }

    /// The expression that is the value of a variable, parameter or argument; `None` if its content is (section 11.2).
    pub(super) fn value(&mut self, element: Element<'m>) -> Result<Option<Expression>, CompileError> {
        let is_empty = element.children().next().is_none();
        match element.attribute("select") {
            Some(_) if !is_empty => Err(element.unexpected("content", "either 'select' or content")),
            Some(select) => self.expression(element, "select", select, Situation::Instruction).map(Some),
            None if is_empty => Ok(Some(Expression::new(Expr::Literal("".into())))),
            None => Ok(None),
        }
    }

    /// The content of an element as a temporary tree, but for its end.
    pub(super) fn tree(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        self.emit(Op::BeginTree)?;
        self.detached(|compiler| compiler.body(element))
    }

    pub(super) fn compile_globals(&mut self) -> Result<(), CompileError> {
        for (number, index) in (0_u32..).zip(0..self.globals.len()) {
            let Some((element, name)) =
                self.globals.get(index).map(|global| (global.element, global.name.clone()))
            else {
                continue;
            };
            self.referred_globals.clear();
            self.variables.enter();
            let slot = GLOBAL.saturating_add(number);
            let body = self.here();
            self.at(element, |compiler| {
                let given = if element.is("param") {
                    Some(compiler.emit(Op::GlobalParameter(Box::new(name), slot, 0))?)
                } else {
                    None
                };
                compiler.assign(element, slot)?;
                given.into_iter().for_each(|given| compiler.land(given));
                compiler.emit(Op::GlobalDone)
            })?;
            let slots = self.variables.slots();
            let refers_to = core::mem::take(&mut self.referred_globals);
            if let Some(global) = self.globals.get_mut(index) {
                (global.compiled.body, global.compiled.slots, global.refers_to) = (body, slots, refers_to);
            }
        }
        self.variables.enter();
        Ok(())
    }
}
