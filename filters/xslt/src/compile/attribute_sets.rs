//! `xsl:attribute-set` (section 7.1.4).

use super::Compiler;
use super::element::{Child, Element};
use crate::error::{CompileError, CompileErrorKind};
use crate::program::Op;
use crate::qname::{self, Expanded};

impl<'m> Compiler<'m> {
    /// Carries out the attribute sets that an element uses.
    pub(super) fn use_attribute_sets(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        for name in used(element)? {
            match self.attribute_sets.get(&name).and_then(|set| set.compiled) {
                Some((address, slots)) => self.emit(Op::Use(address, slots))?,
                None => {
                    return Err(
                        element.error(CompileErrorKind::NotFound { what: "attribute set", name: name.local })
                    );
                }
            };
        }
        Ok(())
    }

    /// Compiles the attribute sets, those that others use first.
    pub(super) fn compile_attribute_sets(&mut self) -> Result<(), CompileError> {
        let mut left: Vec<Expanded> = self.attribute_sets.keys().cloned().collect();
        while !left.is_empty() {
            let mut waiting = Vec::new();
            let before = left.len();
            for name in left {
                if self.is_waiting(&name)? {
                    waiting.push(name);
                } else {
                    self.compile_attribute_set(&name)?;
                }
            }
            if waiting.len() == before
                && let Some(name) = waiting.first()
                && let Some(element) = self.attribute_sets.get(name).and_then(|set| set.definitions.first())
            {
                return Err(element
                    .error(CompileErrorKind::Circular { what: "attribute set", name: name.local.clone() }));
            }
            left = waiting;
        }
        Ok(())
    }

    /// Whether a set uses one that is not compiled yet.
    fn is_waiting(&self, name: &Expanded) -> Result<bool, CompileError> {
        let Some(set) = self.attribute_sets.get(name) else { return Ok(false) };
        for element in &set.definitions {
            for used in used(*element)? {
                if self.attribute_sets.get(&used).is_some_and(|used| used.compiled.is_none()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn compile_attribute_set(&mut self, name: &Expanded) -> Result<(), CompileError> {
        let definitions =
            self.attribute_sets.get(name).map(|set| set.definitions.clone()).unwrap_or_default();
        self.variables.enter();
        let address = self.here();
        for element in definitions {
            self.at(element, |compiler| {
                compiler.use_attribute_sets(element)?;
                for child in element.children() {
                    match child {
                        Child::Element(child) if child.is("attribute") => {
                            compiler.at(child, |compiler| compiler.attribute(child))?;
                        }
                        _ => return Err(element.unexpected("something else", "xsl:attribute alone")),
                    }
                }
                Ok(())
            })?;
        }
        self.emit(Op::Return)?;
        let slots = self.variables.slots();
        if let Some(set) = self.attribute_sets.get_mut(name) {
            set.compiled = Some((address, slots));
        }
        Ok(())
    }
}

/// The names in `use-attribute-sets`.
fn used(element: Element<'_>) -> Result<Vec<Expanded>, CompileError> {
    let names = element.standard("use-attribute-sets").unwrap_or_default();
    qname::words(names).map(|name| element.expand("use-attribute-sets", name)).collect()
}
