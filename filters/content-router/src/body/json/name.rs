//! Which names of JSON members some reader takes for one another.
//!
//! Names differ unless all their characters are the same (RFC 8259, section 8.3), but readers that bind members to fields
//! are laxer. Go's encoding/json compares by simple case folding, in which U+212A (the Kelvin sign) is a `k` and U+017F (the
//! long s) an `s`. .NET and Java, told to ignore case, compare upper case, lower case or both; by the latter U+0130 (I with
//! a dot) and U+0131 (i without a dot) are an `i`. Readers in C end a name at a NUL. Whatever any of them takes for one name
//! is one name here.
//!
//! Readers that also leave out `_` and `-` are not covered: too many documents have `user_id` beside `userId`.

/// Above a letter it is what `İ` has and `i` has not, once in lower case.
const COMBINING_DOT_ABOVE: char = '\u{307}';

/// Writes the name as the laxest reader sees it: names that some reader takes for one another become the same. Letters of
/// a cycle of lower and upper case (`K`, `k` and U+212A) do when they are mapped down, up and down again.
pub(super) fn fold(name: &str, out: &mut String) {
    let name = name.split('\0').next().unwrap_or_default();
    out.clear();
    if name.is_ascii() {
        out.push_str(name);
        out.make_ascii_lowercase();
    } else {
        let chars = name.chars().flat_map(char::to_lowercase);
        let chars = chars.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
        out.extend(chars.filter(|char| *char != COMBINING_DOT_ABOVE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(name: &str) -> String {
        let mut folded = "left over".to_owned();
        fold(name, &mut folded);
        folded
    }

    fn is_same(name: &str, other: &str) -> bool {
        folded(name) == folded(other)
    }

    #[test]
    fn case_does_not_tell_names_apart() {
        for (name, other) in [
            ("op", "OP"),
            ("op", "oP"),
            ("op", "op\0x"),
            ("kind", "\u{212a}ind"),
            ("sku", "\u{17f}ku"),
            ("id", "\u{130}d"),
            ("id", "\u{131}d"),
            ("ID", "i\u{307}d"),
            ("größe", "GRÖSSE"),
            ("größe", "GRÖẞE"),
            ("σας", "ΣΑΣ"),
            ("å", "\u{212b}"),
            ("ǆ", "ǅ"),
            ("a\0b", "A"),
            ("", "\0"),
        ] {
            assert!(is_same(name, other) && is_same(other, name), "{name:?} {other:?}");
        }
    }

    #[test]
    fn all_else_does() {
        for (name, other) in [
            ("op", "op "),
            ("op", "opp"),
            ("op", "o"),
            ("user_id", "userId"),
            ("user_id", "user-id"),
            ("e", "é"),
            ("op", "\u{feff}op"),
            ("op", "\u{fffd}op"),
            ("op", ""),
            ("__proto__", "proto"),
        ] {
            assert!(!is_same(name, other), "{name:?} {other:?}");
        }
    }

    /// Whatever a reader compares: lower case, upper case, or one after the other, with mappings of one character or of
    /// several.
    #[test]
    fn every_mapping_of_case_gives_the_same_name() {
        let mut spellings = String::new();
        for char in '\u{80}'..=char::MAX {
            let name = folded(char.encode_utf8(&mut [0; 4]));
            for other in [char.to_lowercase().to_string(), char.to_uppercase().to_string()] {
                // Most characters have no case.
                if !other.chars().eq([char]) {
                    for other in [other.to_lowercase(), other.to_uppercase(), other] {
                        assert_eq!(folded(&other), name, "{char:?} {other:?}");
                    }
                }
            }
            if name.len() == 1 {
                spellings.push(char);
            }
        }
        // No other letters are spellings of single letters of ASCII: of i, s and k.
        assert_eq!(spellings, "\u{130}\u{131}\u{17f}\u{212a}");
    }
}
