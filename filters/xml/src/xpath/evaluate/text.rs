//! What functions do with text (XPath 1.0, section 4.2).

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::xpath::number;

/// How many bytes a character's place takes, for each byte of its text at the most: an entry of a map is about three times
/// as large as a character, and not all of a map's places are taken.
pub(super) const LOOKED_UP: usize = 8;

/// A part of a text, without copying it if it is borrowed.
pub(super) fn slice<'a>(text: Cow<'a, str>, part: impl for<'t> Fn(&'t str) -> &'t str) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

/// The characters whose positions, counted from 1, are at least `start` rounded and, if there is a length, less than the
/// sum of both numbers, each rounded. Any of them may be NaN or infinite.
pub(super) fn substring(text: &str, start: f64, length: Option<f64>) -> &str {
    let first = number::round(start);
    let end = length.map_or(f64::INFINITY, |length| first + number::round(length));
    // Where a NaN is among them, no comparison holds, and no character is taken.
    let mut range: Option<(usize, usize)> = None;
    let mut position = 0.0;
    for (at, c) in text.char_indices() {
        position += 1.0;
        if position >= first && position < end {
            let from = range.map_or(at, |(from, _)| from);
            if end == f64::INFINITY {
                return text.get(from..).unwrap_or_default();
            }
            range = Some((from, at.saturating_add(c.len_utf8())));
        } else if range.is_some() {
            break;
        }
    }
    range.and_then(|(from, to)| text.get(from..to)).unwrap_or_default()
}

/// Without white space at both ends, and with one space for each run of it.
pub(in crate::xpath) fn normalize_space(text: Cow<'_, str>) -> Cow<'_, str> {
    let mut before = b' ';
    let is_normal = text.bytes().all(|byte| {
        let doubled = byte == b' ' && before == b' ';
        before = byte;
        !doubled && !matches!(byte, b'\t' | b'\r' | b'\n')
    });
    if is_normal && !text.ends_with(' ') {
        return text;
    }
    // White space is ASCII, and no part of any other character: to look at bytes is enough.
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut normal = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(start) = rest.bytes().position(|byte| !is_space(&byte)) {
        rest = rest.get(start..).unwrap_or_default();
        let end = rest.bytes().position(|byte| is_space(&byte)).unwrap_or(rest.len());
        let (word, others) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
        rest = others;
    }
    Cow::Owned(normal)
}

/// Each character of `from` replaced by the one at the same place in `to`, or removed if there is none. Of a character
/// that is twice in `from`, the first place counts.
pub(super) fn translate(text: &str, from: &str, to: &str) -> String {
    let replacements = Replacements::new(from, to);
    let mut translated = String::with_capacity(text.len());
    translated.extend(text.chars().filter_map(|c| replacements.of(c)));
    translated
}

/// What becomes of each character of ASCII.
type Ascii = [Option<char>; 128];

/// Each stays what it is.
const SAME: Ascii = same();

// Evaluated by the compiler: an index out of range would not compile.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn same() -> Ascii {
    let mut same = [None; 128];
    let mut number = 0_u8;
    while number < 128 {
        same[number as usize] = Some(number as char);
        number += 1;
    }
    same
}

/// What becomes of characters.
struct Replacements {
    /// Of those of ASCII, by their numbers.
    ascii: Ascii,
    /// Of others, if it is something else than the character itself.
    others: BTreeMap<char, Option<char>>,
}

impl Replacements {
    fn new(from: &str, to: &str) -> Self {
        let mut ascii = SAME;
        let mut is_said = 0_u128;
        let mut others = BTreeMap::new();
        let mut to = to.chars();
        for c in from.chars() {
            let replacement = to.next();
            let number = u32::from(c);
            match usize::try_from(number).ok().and_then(|number| ascii.get_mut(number)) {
                Some(slot) => {
                    let bit = 1_u128.wrapping_shl(number);
                    if is_said & bit == 0 {
                        *slot = replacement;
                        is_said |= bit;
                    }
                }
                None => {
                    others.entry(c).or_insert(replacement);
                }
            }
        }
        Self { ascii, others }
    }

