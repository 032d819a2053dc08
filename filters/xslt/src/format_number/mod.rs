//! The function `format-number` (XSLT 1.0, section 12.3): patterns are those of the class `DecimalFormat` of JDK 1.1.

mod decimal;
mod picture;

pub(crate) use picture::Picture;

/// What `xsl:decimal-format` says: which characters patterns and formatted numbers are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecimalFormat {
    /// `decimal-separator`
    pub(crate) decimal_separator: char,
    /// `grouping-separator`
    pub(crate) grouping_separator: char,
    /// `infinity`
    pub(crate) infinity: Box<str>,
    /// `minus-sign`; in patterns, it has no meaning.
    pub(crate) minus_sign: char,
    /// `NaN`
    pub(crate) nan: Box<str>,
    /// `percent`
    pub(crate) percent: char,
    /// `per-mille`
    pub(crate) per_mille: char,
    /// `zero-digit`: the other nine digits are the characters that follow it.
    pub(crate) zero_digit: char,
    /// `digit`; in patterns only.
    pub(crate) digit: char,
    /// `pattern-separator`; in patterns only.
    pub(crate) pattern_separator: char,
}

impl Default for DecimalFormat {
    fn default() -> Self {
        Self {
            decimal_separator: '.',
            grouping_separator: ',',
            infinity: "Infinity".into(),
            minus_sign: '-',
            nan: "NaN".into(),
            percent: '%',
            per_mille: '\u{2030}',
            zero_digit: '0',
            digit: '#',
            pattern_separator: ';',
        }
    }
}

impl DecimalFormat {
    fn digit_of(&self, value: u8) -> char {
        let code = u32::from(self.zero_digit).checked_add(u32::from(value));
        code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

#[cfg(test)]
mod tests;
