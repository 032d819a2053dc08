//! The functions that XSLT adds to XPath (XSLT 1.0, section 12).

mod available;
mod generate_id;
mod scopes;

pub(crate) use available::{
    INSTRUCTIONS, Property, is_element_available, is_function_available, system_property,
};
pub(crate) use generate_id::generate_id;
pub(crate) use scopes::Scopes;

use portcullis_xml::xpath::HostSignature;
use portcullis_xml::xpath::ast::{HostFunction, Reads, Type};

/// A function of XSLT's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum XsltFunction {
    Current = 0,
    Key = 1,
    FormatNumber = 2,
    GenerateId = 3,
    SystemProperty = 4,
    ElementAvailable = 5,
    FunctionAvailable = 6,
    UnparsedEntityUri = 7,
}

/// How many bits of the identifier of a function say which one it is; the others say where it is called.
const FUNCTION_BITS: u32 = 3;

impl XsltFunction {
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "current" => Self::Current,
            "key" => Self::Key,
            "format-number" => Self::FormatNumber,
            "generate-id" => Self::GenerateId,
            "system-property" => Self::SystemProperty,
            "element-available" => Self::ElementAvailable,
            "function-available" => Self::FunctionAvailable,
            "unparsed-entity-uri" => Self::UnparsedEntityUri,
            _ => return None,
        })
    }

    /// The function of an identifier, and the number of the scope in which names in its arguments are resolved.
    pub(crate) fn of_id(id: u32) -> (Self, usize) {
        let function = match id & ((1 << FUNCTION_BITS) - 1) {
            0 => Self::Current,
            1 => Self::Key,
            2 => Self::FormatNumber,
            3 => Self::GenerateId,
            4 => Self::SystemProperty,
            5 => Self::ElementAvailable,
            6 => Self::FunctionAvailable,
            _ => Self::UnparsedEntityUri,
        };
        (function, usize::try_from(id >> FUNCTION_BITS).unwrap_or(usize::MAX))
    }

    /// Whether one of its arguments is a name with a prefix to resolve.
    pub(crate) fn takes_name(self) -> bool {
        !matches!(self, Self::Current | Self::GenerateId | Self::UnparsedEntityUri)
    }

    /// How it is called, in a scope.
    pub(crate) fn signature(self, scope: usize) -> HostSignature {
        use Type::{Any, Boolean, Nodes, Number, String};
        let (returns, required, optional): (Type, &'static [Type], &'static [Type]) = match self {
            Self::Current => (Nodes, &[], &[]),
            Self::Key => (Nodes, &[String, Any], &[]),
            Self::FormatNumber => (String, &[Number, String], &[String]),
            Self::GenerateId => (String, &[], &[Nodes]),
            Self::SystemProperty => (Any, &[String], &[]),
            Self::ElementAvailable | Self::FunctionAvailable => (Boolean, &[String], &[]),
            Self::UnparsedEntityUri => (String, &[String], &[]),
        };
        let scope = u32::try_from(scope).unwrap_or_default();
        let id = u32::from(self as u8) | scope << FUNCTION_BITS;
        HostSignature { function: HostFunction { id, returns, reads: Reads::Node }, required, optional }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_tell_function_and_scope() {
        for name in [
            "current",
            "key",
            "format-number",
            "generate-id",
            "system-property",
            "element-available",
            "function-available",
            "unparsed-entity-uri",
        ] {
            let function = XsltFunction::of_name(name).unwrap();
            assert_eq!(XsltFunction::of_id(function.signature(77).function.id), (function, 77), "{name}");
        }
        assert_eq!(XsltFunction::of_name("document"), None);
    }
}
