//! What has been found out about what is wanted.

use super::condition::{Unknown, Values, Want};

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
    /// The text of the first node.
    Text(String),
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
    pub(super) fn with(&self, want: &Want, text: &str, max_text: usize) -> Option<Self> {
        if text.len() > max_text {
            return self.with_too_long(want, max_text);
        }
        match want {
            Want::Existence => Some(Self::Present),
            Want::First => Some(Self::Text(text.to_owned())),
            Want::Any(wanted) => wanted.holds(text).then_some(Self::Present),
        }
    }

    /// The same with a text that is longer than can be kept.
    pub(super) fn with_too_long(&self, want: &Want, max_text: usize) -> Option<Self> {
        match want {
            Want::Existence => Some(Self::Present),
            Want::First => Some(Self::TooLong),
            Want::Any(wanted) => match wanted.holds_beyond(max_text) {
                Some(true) => Some(Self::Present),
                Some(false) => None,
                None => Some(Self::PendingOrTooLong),
            },
        }
    }

    /// What it comes to when no more nodes can be selected.
    pub(super) fn without_more(&self) -> Self {
        match self {
            Self::PendingOrTooLong => Self::TooLong,
            _ => Self::Absent,
        }
    }
}

/// The states of all leaves, as what expressions are evaluated on.
pub(super) struct LeafValues<'a>(pub(super) &'a [LeafState]);

impl Values<usize> for LeafValues<'_> {
    fn holds(&self, leaf: &usize) -> Result<bool, Unknown> {
        match self.0.get(*leaf) {
            Some(LeafState::Present | LeafState::Found | LeafState::Text(_)) => Ok(true),
            Some(LeafState::Absent) => Ok(false),
            Some(LeafState::TooLong) => Err(Unknown::TooLong),
            Some(LeafState::Pending | LeafState::PendingOrTooLong | LeafState::Unneeded) | None => {
                Err(Unknown::Pending)
            }
        }
    }

    fn text<'v>(&'v self, leaf: &'v usize) -> Result<&'v str, Unknown> {
        match self.0.get(*leaf) {
            Some(LeafState::Text(text)) => Ok(text),
            Some(LeafState::Absent) => Ok(""),
            Some(LeafState::TooLong) => Err(Unknown::TooLong),
            _ => Err(Unknown::Pending),
        }
    }

    fn position(&self) -> u32 {
        1
    }
}
