//! Which elements have their text in CDATA sections.

use portcullis_xml::tree::{NameId, Names};

use super::format::CdataElements;

/// [`CdataElements`] with the answers given so far, by the names' numbers.
#[derive(Debug)]
pub(super) struct CdataNames {
    elements: CdataElements,
    known: Vec<Option<Answer>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Listed,
    NotListed,
}

impl CdataNames {
    pub(super) fn new(elements: &CdataElements) -> Self {
        Self { elements: elements.clone(), known: Vec::new() }
    }

    pub(super) fn contains(&mut self, names: &Names, name: NameId) -> bool {
        if self.elements.0.is_empty() {
            return false;
        }
        if self.known.len() <= name.index() {
            self.known.resize(name.index().saturating_add(1), None);
        }
        let Some(known) = self.known.get_mut(name.index()) else { return false };
        let answer = *known.get_or_insert_with(|| {
            let (uri, local) = (names.uri_text(names.namespace(name)), names.local(name));
            let listed = self.elements.0.iter().any(|(own_uri, own)| **own_uri == *uri && **own == *local);
            if listed { Answer::Listed } else { Answer::NotListed }
        });
        answer == Answer::Listed
    }
}
