//! `xsl:number` (section 7.7).

use super::Compiler;
use super::context::Situation;
use super::element::Element;
use crate::error::CompileError;
use crate::number::NumberFormat;
use crate::program::{Format, Level, Number, NumberSource, Op};
use crate::qname;

impl<'m> Compiler<'m> {
    pub(super) fn number(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[
            "level",
            "count",
            "from",
            "value",
            "format",
            "lang",
            "letter-value",
            "grouping-separator",
            "grouping-size",
        ])?;
        element.require_empty()?;
        let level = match element.attribute("level").map(qname::trim) {
            None | Some("single") => Level::Single,
            Some("multiple") => Level::Multiple,
            Some("any") => Level::Any,
            Some(_) => return Err(element.value_error("level", "'single', 'multiple' or 'any'")),
        };
        let mut pattern = |attribute: &'static str| match element.attribute(attribute) {
            Some(text) => self.pattern(element, attribute, text).map(Some),
            None => Ok(None),
        };
        let (count, from) = (pattern("count")?, pattern("from")?);
        let source = match element.attribute("value") {
            Some(value) => {
                NumberSource::Value(self.expression(element, "value", value, Situation::Instruction)?)
            }
            None => NumberSource::Count { level, count, from },
        };
        // The sequences are the same for all languages, and each has one alphabet.
        self.optional_value_template(element, "lang")?;
        self.optional_value_template(element, "letter-value")?;
        let format = self.value_template_or(element, "format", "1")?;
        let number = Number {
            source,
            format: match format.constant() {
                Some(format) => Format::Known(NumberFormat::parse(format)),
                None => Format::Computed(format),
            },
            grouping_separator: self.optional_value_template(element, "grouping-separator")?,
            grouping_size: self.optional_value_template(element, "grouping-size")?,
        };
        self.emit(Op::Number(Box::new(number))).map(|_| ())
    }
}
