//! Numbering with letters: the 26 of the Latin alphabet, then pairs of them, and so on.

use super::Case;

const LETTERS: u64 = 26;

/// Appends the number, if there is one in the sequence: there is none for 0.
pub(super) fn write(out: &mut String, number: u64, case: Case) -> bool {
    let first = match case {
        Case::Lower => b'a',
        Case::Upper => b'A',
    };
    let start = out.len();
    let mut rest = number;
    // There is no nought: the digits are 1 to 26.
    while let Some(below) = rest.checked_sub(1) {
        let letter = u8::try_from(below.checked_rem(LETTERS).unwrap_or(0)).unwrap_or(0);
        out.insert(start, char::from(first.saturating_add(letter)));
        rest = below.checked_div(LETTERS).unwrap_or(0);
    }
    number > 0
}
