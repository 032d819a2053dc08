//! Decimal numbers.

use super::Grouping;

/// Ten decimal digits, by the one that stands for nought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digits(char);

/// The noughts of Unicode's decimal digits (general category Nd) in the Basic Multilingual Plane. The other nine follow
/// each of them.
const NOUGHTS: [char; 37] = [
    '0', '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{1090}',
    '\u{17e0}', '\u{1810}', '\u{1946}', '\u{19d0}', '\u{1a80}', '\u{1a90}', '\u{1b50}', '\u{1bb0}',
    '\u{1c40}', '\u{1c50}', '\u{a620}', '\u{a8d0}', '\u{a900}', '\u{a9d0}', '\u{a9f0}', '\u{aa50}',
    '\u{abf0}', '\u{ff10}',
];

impl Digits {
    pub(super) const ASCII: Self = Self('0');

    /// The digits of a token that ends with a one, before which there are noughts alone; and how many digits it has.
    pub(super) fn of_token(token: &str) -> Option<(Self, usize)> {
        let nought = NOUGHTS.into_iter().find(|nought| {
            let mut reversed = token.chars().rev();
            reversed.next() == Self(*nought).digit(1) && reversed.all(|c| c == *nought)
        })?;
        Some((Self(nought), token.chars().count()))
    }

    /// Appends a number with at least `width` digits.
    pub(super) fn write(self, out: &mut String, number: u64, width: usize, grouping: Option<&Grouping>) {
        let plain = format!("{number:0>width$}");
        let grouping = grouping.filter(|grouping| grouping.size > 0);
        let mut left = plain.len();
        for (index, digit) in plain.bytes().enumerate() {
            if let Some(grouping) = grouping
                && index > 0
                && left.checked_rem(grouping.size) == Some(0)
            {
                out.push_str(&grouping.separator);
            }
            left = left.saturating_sub(1);
            out.extend(self.digit(u32::from(digit.saturating_sub(b'0'))));
        }
    }

    fn digit(self, value: u32) -> Option<char> {
        char::from_u32(u32::from(self.0).checked_add(value)?)
    }
}
