//! What instructions write to.

use portcullis_xml::tree::{Attached, Document, NameId, Names, NodeId, PrefixId, UriId};

use super::ResultError;

/// The name of an element or an attribute of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultName {
    /// The expanded name.
    pub(crate) name: NameId,
    /// The prefix that it should be written with. It is, unless it stands for another namespace on the same element;
    /// then another one is found. For a name in no namespace it is not looked at.
    pub(crate) prefix: PrefixId,
}

/// Takes the nodes of a result tree, in document order (XSLT 1.0, section 7).
///
/// The order is: an element's start, its namespaces, its attributes, its children, its end. Namespaces that names need
/// are declared without being asked for; [`namespace`](Self::namespace) is for those that the result has on top of
/// that. All methods take constant time, but for what is proportional to the text that they are given.
pub(crate) trait Receiver {
    /// Starts an element.
    ///
    /// # Errors
    /// If the result gets too large.
    fn start_element(&mut self, names: &Names, name: ResultName) -> Result<(), ResultError>;

    /// A namespace node of the element that was just started.
    ///
    /// It is left out if it is not the element's to have: if there are children already, if there is no element, or if
    /// the prefix stands for another namespace in the names of the element. No namespace ([`UriId::NONE`]) is no node.
    ///
    /// # Errors
    /// If the result gets too large.
    fn namespace(&mut self, names: &Names, prefix: PrefixId, uri: UriId) -> Result<(), ResultError>;

    /// All namespace nodes of an element of `document`, the names of which are the ones that the result has. How many
    /// had to be looked at.
    ///
    /// # Errors
    /// If the result gets too large.
    fn namespaces_of(&mut self, document: &Document, element: NodeId) -> Result<usize, ResultError>;

    /// An attribute of the element that was just started, in place of one of the same name that it may have. It is
    /// left out ([`Attached::TooLate`]) if there are children already, or if there is no element.
    ///
    /// # Errors
    /// If the result gets too large.
    fn attribute(&mut self, names: &Names, name: ResultName, value: &str) -> Result<Attached, ResultError>;

    /// Character data; one text node together with what comes before and after. No text is nothing.
    ///
    /// # Errors
    /// If the result gets too large.
    fn text(&mut self, text: &str) -> Result<(), ResultError>;

    /// A comment. A space is put behind each hyphen that may not stand where it does (section 7.4).
    ///
    /// # Errors
    /// If the result gets too large.
    fn comment(&mut self, text: &str) -> Result<(), ResultError>;

    /// A processing instruction. The target must be an `NCName` other than `xml`. In the data, a space is put into each
    /// `?>` (section 7.3).
    ///
    /// # Errors
    /// If the result gets too large.
    fn processing_instruction(&mut self, target: &str, data: &str) -> Result<(), ResultError>;

    /// Ends the innermost element that is open.
    ///
    /// # Errors
    /// If the result gets too large.
    fn end_element(&mut self) -> Result<(), ResultError>;
}
