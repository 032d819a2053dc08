//! The content of a variable, noted down.

use portcullis_xml::tree::{Attached, Full, PrefixId, TreeBuilder, UriId};

use super::declared::Declared;
use super::{ResultError, ResultName};

/// A result tree fragment (XSLT 1.0, section 11.1) before it has become a tree.
///
/// While the content of a variable is being made, the document that has to take it is in use, and content within the
/// content may have to become a tree first. So it is noted down, and becomes a tree in one go, when it is complete.
#[derive(Debug, Default)]
pub(crate) struct Fragment {
    steps: Vec<Step>,
    text: String,
}

/// A call; texts are numbered by where they end.
#[derive(Debug, Clone, Copy)]
enum Step {
    Start(ResultName),
    Namespace(PrefixId, UriId),
    Attribute(ResultName, usize),
    Text(usize),
    Comment(usize),
    /// The target, then the data.
    Instruction(usize, usize),
    End,
}

impl Fragment {
    /// How much there is to be built.
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.steps.len()).unwrap_or(u64::MAX)
    }

    /// How many bytes of text it has.
    pub(crate) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Its string-value, if it has text alone: the most frequent case, for which no tree is needed.
    #[must_use]
    pub(crate) fn as_text(&self) -> Option<&str> {
        self.steps.iter().all(|step| matches!(step, Step::Text(_))).then_some(&*self.text)
    }

    /// Adds it to a tree: as a whole tree, if nothing else was added to that. The names are those of the tree's
    /// document.
    ///
    /// # Errors
    /// If it does not fit in.
    pub(crate) fn build(&self, tree: &mut TreeBuilder) -> Result<(), Full> {
        let mut declared = Declared::default();
        let mut from = 0;
        let mut part = |end: usize| {
            let text = self.text.get(from..end).unwrap_or_default();
            from = end;
            text
        };
        for step in &self.steps {
            match *step {
                Step::Start(name) => {
                    tree.start_element(name.name, name.prefix)?;
                    declared.start(name.prefix, tree.names().namespace(name.name));
                }
                Step::Namespace(prefix, uri) => {
                    if declared.take(prefix, uri) {
                        tree.declare(prefix, uri)?;
                    }
                }
                Step::Attribute(name, end) => {
                    tree.attribute(name.name, name.prefix, part(end))?;
                }
                Step::Text(end) => tree.characters(part(end))?,
                Step::Comment(end) => tree.add_comment(part(end))?,
                Step::Instruction(target, end) => {
                    let target = part(target);
                    tree.add_processing_instruction(target, part(end))?;
                }
                Step::End => {
                    declared.end();
                    tree.end_element();
                }
            }
        }
        Ok(())
    }
}

/// Makes a [`Fragment`].
#[derive(Debug, Default)]
pub(super) struct Recorder {
    fragment: Fragment,
    depth: usize,
    /// How many attributes the element has whose start tag is open; `None` if there is none.
    attributes: Option<usize>,
}

impl Recorder {
    pub(super) fn finish(self) -> Fragment {
        self.fragment
    }

    pub(super) fn start_element(&mut self, name: ResultName) {
        self.fragment.steps.push(Step::Start(name));
        self.depth = self.depth.saturating_add(1);
        self.attributes = Some(0);
    }

    pub(super) fn namespace(&mut self, prefix: PrefixId, uri: UriId) {
        if self.attributes.is_some() && uri != UriId::NONE {
            self.fragment.steps.push(Step::Namespace(prefix, uri));
        }
    }

    pub(super) fn attribute(
        &mut self,
        name: ResultName,
        value: &str,
        limit: usize,
    ) -> Result<Attached, ResultError> {
        let Some(count) = &mut self.attributes else { return Ok(Attached::TooLate) };
        *count = count.saturating_add(1);
        if *count > limit {
            return Err(ResultError::TooManyAttributes(limit));
        }
        let end = self.push(value);
        self.fragment.steps.push(Step::Attribute(name, end));
        Ok(Attached::Yes)
    }

    pub(super) fn text(&mut self, text: &str) {
        self.attributes = None;
        let end = self.push(text);
        match self.fragment.steps.last_mut() {
            Some(Step::Text(before)) => *before = end,
            _ => self.fragment.steps.push(Step::Text(end)),
        }
    }

    pub(super) fn comment(&mut self, text: &str) {
        self.attributes = None;
        let end = self.push(text);
        self.fragment.steps.push(Step::Comment(end));
    }

    pub(super) fn processing_instruction(&mut self, target: &str, data: &str) {
        self.attributes = None;
        let target = self.push(target);
        let end = self.push(data);
        self.fragment.steps.push(Step::Instruction(target, end));
    }

    pub(super) fn end_element(&mut self) {
        self.attributes = None;
        if let Some(depth) = self.depth.checked_sub(1) {
            self.depth = depth;
            self.fragment.steps.push(Step::End);
        }
    }

    fn push(&mut self, text: &str) -> usize {
        self.fragment.text.push_str(text);
        self.fragment.text.len()
    }
}
