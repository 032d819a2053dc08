//! An error within the piece of the document that is being read.

use super::input::Input;
use crate::chars::is_char;
use crate::error::{ErrorKind, Found};
use crate::limits::Limit;

/// What is wrong, and where, before that is made a position in the document.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) place: Place,
}

/// Where something is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// That many bytes into the piece.
    At(usize),
    /// At an ASCII character so many before a place in the piece, perhaps in an earlier piece; all between are ASCII,
    /// and no line ends.
    Back(usize, usize),
    /// At the lexer's mark.
    Mark,
    /// That many bytes of buffered text behind the lexer's mark.
    BehindMark(usize),
    /// At a name of the tag that is being read: the element's (0), or that of an attribute or a declaration.
    Name(usize),
}

/// Boxed, for what the tokenizer does for every token is not to carry its size around.
pub(super) type Checked<T> = Result<T, Box<Fault>>;

impl Fault {
    #[cold]
    pub(super) fn new(kind: ErrorKind, place: Place) -> Box<Self> {
        Box::new(Self { kind, place })
    }

    /// The next character, which must exist, is not what could stand there.
    #[cold]
    pub(super) fn unexpected(input: &Input<'_>, expected: &'static str) -> Box<Self> {
        let kind = match input.character() {
            Some(c) if !is_char(c) => ErrorKind::IllegalCharacter(c),
            Some(c) => ErrorKind::Unexpected { found: Found::Char(c), expected },
            None => ErrorKind::Unexpected { found: Found::End, expected },
        };
        Self::new(kind, Place::At(input.at()))
    }

    #[cold]
    pub(super) fn limit(limit: Limit, value: impl TryInto<u64>, place: Place) -> Box<Self> {
        Self::new(ErrorKind::LimitExceeded(limit, value.try_into().unwrap_or(u64::MAX)), place)
    }
}

/// Whether a run fits in behind what there is; if not, how many bytes of it are before the first character too many.
#[inline]
pub(super) fn fits(used: usize, run: &str, limit: usize) -> Result<(), usize> {
    let free = limit.saturating_sub(used);
    if run.len() <= free { Ok(()) } else { Err(run.floor_char_boundary(free)) }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn the_first_character_too_many_is_a_whole_one() {
        for (used, run, limit, expected) in [
            (0, "abc", 3, Ok(())),
            (1, "abc", 3, Err(2)),
            (9, "abc", 3, Err(0)),
            (0, "a\u{20ac}b", 3, Err(1)),
            (0, "a\u{20ac}b", 4, Err(4)),
            (0, "", 0, Ok(())),
        ] {
            assert_eq!(fits(used, run, limit), expected, "{used} {run} {limit}");
        }
    }
}
