//! The text of elements that are open.

/// The text of all open elements whose text is wanted. Those that stand within each other share what they have in
/// common.
#[derive(Debug, Clone)]
pub(super) struct Captures {
    /// What has come since the outermost element began.
    text: Vec<u8>,
    /// Outermost first.
    open: Vec<Capture>,
    max_text: usize,
}

/// How much memory is held ready for the next text, in bytes.
const SPARE: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Capture {
    node: usize,
    depth: usize,
    /// Where its text begins.
    start: usize,
}

impl Captures {
    pub(super) const fn new(max_text: usize) -> Self {
        Self { text: Vec::new(), open: Vec::new(), max_text }
    }

    /// An element has begun whose text is wanted for a node of the trie.
    pub(super) fn begin(&mut self, node: usize, depth: usize) {
        self.open.push(Capture { node, depth, start: self.text.len() });
    }

    /// Takes text. The nodes whose elements have more of it now than can be kept are given back, and forgotten.
    pub(super) fn append(&mut self, text: &str) -> Vec<usize> {
        let Some(innermost) = self.open.last() else {
            return Vec::new();
        };
        if self.length(innermost).saturating_add(text.len()) > self.max_text {
            self.clear();
            return self.open.drain(..).map(|capture| capture.node).collect();
        }
        self.text.extend_from_slice(text.as_bytes());
        let too_long = self.open.partition_point(|capture| self.length(capture) > self.max_text);
        if too_long == 0 {
            return Vec::new();
        }
        let nodes = self.open.drain(..too_long).map(|capture| capture.node).collect();
        self.forget_before_outermost();
        nodes
    }

    /// Keeps text for nodes that are still wanted only.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(usize) -> bool) {
        let before = self.open.len();
        self.open.retain(|capture| is_wanted(capture.node));
        if self.open.len() < before {
            self.forget_before_outermost();
        }
    }

    fn forget_before_outermost(&mut self) {
        let Some(start) = self.open.first().map(|capture| capture.start) else {
            return self.clear();
        };
        self.text.drain(..start);
        for capture in &mut self.open {
            capture.start = capture.start.saturating_sub(start);
        }
    }

    /// Forgets all text, and gives its memory back if it is much.
    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(SPARE);
    }

    /// How many bytes of memory the text takes.
    pub(super) fn kept(&self) -> usize {
        self.text.capacity()
    }

    /// An element has ended at this depth: a node whose element it was, and its text. To be called until there is none.
    pub(super) fn end(&mut self, depth: usize) -> Option<(usize, &str)> {
        let Some(capture) = self.open.pop_if(|capture| capture.depth == depth) else {
            if self.open.is_empty() {
                self.clear();
            }
            return None;
        };
        let text = self.text.get(capture.start..).unwrap_or_default();
        // It is made of whole strings.
        Some((capture.node, str::from_utf8(text).unwrap_or_default()))
    }

    fn length(&self, capture: &Capture) -> usize {
        self.text.len().saturating_sub(capture.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_elements_within_each_other_have_in_common_once() {
        let mut captures = Captures::new(10);
        captures.begin(1, 1);
        captures.append("ab");
        captures.begin(2, 2);
        captures.begin(3, 2);
        captures.append("cd");
        assert_eq!(captures.text, b"abcd");
        assert_eq!(captures.end(2), Some((3, "cd")));
        assert_eq!(captures.end(2), Some((2, "cd")));
        assert_eq!(captures.end(2), None);
        captures.append("e");
        assert_eq!(captures.end(1), Some((1, "abcde")));
    }

    #[test]
    fn forgets_text_when_no_element_wants_it_any_more() {
        let mut captures = Captures::new(10);
        for _ in 0..1000 {
            captures.begin(1, 1);
            assert!(captures.append("0123456789").is_empty());
            assert_eq!(captures.end(1), Some((1, "0123456789")));
            assert_eq!(captures.end(1), None);
        }
        assert!(captures.text.is_empty());
        assert!(captures.text.capacity() <= 20, "{}", captures.text.capacity());
    }

    #[test]
    fn forgets_text_that_only_those_want_that_have_too_much() {
        let mut captures = Captures::new(10);
        let mut too_long = Vec::new();
        for node in 0..100 {
            captures.begin(node, node);
            too_long.extend(captures.append("01234"));
            assert!(captures.text.len() <= 15, "{}", captures.text.len());
        }
        assert_eq!(too_long, Vec::from_iter(0..98));
        assert_eq!(captures.end(99), Some((99, "01234")));
        assert_eq!(captures.end(98), Some((98, "0123401234")));
        assert_eq!(captures.append(&"x".repeat(1_000_000)), []);
        assert!(captures.text.capacity() < 100);
    }

    #[test]
    fn gives_up_all_elements_with_one_text_that_is_too_long_for_any() {
        let mut captures = Captures::new(10);
        captures.begin(1, 1);
        captures.begin(2, 2);
        assert_eq!(captures.append(&"x".repeat(11)), [1, 2]);
        assert_eq!(captures.end(2), None);
        assert!(captures.text.is_empty());
    }
}
