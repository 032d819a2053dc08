//! Numbers as `xsl:number` writes them (XSLT 1.0, section 7.7.1).
//!
//! `lang` and `letter-value` change nothing: the sequences are those of English, where no token has two.

mod digits;
mod letters;
mod roman;

use digits::Digits;

/// What the `format` attribute of `xsl:number` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NumberFormat {
    prefix: Box<str>,
    /// At least one; the first one's separator is not used.
    tokens: Vec<Token>,
    suffix: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    /// What stands before it.
    separator: Box<str>,
    sequence: Sequence,
}

/// No whole number has more digits than this, nor more letters or Roman numerals.
const MOST_DIGITS: usize = 20;

/// What a list is numbered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    /// Decimal numbers with at least so many digits.
    Decimal(Digits, usize),
    /// `A`, `B` ... `Z`, `AA`.
    Letters(Case),
    /// `I`, `II`, `III`, `IV`.
    Roman(Case),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

/// `grouping-separator` and `grouping-size`. They go together: where one is missing, the other means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// What stands between groups.
    pub(crate) separator: Box<str>,
    /// How many digits a group has. If it is 0, there are no groups.
    pub(crate) size: usize,
}

impl Default for NumberFormat {
    /// What holds if there is no `format`: `1`.
    fn default() -> Self {
        Self::parse("1")
    }
}

impl NumberFormat {
    /// No format takes more bytes than this when it has been read: every other character can be a token.
    pub(crate) fn parsed_bytes(format: &str) -> usize {
        let tokens = format.len().wrapping_div(2).saturating_add(1);
        tokens.saturating_mul(size_of::<Token>()).saturating_add(format.len())
    }

    /// Reads a format. Every string is one.
    pub(crate) fn parse(format: &str) -> Self {
        let mut tokens = Vec::new();
        let mut separator = "";
        let mut rest = format;
        while !rest.is_empty() {
            let token;
            (separator, rest) = split(rest, char::is_alphanumeric);
            (token, rest) = split(rest, |c| !c.is_alphanumeric());
            if !token.is_empty() {
                tokens.push(Token { separator: separator.into(), sequence: Sequence::of(token) });
                separator = "";
            }
        }
        let prefix = match tokens.first_mut() {
            Some(first) => core::mem::take(&mut first.separator),
            // Nothing but punctuation: that stands before the number.
            None => core::mem::take(&mut separator).into(),
        };
        if tokens.is_empty() {
            tokens.push(Token { separator: "".into(), sequence: Sequence::Decimal(Digits::ASCII, 1) });
        }
        Self { prefix, tokens, suffix: separator.into() }
    }

    /// No list of so many numbers takes more bytes than this.
    pub(crate) fn most_bytes(&self, numbers: usize, grouping: Option<&Grouping>) -> usize {
        let width = |token: &Token| match token.sequence {
            // Digits take up to three bytes each.
            Sequence::Decimal(_, width) => width.max(MOST_DIGITS).saturating_mul(3),
            Sequence::Letters(_) | Sequence::Roman(_) => MOST_DIGITS,
        };
        let between =
            grouping.filter(|grouping| grouping.size > 0).map_or(0, |grouping| grouping.separator.len());
        let widest = self.tokens.iter().take(numbers).map(width).max().unwrap_or_default();
        let separator =
            self.tokens.iter().take(numbers).map(|token| token.separator.len()).max().unwrap_or_default();
        let number = widest.saturating_mul(between.saturating_add(1)).saturating_add(separator.max(1));
        numbers.saturating_mul(number).saturating_add(self.prefix.len()).saturating_add(self.suffix.len())
    }

    /// Appends a list of numbers. If there are none, that is the prefix and the suffix.
    pub(crate) fn write(&self, out: &mut String, numbers: &[u64], grouping: Option<&Grouping>) {
        out.push_str(&self.prefix);
        for (index, number) in numbers.iter().enumerate() {
            let Some((token, separator)) = self.token(index) else { break };
            if index > 0 {
                out.push_str(separator);
            }
            token.sequence.write(out, *number, grouping);
        }
        out.push_str(&self.suffix);
    }

    /// Appends the number that the `value` attribute yields. It is rounded; what is no number, or would be less than 1,
    /// is written as `string()` does (erratum E24).
    pub(crate) fn write_value(&self, out: &mut String, value: f64, grouping: Option<&Grouping>) {
        // Above that, not every whole number is a value, and no list has so many items.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        if (0.5..=LARGEST).contains(&value) {
            // It fits in.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let number = (value + 0.5).floor() as u64;
            self.write(out, &[number], grouping);
        } else {
            out.push_str(&self.prefix);
            out.push_str(&portcullis_xml::xpath::number::format(value));
            out.push_str(&self.suffix);
        }
    }

    /// The token for a number, and what stands between it and the number before.
    fn token(&self, index: usize) -> Option<(&Token, &str)> {
        let token = self.tokens.get(index).or(self.tokens.last())?;
        let separator = if self.tokens.len() == 1 { "." } else { &token.separator };
        Some((token, separator))
    }
}

/// What comes before the first character that is `end`, and the rest.
fn split(text: &str, end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(end).unwrap_or(text.len())).unwrap_or((text, ""))
}

impl Sequence {
    /// The sequence that a token stands for; of a token that is not known, that of `1`.
    fn of(token: &str) -> Self {
        match token {
            "A" => Self::Letters(Case::Upper),
            "a" => Self::Letters(Case::Lower),
            "I" => Self::Roman(Case::Upper),
            "i" => Self::Roman(Case::Lower),
            _ => match Digits::of_token(token) {
                Some((digits, width)) => Self::Decimal(digits, width),
                None => Self::Decimal(Digits::ASCII, 1),
            },
        }
    }

    fn write(self, out: &mut String, number: u64, grouping: Option<&Grouping>) {
        let written = match self {
            Self::Decimal(..) => false,
            Self::Letters(case) => letters::write(out, number, case),
            Self::Roman(case) => roman::write(out, number, case),
        };
        if !written {
            let (digits, width) =
                if let Self::Decimal(digits, width) = self { (digits, width) } else { (Digits::ASCII, 1) };
            digits.write(out, number, width, grouping);
        }
    }
}

#[cfg(test)]
mod tests;
