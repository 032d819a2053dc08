//! The characters of XML (1.0, fifth edition) and sets of bytes to look for.

/// Production 2, `Char`.
pub(crate) fn is_char(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Production 3, `S`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Production 4, `NameStartChar`, without the colon, which is the business of namespaces.
pub(crate) fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}'
        | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Production 4a, `NameChar`, without the colon.
pub(crate) fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// A set of bytes, to scan UTF-8 with.
pub(crate) struct ByteSet([bool; 256]);

impl ByteSet {
    #[inline]
    pub(crate) fn contains(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// How many bytes there are before the first of the set.
    #[inline]
    pub(crate) fn run_before(&self, bytes: &[u8]) -> usize {
        bytes.iter().position(|byte| self.contains(*byte)).unwrap_or(bytes.len())
    }

    /// The ASCII characters that names are made of, but for the colon.
    // The compiler evaluates it, and would not take a mistake.
    #[allow(clippy::indexing_slicing)]
    const NAME: Self = {
        let mut set = [false; 256];
        let mut byte = 0_u8;
        while byte < 128 {
            set[byte as usize] = matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
            byte = byte.wrapping_add(1);
        }
        Self(set)
    };

    /// What ends a run of plain characters: the given bytes, those of characters that XML excludes, and the first byte
    /// of U+FFFE and U+FFFF, which others have too.
    // The compiler evaluates it, and would not take a mistake.
    #[allow(clippy::indexing_slicing)]
    const fn stops(marks: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut byte = 0_u8;
        while byte < 0x20 {
            set[byte as usize] = !matches!(byte, b'\t' | b'\n');
            byte = byte.wrapping_add(1);
        }
        set[0xEF] = true;
        let mut rest = marks;
        while let [mark, others @ ..] = rest {
            set[*mark as usize] = true;
            rest = others;
        }
        Self(set)
    }
}

/// What ends a run of character data.
pub(crate) static TEXT: ByteSet = ByteSet::stops(b"<&]\r");
/// What ends a run of an attribute value in double quotes.
pub(crate) static DOUBLE_QUOTED: ByteSet = ByteSet::stops(b"\"<&\t\n\r");
/// What ends a run of an attribute value in single quotes.
pub(crate) static SINGLE_QUOTED: ByteSet = ByteSet::stops(b"'<&\t\n\r");
/// What ends a run of a comment.
pub(crate) static COMMENT: ByteSet = ByteSet::stops(b"-\r");
/// What ends a run of a CDATA section.
pub(crate) static CDATA: ByteSet = ByteSet::stops(b"]\r");
/// What ends a run of a processing instruction's data.
pub(crate) static INSTRUCTION: ByteSet = ByteSet::stops(b"?\r");
/// The ASCII characters of names.
pub(crate) static NAME: ByteSet = ByteSet::NAME;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_ends_of_every_range_of_name_characters() {
        let starts = [
            ('A', 'Z'),
            ('_', '_'),
            ('a', 'z'),
            ('\u{C0}', '\u{D6}'),
            ('\u{D8}', '\u{F6}'),
            ('\u{F8}', '\u{2FF}'),
            ('\u{370}', '\u{37D}'),
            ('\u{37F}', '\u{1FFF}'),
            ('\u{200C}', '\u{200D}'),
            ('\u{2070}', '\u{218F}'),
            ('\u{2C00}', '\u{2FEF}'),
            ('\u{3001}', '\u{D7FF}'),
            ('\u{F900}', '\u{FDCF}'),
            ('\u{FDF0}', '\u{FFFD}'),
            ('\u{10000}', '\u{EFFFF}'),
        ];
        let others =
            [('-', '.'), ('0', '9'), ('\u{B7}', '\u{B7}'), ('\u{300}', '\u{36F}'), ('\u{203F}', '\u{2040}')];
        let within =
            |ranges: &[(char, char)], c| ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));

        for c in '\0'..=char::MAX {
            assert_eq!(is_name_start(c), within(&starts, c), "{c:?}");
            assert_eq!(is_name_char(c), within(&starts, c) || within(&others, c), "{c:?}");
            if c.is_ascii() {
                assert_eq!(NAME.contains(c as u8), is_name_char(c), "{c:?}");
            }
        }
    }

    #[test]
    fn excludes_controls_and_noncharacters_at_the_end_of_the_first_plane_alone() {
        let excluded: Vec<char> = ('\0'..=char::MAX).filter(|c| !is_char(*c)).collect();

        let controls = ('\0'..'\u{20}').filter(|c| !matches!(c, '\t' | '\n' | '\r'));
        assert_eq!(excluded, controls.chain(['\u{FFFE}', '\u{FFFF}']).collect::<Vec<_>>());
    }

    #[test]
    fn stops_at_every_byte_that_begins_an_excluded_character() {
        for c in ('\0'..=char::MAX).filter(|c| !is_char(*c)) {
            let first = c.to_string().as_bytes()[0];
            for set in [&TEXT, &DOUBLE_QUOTED, &SINGLE_QUOTED, &COMMENT, &CDATA, &INSTRUCTION] {
                assert!(set.contains(first), "{c:?}");
            }
        }
    }
}
