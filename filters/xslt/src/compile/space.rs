//! `xsl:strip-space` and `xsl:preserve-space` (section 3.4).

use super::Compiler;
use super::element::Element;
use super::load::Declaration;
use crate::error::{CompileError, CompileErrorKind};
use crate::program::{Space, SpaceRule, SpaceTest};
use crate::qname;

impl<'m> Compiler<'m> {
    pub(super) fn declare_space(
        &mut self,
        element: Element<'m>,
        declaration: Declaration,
    ) -> Result<(), CompileError> {
        element.allow(&["elements"])?;
        element.require_empty()?;
        let space = if element.is("strip-space") { Space::Strip } else { Space::Preserve };
        for name in qname::words(element.required("elements")?) {
            let test = match name.strip_suffix(":*") {
                _ if name == "*" => SpaceTest::Any,
                Some(prefix) => match element.namespace_of(prefix) {
                    Some(uri) => SpaceTest::Namespace(uri.into()),
                    None => return Err(element.error(CompileErrorKind::UndeclaredPrefix(prefix.into()))),
                },
                None => SpaceTest::Name(element.expand("elements", name)?),
            };
            self.space.push((SpaceRule { test, space }, declaration.precedence));
        }
        Ok(())
    }

    /// Puts the rules into the order in which they are asked: higher import precedence first, then the more special
    /// ones, then the later ones.
    pub(super) fn sort_space_rules(&mut self) {
        self.space.reverse();
        self.space.sort_by_key(|(rule, precedence)| {
            let generality = match rule.test {
                SpaceTest::Name(_) => 0,
                SpaceTest::Namespace(_) => 1,
                SpaceTest::Any => 2,
            };
            (core::cmp::Reverse(*precedence), generality)
        });
    }
}
