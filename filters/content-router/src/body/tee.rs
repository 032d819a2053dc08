//! One reading for two purposes.

use portcullis_xml::{Control, Sink, StartTag, TreeBuilder};

/// Makes a tree of what another sink looks at, and of what follows when that has seen enough.
pub(super) struct Tee<'t, F> {
    follower: &'t mut F,
    tree: &'t mut TreeBuilder,
    follows: Control,
}

impl<'t, F: Sink> Tee<'t, F> {
    pub(super) fn new(follower: &'t mut F, tree: &'t mut TreeBuilder) -> Self {
        Self { follower, tree, follows: Control::Continue }
    }

    fn both(
        &mut self,
        follow: impl FnOnce(&mut F) -> Control,
        grow: impl FnOnce(&mut TreeBuilder) -> Control,
    ) -> Control {
        if self.follows == Control::Continue {
            self.follows = follow(self.follower);
        }
        // A tree that is full says so to whoever takes it.
        let _ = grow(self.tree);
        Control::Continue
    }
}

impl<F: Sink> Sink for Tee<'_, F> {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.both(|follower| follower.start(tag), |tree| tree.start(tag))
    }

    fn end(&mut self) -> Control {
        self.both(Sink::end, Sink::end)
    }

    fn text(&mut self, text: &str) -> Control {
        self.both(|follower| follower.text(text), |tree| tree.text(text))
    }

    fn comment(&mut self, text: &str) -> Control {
        self.both(|follower| follower.comment(text), |tree| tree.comment(text))
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.both(
            |follower| follower.processing_instruction(target, data),
            |tree| tree.processing_instruction(target, data),
        )
    }
}
