//! What the expressions of a stylesheet may refer to.

use core::cell::{Cell, RefCell};

use portcullis_xml::xpath::ast::{Slot, Variable};
use portcullis_xml::xpath::{HostSignature, Lookup, StaticContext};

use super::element::Element;
use super::symbols::Variables;
use crate::functions::{Scopes, XsltFunction};
use crate::program::{GLOBAL, SlotNumber};

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Situation {
    /// In an instruction.
    Instruction,
    /// In a pattern: there are no variables (section 5.3), and no `current()` (section 12.4).
    Pattern,
    /// In `use` of a key: there are no variables (section 12.2).
    Key,
}

/// The static context of an expression, which notes what the expression uses.
pub(super) struct StylesheetContext<'c, 'm> {
    pub(super) element: Element<'m>,
    pub(super) situation: Situation,
    pub(super) variables: &'c Variables,
    pub(super) scopes: RefCell<&'c mut Scopes>,
    /// The global variables that it refers to.
    pub(super) globals: RefCell<Vec<SlotNumber>>,
    /// A function that is known, but not supported: its name, and what to do instead.
    pub(super) refused: Cell<Option<(&'static str, &'static str)>>,
}

/// Functions that stylesheets of XSLT 1.0 can call elsewhere.
const REFUSED: [(&str, &str); 1] = [(
    "document",
    "nothing is fetched: give what it would load as a parameter, or put it into the stylesheet",
)];

const EXTENSION: (&str, &str) = (
    "an extension function",
    "use the functions of XPath 1.0 and XSLT 1.0; a template can stand for a function",
);

impl StaticContext for StylesheetContext<'_, '_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.element.namespace_of(prefix)
    }

    fn variable(&self, namespace: &str, local: &str) -> Lookup<Variable> {
        if self.situation != Situation::Instruction {
            return Lookup::Unsupported;
        }
        let Some(symbol) = self.variables.find(namespace, local) else { return Lookup::Unknown };
        if symbol.slot >= GLOBAL {
            self.globals.borrow_mut().push(symbol.slot);
        }
        Lookup::Found(Variable { slot: Slot(symbol.slot), type_: symbol.holds.type_() })
    }

    fn function(&self, namespace: &str, local: &str) -> Option<HostSignature> {
        if !namespace.is_empty() {
            self.refused.set(Some(EXTENSION));
            return None;
        }
        if let Some(refused) = REFUSED.into_iter().find(|(name, _)| *name == local) {
            self.refused.set(Some(refused));
        }
        let function = XsltFunction::of_name(local)?;
        if function == XsltFunction::Current && self.situation == Situation::Pattern {
            return None;
        }
        let scope =
            if function.takes_name() { self.scopes.borrow_mut().add(self.element.namespaces()) } else { 0 };
        Some(function.signature(scope))
    }
}
