//! What has been found out about what is wanted.

use std::sync::Arc;

use super::condition::{Spaces, Unknown, Values, Want};

/// What is known of the nodes that a path selects.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LeafState {
    /// Nothing yet.
    Pending,
    /// The same, but a text that had to be compared was too long to be kept.
    PendingOrTooLong,
    /// The first node has come; its text is not known yet.
    Found,
    /// There is what is wanted.
    Present,
    /// There is not.
    Absent,
    /// The text of the first node, until the expressions that want it have taken it.
    Text(Arc<str>),
    /// A text was too long to be kept.
    TooLong,
    /// Nobody needs to know any more.
    Unneeded,
}

impl LeafState {
    /// Whether there is more to find out.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::PendingOrTooLong | Self::Found)
    }

    /// What it comes to with a text of a selected node.
    pub(super) fn with(&self, want: &Want, text: &str, max_text: usize, texts: &mut Texts) -> Option<Self> {
        if text.len() > max_text {
            return self.with_too_long(want, max_text);
        }
        match want {
            Want::Existence => Some(Self::Present),
            Want::First(spaces) => Some(Self::Text(texts.share(*spaces, text))),
            Want::Passes(spaces, test) => Some(Self::of(test.holds(&spaces.of(text)))),
            Want::Any(wanted) => wanted.holds(text).then_some(Self::Present),
        }
    }

    /// The same with a text that is longer than can be kept.
    pub(super) fn with_too_long(&self, want: &Want, max_text: usize) -> Option<Self> {
        match want {
            Want::Existence => Some(Self::Present),
            Want::First(_) | Want::Passes(..) => Some(Self::TooLong),
            Want::Any(wanted) => match wanted.holds_beyond(max_text) {
                Some(true) => Some(Self::Present),
                Some(false) => None,
                None => Some(Self::PendingOrTooLong),
            },
        }
    }

    /// What it comes to when no more nodes can be selected.
    pub(super) fn without_more(&self, want: &Want) -> Self {
        match (self, want) {
            (Self::PendingOrTooLong, _) => Self::TooLong,
            (_, Want::Passes(_, test)) => Self::of(test.holds("")),
            _ => Self::Absent,
        }
    }

    fn of(is_there: bool) -> Self {
        if is_there { Self::Present } else { Self::Absent }
    }
}

/// The texts that one token brings, each once for all that want it.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    kept: Option<Arc<str>>,
    normalized: Option<Arc<str>>,
}

impl Texts {
    fn share(&mut self, spaces: Spaces, text: &str) -> Arc<str> {
        let last = match spaces {
            Spaces::Kept => &mut self.kept,
            Spaces::Normalized => &mut self.normalized,
        };
        let text = spaces.of(text);
        match last {
            Some(last) if **last == *text => Arc::clone(last),
            last => Arc::clone(last.insert(text.into())),
        }
    }
}

/// The states of all leaves, as what expressions are evaluated on.
pub(super) struct LeafValues<'a>(pub(super) &'a [LeafState]);

impl Values<usize> for LeafValues<'_> {
    fn holds(&self, leaf: &usize) -> Result<bool, Unknown> {
        match self.0.get(*leaf) {
            Some(LeafState::Present) => Ok(true),
            Some(LeafState::Absent) => Ok(false),
            Some(LeafState::TooLong) => Err(Unknown::TooLong),
            _ => Err(Unknown::Pending),
        }
    }

    /// Texts are tested by the leaves, and not in conditions.
    fn text<'v>(&'v self, _: &'v usize) -> Result<&'v str, Unknown> {
        Err(Unknown::Pending)
    }

    fn position(&self) -> u32 {
        1
    }
}
