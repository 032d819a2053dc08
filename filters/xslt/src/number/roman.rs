//! Roman numerals.

use super::Case;

/// The largest number that is written so.
const LARGEST: u64 = 4999;

const NUMERALS: [(u64, &str, &str); 13] = [
    (1000, "m", "M"),
    (900, "cm", "CM"),
    (500, "d", "D"),
    (400, "cd", "CD"),
    (100, "c", "C"),
    (90, "xc", "XC"),
    (50, "l", "L"),
    (40, "xl", "XL"),
    (10, "x", "X"),
    (9, "ix", "IX"),
    (5, "v", "V"),
    (4, "iv", "IV"),
    (1, "i", "I"),
];

/// Appends the number, if it can be written so: from 1 to 4999.
pub(super) fn write(out: &mut String, number: u64, case: Case) -> bool {
    if !(1..=LARGEST).contains(&number) {
        return false;
    }
    let mut rest = number;
    for (value, lower, upper) in NUMERALS {
        while let Some(less) = rest.checked_sub(value) {
            out.push_str(match case {
                Case::Lower => lower,
                Case::Upper => upper,
            });
            rest = less;
        }
    }
    true
}
