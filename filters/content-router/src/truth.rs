//! Three-valued logic: true, false, and not known yet.

/// What is known of a statement (S. C. Kleene, *Introduction to Metamathematics*, section 64: the strong
/// connectives).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    /// It will be one of the two.
    #[default]
    Unknown,
}

impl Truth {
    pub(crate) fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }

    /// Whether all are true: false as soon as one is false, whatever the others turn out to be.
    pub(crate) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::True;
        for truth in truths {
            match truth {
                Self::False => return Self::False,
                Self::Unknown => all = Self::Unknown,
                Self::True => {}
            }
        }
        all
    }

    /// Whether at least one is true.
    pub(crate) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        Self::all(truths.into_iter().map(Self::not)).not()
    }
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Self::True } else { Self::False }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{self, False, True, Unknown};

    #[test]
    fn says_what_is_known_and_no_more() {
        for (truths, all, any) in [
            (&[][..], True, False),
            (&[True, True], True, True),
            (&[True, False], False, True),
            (&[False, False], False, False),
            (&[True, Unknown], Unknown, True),
            (&[False, Unknown], False, Unknown),
            (&[Unknown, False], False, Unknown),
            (&[Unknown, Unknown], Unknown, Unknown),
        ] {
            assert_eq!(Truth::all(truths.iter().copied()), all, "{truths:?}");
            assert_eq!(Truth::any(truths.iter().copied()), any, "{truths:?}");
        }
    }
}
