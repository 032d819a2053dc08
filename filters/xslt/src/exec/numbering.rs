//! `xsl:number` (section 7.7).

use super::error::Result;
use super::machine::Machine;
use crate::error::TransformErrorKind;
use crate::number::{Grouping, NumberFormat};
use crate::program::{Number, NumberSource};
use crate::result::Receiver;
use portcullis_xml::xpath::number;

impl<'p> Machine<'p, '_> {
    pub(super) fn write_number(&mut self, instruction: &'p Number) -> Result<()> {
        let format = NumberFormat::parse(&self.string(&instruction.format)?);
        let grouping = self.grouping(instruction)?;
        let mut out = String::new();
        match &instruction.source {
            NumberSource::Value(value) => {
                let value = self.number(value)?;
                format.write_value(&mut out, value, grouping.as_ref());
            }
            NumberSource::Count { level, count, from } => {
                let numbers = self.count(*level, count.as_ref(), from.as_ref())?;
                if !numbers.is_empty() {
                    format.write(&mut out, &numbers, grouping.as_ref());
                }
            }
        }
        self.budget.charge_bytes(out.len())?;
        Ok(self.writer.text(&out)?)
    }

    fn grouping(&mut self, instruction: &'p Number) -> Result<Option<Grouping>> {
        let (Some(separator), Some(size)) = (&instruction.grouping_separator, &instruction.grouping_size)
        else {
            return Ok(None);
        };
        let separator = self.string(separator)?;
        let size = number::parse(&self.string(size)?);
        if !(size >= 0.0 && size <= f64::from(u16::MAX) && size.fract() == 0.0) {
            return Err(TransformErrorKind::Value {
                attribute: "grouping-size",
                expected: "a number of digits",
            }
            .into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        let size = usize::from(size as u16);
        Ok(Some(Grouping { separator: (&*separator).into(), size }))
    }
}
