//! `xsl:key` (section 12.2).

use super::context::Situation;
use super::element::Element;
use super::{Compiler, KeySource};
use crate::error::CompileError;
use crate::program::Key;

impl<'m> Compiler<'m> {
    /// Makes a key known.
    pub(super) fn declare_key(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "match", "use"])?;
        element.require_empty()?;
        let name = element.expand("name", element.required("name")?)?;
        self.keys.number(name.clone());
        self.key_elements.push((name, element));
        Ok(())
    }

    /// Compiles what keys match and use.
    pub(super) fn compile_keys(&mut self) -> Result<(), CompileError> {
        let elements = core::mem::take(&mut self.key_elements);
        for (name, element) in elements {
            let Some(number) = self.keys.get(&name) else { continue };
            let pattern = self.pattern(element, "match", element.required("match")?)?;
            let value = self.expression(element, "use", element.required("use")?, Situation::Key)?;
            let needs = self.take_needs();
            if self.key_definitions.len() <= number {
                let key = Key { name, definitions: Vec::new(), order: Vec::new() };
                self.key_definitions.push(KeySource { key, element });
            }
            if let Some(KeySource { key, .. }) = self.key_definitions.get_mut(number) {
                key.definitions.push((pattern, value));
                key.order.extend(needs.keys);
            }
        }
        Ok(())
    }
}