    fn of(&self, c: char) -> Option<char> {
        match usize::try_from(u32::from(c)).ok().and_then(|number| self.ascii.get(number)) {
            Some(replacement) => *replacement,
            None if self.others.is_empty() => Some(c),
            None => self.others.get(&c).copied().unwrap_or(Some(c)),
        }
    }
}

/// Whether a language tag is that of a language, or begins with it and a hyphen.
pub(super) fn is_language(tag: &str, language: &str) -> bool {
    match tag.split_at_checked(language.len()) {
        Some((start, rest)) => {
            start.eq_ignore_ascii_case(language) && (rest.is_empty() || rest.starts_with('-'))
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substring_counts_from_one_and_rounds() {
        const NAN: f64 = f64::NAN;
        const INFINITY: f64 = f64::INFINITY;
        // Those of the specification, and what is next to them.
        for (start, length, expected) in [
            (2.0, Some(3.0), "234"),
            (2.0, None, "2345"),
            (1.5, Some(2.6), "234"),
            (0.0, Some(3.0), "12"),
            (0.0, Some(NAN), ""),
            (1.0, Some(NAN), ""),
            (NAN, Some(3.0), ""),
            (NAN, None, ""),
            (-42.0, Some(INFINITY), "12345"),
            (-42.0, None, "12345"),
            (f64::NEG_INFINITY, Some(INFINITY), ""),
            (f64::NEG_INFINITY, Some(3.0), ""),
            (f64::NEG_INFINITY, None, "12345"),
            (INFINITY, Some(INFINITY), ""),
            (INFINITY, None, ""),
            (2.0, Some(INFINITY), "2345"),
            (-3.0, Some(5.0), "1"),
            (5.0, Some(1.0), "5"),
            (6.0, Some(1.0), ""),
            (2.0, Some(0.0), ""),
            (2.0, Some(-1.0), ""),
            (0.5, Some(1.0), "1"),
            (0.4, Some(1.0), ""),
        ] {
            assert_eq!(substring("12345", start, length), expected, "{start} {length:?}");
        }
        assert_eq!(substring("äöüß", 2.0, Some(2.0)), "öü");
        assert_eq!(substring("a𝄞b", 2.0, Some(1.0)), "𝄞");
    }

    #[test]
    fn space_is_normalized_and_nothing_copied_if_it_is() {
        for (text, expected) in [
            ("", ""),
            (" ", ""),
            ("a", "a"),
            ("a b", "a b"),
            (" a", "a"),
            ("a ", "a"),
            ("\t a \r\n b\u{a0}\u{a0}c ", "a b\u{a0}\u{a0}c"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(normalize_space(Cow::Borrowed(text)), expected, "{text:?}");
        }
        assert!(matches!(normalize_space(Cow::Borrowed("a b")), Cow::Borrowed(_)));
    }

    #[test]
    fn translate_replaces_and_removes() {
        for (text, from, to, expected) in [
            ("bar", "abc", "ABC", "BAr"),
            ("--aaa--", "abc-", "ABC", "AAA"),
            ("abc", "aa", "xy", "xbc"),
            ("abc", "", "xyz", "abc"),
            ("äb", "ä", "o", "ob"),
            ("abc", "abc", "", ""),
            ("ab", "ab", "ba", "ba"),
            ("aäbö€", "äö€a", "12x", "1b2x"),
            ("ää\u{7f}\u{80}", "ä\u{7f}ä\u{80}", "xyz", "xxy"),
        ] {
            assert_eq!(translate(text, from, to), expected);
        }
    }

    #[test]
    fn languages_are_compared_by_whole_subtags() {
        for (tag, language, expected) in [
            ("en", "en", true),
            ("EN-us", "en", true),
            ("en-US", "en-us", true),
            ("eng", "en", false),
            ("e", "en", false),
            ("", "", true),
            ("de", "en", false),
            ("日本", "日", false),
            ("日本", "aa", false),
        ] {
            assert_eq!(is_language(tag, language), expected, "{tag} {language}");
        }
    }
}
