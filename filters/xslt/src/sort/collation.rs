//! The order of texts.
//!
//! XSLT leaves it to the processor what order suits a language, and there is one order here for all languages, so that a
//! stylesheet does the same wherever it runs: texts are compared character by character, by the code points of
//! the lower-case letters. Only if no difference is found that way does the case of the first character that
//! differs decide. Accents are not set aside: `é` comes behind `z`.

use core::cmp::Ordering;

use super::CaseOrder;

/// Appends the text in lower case, character by character: `ß` stays, and a final sigma is no other than any.
pub(super) fn fold(text: &str, out: &mut String) {
    if text.is_ascii() {
        let start = out.len();
        out.push_str(text);
        if let Some(added) = out.get_mut(start..) {
            added.make_ascii_lowercase();
        }
        return;
    }
    out.extend(text.chars().flat_map(char::to_lowercase));
}

/// The order of two texts that are the same in lower case.
pub(super) fn compare_case(left: &str, right: &str, first: CaseOrder) -> Ordering {
    let differs = left.chars().zip(right.chars()).find(|(left, right)| left != right);
    let Some((a, b)) = differs else { return left.len().cmp(&right.len()) };
    let upper = match (is_lower(a), is_lower(b)) {
        (false, true) => Ordering::Less,
        (true, false) => Ordering::Greater,
        _ => a.cmp(&b),
    };
    match first {
        CaseOrder::UpperFirst => upper,
        CaseOrder::LowerFirst => upper.reverse(),
    }
}

/// Whether it is what it would be in lower case.
fn is_lower(character: char) -> bool {
    character.to_lowercase().eq([character])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_character_by_character() {
        for (text, expected) in
            [("ABC-1", "abc-1"), ("ÄÖß", "äöß"), ("ΣΑΣ", "σασ"), ("İ", "i\u{307}"), ("", "")]
        {
            let mut out = "x".to_owned();
            fold(text, &mut out);
            assert_eq!(out, format!("x{expected}"), "{text}");
        }
    }

    #[test]
    fn tells_case_apart_at_the_first_difference() {
        for (left, right, upper_first) in [
            ("a", "A", Ordering::Greater),
            ("A", "a", Ordering::Less),
            ("aB", "Ab", Ordering::Greater),
            ("ab", "ab", Ordering::Equal),
            // Title case is no lower case either: then code points decide.
            ("\u{1c4}", "\u{1c5}", Ordering::Less),
            ("\u{1c6}", "\u{1c5}", Ordering::Greater),
            // Of these, only the first character is in another case.
            ("İ", "i\u{307}", Ordering::Less),
        ] {
            assert_eq!(compare_case(left, right, CaseOrder::UpperFirst), upper_first, "{left} {right}");
            assert_eq!(
                compare_case(left, right, CaseOrder::LowerFirst),
                upper_first.reverse(),
                "{left} {right}"
            );
        }
    }
}
