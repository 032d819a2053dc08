//! `xsl:decimal-format` (section 12.3).

use super::Compiler;
use super::element::Element;
use crate::error::{CompileError, CompileErrorKind};
use crate::format_number::DecimalFormat;
use crate::qname::Expanded;

impl<'m> Compiler<'m> {
    /// More than one of a name must all say the same.
    pub(super) fn declare_decimal_format(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[
            "name",
            "decimal-separator",
            "grouping-separator",
            "infinity",
            "minus-sign",
            "NaN",
            "percent",
            "per-mille",
            "zero-digit",
            "digit",
            "pattern-separator",
        ])?;
        element.require_empty()?;
        let name = match element.attribute("name") {
            Some(name) => element.expand("name", name)?,
            None => Expanded::default(),
        };
        let mut format = DecimalFormat::default();
        for (attribute, character) in [
            ("decimal-separator", &mut format.decimal_separator),
            ("grouping-separator", &mut format.grouping_separator),
            ("minus-sign", &mut format.minus_sign),
            ("percent", &mut format.percent),
            ("per-mille", &mut format.per_mille),
            ("zero-digit", &mut format.zero_digit),
            ("digit", &mut format.digit),
            ("pattern-separator", &mut format.pattern_separator),
        ] {
            let Some(value) = element.attribute(attribute) else { continue };
            let mut chars = value.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => *character = only,
                _ => return Err(element.value_error(attribute, "one character")),
            }
        }
        if let Some(infinity) = element.attribute("infinity") {
            format.infinity = infinity.into();
        }
        if let Some(nan) = element.attribute("NaN") {
            format.nan = nan.into();
        }
        match self.decimal_formats.get(&name) {
            Some(known) if *known != format => {
                Err(element.error(CompileErrorKind::Conflict { what: "xsl:decimal-format of this name" }))
            }
            _ => {
                self.decimal_formats.insert(name, format);
                Ok(())
            }
        }
    }
}
