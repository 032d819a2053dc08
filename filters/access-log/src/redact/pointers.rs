//! JSON pointers (RFC 6901), followed step by step.

use super::names::fold;

/// The most segments of a pointer: its states fit in 32 bits.
const MAX_SEGMENTS: usize = 31;

/// Compiled JSON pointers (RFC 6901), with `*` for any one segment and `**` for any number of them.
#[derive(Debug, Default)]
pub struct Pointers(Vec<Vec<Segment>>);

#[derive(Debug)]
enum Segment {
    /// Folded.
    Name(String),
    Any,
    AnyDepth,
}

impl Pointers {
    /// Adds a pointer.
    ///
    /// # Errors
    /// What a pointer must look like.
    pub fn add(&mut self, pointer: &str) -> Result<(), String> {
        let rest = pointer
            .strip_prefix('/')
            .ok_or_else(|| "must be a JSON pointer that begins with / (RFC 6901)".to_owned())?;
        let segments: Vec<Segment> = rest
            .split('/')
            .map(|segment| match segment {
                "*" => Segment::Any,
                "**" => Segment::AnyDepth,
                name => Segment::Name(fold(&name.replace("~1", "/").replace("~0", "~"))),
            })
            .collect();
        if segments.len() > MAX_SEGMENTS {
            return Err(format!("must have {MAX_SEGMENTS} segments at the most"));
        }
        self.0.push(segments);
        Ok(())
    }

    /// Where a text begins.
    pub(super) fn start(&self) -> States {
        States(self.0.iter().map(|segments| skip_any_depths(segments, 1)).collect())
    }

    /// Where a step leads from `states`.
    pub(super) fn step(&self, states: &States, step: Step<'_>) -> States {
        let after = |(segments, states): (&Vec<Segment>, &u32)| {
            let mut next = 0u32;
            for (at, segment) in segments.iter().enumerate() {
                let here = bit(at);
                if states & here == 0 {
                    continue;
                }
                let beyond = bit(at.saturating_add(1));
                next |= match (segment, step) {
                    (Segment::Any, _) => beyond,
                    (Segment::AnyDepth, _) => here,
                    // A name that cannot be read may be any.
                    (Segment::Name(_), Step::Unknown) => beyond,
                    (Segment::Name(name), Step::Name(step)) if name == step => beyond,
                    (Segment::Name(_), Step::Name(_)) => 0,
                };
            }
            skip_any_depths(segments, next)
        };
        States(self.0.iter().zip(&states.0).map(after).collect())
    }

    /// Whether a pointer points at where the reader is.
    pub(super) fn matches(&self, states: &States) -> bool {
        self.0.iter().zip(&states.0).any(|(segments, states)| states & bit(segments.len()) != 0)
    }
}

/// For each pointer, how many of its segments lead to where the reader is: one bit for each number.
pub(super) struct States(Vec<u32>);

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// A member's folded name, or an element's index.
    Name(&'a str),
    Unknown,
}

fn bit(at: usize) -> u32 {
    u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at)).unwrap_or(0)
}

/// `**` may stand for no level at all.
fn skip_any_depths(segments: &[Segment], mut states: u32) -> u32 {
    for (at, segment) in segments.iter().enumerate() {
        if matches!(segment, Segment::AnyDepth) && states & bit(at) != 0 {
            states |= bit(at.saturating_add(1));
        }
    }
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_pointers_that_point_nowhere() {
        for pointer in ["", "a", "#/a"] {
            assert!(Pointers::default().add(pointer).is_err(), "{pointer}");
        }
        assert!(Pointers::default().add(&"/a".repeat(31)).is_ok());
        assert!(Pointers::default().add(&"/a".repeat(32)).is_err());
    }
}
