//! `xsl:number` (section 7.7).

use super::error::Result;
use super::machine::Machine;
use crate::error::TransformErrorKind;
use crate::number::{Grouping, NumberFormat};
use crate::program::{Format, Number, NumberSource};
use crate::result::Receiver;
use portcullis_xml::xpath::number;

impl<'p> Machine<'p, '_> {
    pub(super) fn write_number(&mut self, instruction: &'p Number) -> Result<()> {
        let computed;
        let format = match &instruction.format {
            Format::Known(format) => format,
            Format::Computed(format) => {
                let format = self.string(format)?;
                // Each byte can be a token or part of one.
                self.budget.charge(u64::try_from(format.len()).unwrap_or(u64::MAX))?;
                self.budget.hold(NumberFormat::parsed_bytes(&format))?;
                computed = NumberFormat::parse(&format);
                &computed
            }
        };
        let grouping = self.grouping(instruction)?;
        let mut out = String::new();
        match &instruction.source {
            NumberSource::Value(value) => {
                let value = self.number(value)?;
                self.make_room(format, 1, grouping.as_ref())?;
                format.write_value(&mut out, value, grouping.as_ref());
            }
            NumberSource::Count { level, count, from } => {
                let numbers = self.count(*level, count.as_ref(), from.as_ref())?;
                if !numbers.is_empty() {
                    self.make_room(format, numbers.len(), grouping.as_ref())?;
                    format.write(&mut out, &numbers, grouping.as_ref());
                }
            }
        }
        self.budget.charge_bytes(out.len())?;
        self.writer.text(&out)?;
        self.settle_if_much();
        Ok(())
    }

    /// Whether so many numbers can be written: each may be as long as the format says, with a separator between any two
    /// digits.
    fn make_room(
        &mut self,
        format: &NumberFormat,
        numbers: usize,
        grouping: Option<&Grouping>,
    ) -> Result<()> {
        let bytes = format.most_bytes(numbers, grouping);
        self.budget.charge_bytes(bytes)?;
        self.check_kept(bytes)
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
