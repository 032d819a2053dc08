//! Where white space is added for `indent="yes"`.

/// The places of the output where a line may begin.
///
/// Whether an element has text among its children is known only at its end. So the places are noted while it is being
/// written, and the white space is put in when everything is there, in one pass.
#[derive(Debug)]
pub(super) struct Layout {
    places: Vec<Place>,
    /// All elements, and the root first, in document order.
    elements: Vec<Element>,
    /// The elements that are open, by their numbers; the root first.
    open: Vec<usize>,
}

#[derive(Debug)]
struct Place {
    at: usize,
    depth: usize,
    /// The element between the tags of which it lies.
    element: usize,
}

#[derive(Debug, Default)]
struct Element {
    parent: usize,
    has_children: bool,
    /// It has text, or its white space is to be preserved.
    keeps: bool,
}

const LEVEL: &[u8] = b"  ";

impl Layout {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), elements: vec![Element::default()], open: vec![0] }
    }

    /// A node other than text begins, as a child of what is open.
    pub(super) fn node(&mut self, at: usize) {
        let depth = self.open.len().saturating_sub(1);
        self.place(at, depth);
        if let Some(element) = self.innermost() {
            element.has_children = true;
        }
    }

    /// An element begins: a node whose children come next.
    pub(super) fn start(&mut self, at: usize) {
        self.node(at);
        let parent = self.open.last().copied().unwrap_or_default();
        self.open.push(self.elements.len());
        self.elements.push(Element { parent, ..Element::default() });
    }

    /// What is open has text, or keeps its white space.
    pub(super) fn keep(&mut self) {
        if let Some(element) = self.innermost() {
            element.keeps = true;
        }
    }

    /// The innermost element ends.
    pub(super) fn end(&mut self, at: usize) {
        if self.innermost().is_some_and(|element| element.has_children) {
            let depth = self.open.len().saturating_sub(2);
            self.place(at, depth);
        }
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// The output with white space, as long as it is not longer than `limit`. Before `prolog`, nothing is added.
    pub(super) fn apply(mut self, out: &[u8], prolog: usize, limit: usize) -> Option<Vec<u8>> {
        // Parents come first: what keeps its white space has its descendants keep theirs. Not so the root, text in which
        // says nothing of the elements beside it.
        for index in 1..self.elements.len() {
            let parent = self.elements.get(index).map_or(0, |element| element.parent);
            let keeps = parent > 0 && self.elements.get(parent).is_some_and(|parent| parent.keeps);
            if let Some(element) = self.elements.get_mut(index) {
                element.keeps |= keeps;
            }
        }
        let elements = &self.elements;
        let places = self.places.iter().filter(|place| {
            place.at > prolog && elements.get(place.element).is_some_and(|element| !element.keeps)
        });
        let size = places.clone().try_fold(out.len(), |size, place| {
            size.checked_add(place.depth.checked_mul(LEVEL.len())?)?.checked_add(1)
        });
        let mut laid_out = Vec::with_capacity(size.filter(|size| *size <= limit)?);
        let mut from = 0;
        for place in places {
            laid_out.extend_from_slice(out.get(from..place.at).unwrap_or_default());
            laid_out.push(b'\n');
            for _ in 0..place.depth {
                laid_out.extend_from_slice(LEVEL);
            }
            from = place.at;
        }
        laid_out.extend_from_slice(out.get(from..).unwrap_or_default());
        Some(laid_out)
    }

    fn place(&mut self, at: usize, depth: usize) {
        let element = self.open.last().copied().unwrap_or_default();
        self.places.push(Place { at, depth, element });
    }

    fn innermost(&mut self) -> Option<&mut Element> {
        self.elements.get_mut(self.open.last().copied()?)
    }
}
