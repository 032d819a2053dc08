//! The order that `xsl:sort` asks for (XSLT 1.0, section 10).

mod collation;

use core::cmp::Ordering;
use core::ops::Range;

/// One `xsl:sort`: how its keys compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortKey {
    /// `data-type` and, for text, `case-order`.
    pub(crate) kind: KeyKind,
    /// `order`.
    pub(crate) order: Order,
}

/// What keys are compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// As numbers. What is no number comes first.
    Number,
    /// As text: see [`collation`].
    Text(CaseOrder),
}

/// Which of two texts comes first if they differ in nothing but case.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseOrder {
    /// The one with the upper-case letter.
    UpperFirst,
    /// The one with the lower-case letter. This holds if nothing is said.
    #[default]
    LowerFirst,
}

/// Whether the smallest comes first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// It does.
    #[default]
    Ascending,
    /// It comes last.
    Descending,
}

/// The keys of the nodes that are to be sorted.
///
/// They are added node by node, in the order in which the nodes are there: for each, one key for each `xsl:sort`, the
/// most important one first.
#[derive(Debug)]
pub(crate) struct SortTable {
    columns: Vec<SortKey>,
    keys: Vec<Key>,
    text: String,
}

#[derive(Debug, Clone)]
enum Key {
    Number(f64),
    /// Where the text stands, and where it stands without differences of case.
    Text {
        written: Range<usize>,
        folded: Range<usize>,
    },
}

impl SortTable {
    /// How many bytes a key takes besides its text.
    pub(crate) const KEY_BYTES: usize = size_of::<Key>();
    /// How many bytes finding the order takes for each node: its keys, its number in both orders, and in what the sort
    /// needs.
    pub(crate) const ORDER_BYTES: usize =
        size_of::<&[Key]>().saturating_add(size_of::<usize>().saturating_mul(3));

    /// No nodes yet, which will have so many keys each. There must be at least one.
    pub(crate) fn new(columns: &[SortKey]) -> Self {
        Self { columns: columns.to_vec(), keys: Vec::new(), text: String::new() }
    }

    /// The next key, which is a number.
    pub(crate) fn push_number(&mut self, key: f64) {
        self.keys.push(Key::Number(key));
    }

    /// The next key, which is text.
    pub(crate) fn push_text(&mut self, key: &str) {
        let start = self.text.len();
        self.text.push_str(key);
        let middle = self.text.len();
        collation::fold(key, &mut self.text);
        self.keys.push(Key::Text { written: start..middle, folded: middle..self.text.len() });
    }

    /// How many bytes the keys take.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.len().saturating_mul(size_of::<Key>()).saturating_add(self.text.len())
    }

    /// The order in which the nodes are to be processed: their numbers, from 0. Nodes with equal keys stay in the order
    /// that they were in.
    pub(crate) fn sorted(&self) -> Vec<usize> {
        let rows: Vec<&[Key]> = self.keys.chunks_exact(self.columns.len().max(1)).collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let row = |index: usize| rows.get(index).copied().unwrap_or_default();
        // A stable sort.
        order.sort_by(|left, right| self.compare(row(*left), row(*right)));
        order
    }

    fn compare(&self, left: &[Key], right: &[Key]) -> Ordering {
        let pairs = left.iter().zip(right).zip(&self.columns);
        pairs
            .map(|((left, right), column)| {
                let ordering = self.compare_keys(left, right, column.kind);
                if column.order == Order::Descending { ordering.reverse() } else { ordering }
            })
            .find(|ordering| ordering.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn compare_keys(&self, left: &Key, right: &Key, kind: KeyKind) -> Ordering {
        match (left, right) {
            (Key::Number(left), Key::Number(right)) => compare_numbers(*left, *right),
            (
                Key::Text { written: left, folded: left_folded },
                Key::Text { written: right, folded: right_folded },
            ) => {
                let part = |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
                part(left_folded).cmp(part(right_folded)).then_with(|| match kind {
                    KeyKind::Text(case) => collation::compare_case(part(left), part(right), case),
                    KeyKind::Number => Ordering::Equal,
                })
            }
            // All keys of a column are of one kind.
            (Key::Number(_), Key::Text { .. }) => Ordering::Less,
            (Key::Text { .. }, Key::Number(_)) => Ordering::Greater,
        }
    }
}

/// What is no number comes before all numbers; the two zeros are equal.
fn compare_numbers(left: f64, right: f64) -> Ordering {
    match (left.is_nan(), right.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCENDING: Order = Order::Ascending;
    const DESCENDING: Order = Order::Descending;

    fn sort_text(items: &[&str], case: CaseOrder, order: Order) -> Vec<String> {
        let mut table = SortTable::new(&[SortKey { kind: KeyKind::Text(case), order }]);
        items.iter().for_each(|item| table.push_text(item));
        table.sorted().into_iter().map(|index| items[index].to_owned()).collect()
    }

    fn sort_numbers(items: &[f64], order: Order) -> Vec<usize> {
        let mut table = SortTable::new(&[SortKey { kind: KeyKind::Number, order }]);
        items.iter().for_each(|item| table.push_number(*item));
        table.sorted()
    }

    #[test]
    fn compares_text_first_without_case() {
        let items =
            ["use", "XML", "Namespaces", "must", "URI", "to", "XSLT-defined", "XSLT", "2", "_", "é", "É"];
        let sorted = sort_text(&items, CaseOrder::LowerFirst, ASCENDING);
        assert_eq!(
            sorted,
            ["2", "_", "must", "Namespaces", "to", "URI", "use", "XML", "XSLT", "XSLT-defined", "é", "É"]
        );
    }

    #[test]
    fn compares_case_where_nothing_else_differs() {
        let items = ["preFIX", "prefix", "PREfix", "prefixes", "Prefix"];
        assert_eq!(
            sort_text(&items, CaseOrder::LowerFirst, ASCENDING),
            ["prefix", "preFIX", "Prefix", "PREfix", "prefixes"]
        );
        assert_eq!(
            sort_text(&items, CaseOrder::UpperFirst, ASCENDING),
            ["PREfix", "Prefix", "preFIX", "prefix", "prefixes"]
        );
    }

    #[test]
    fn turns_the_whole_order_around_for_descending() {
        let items = ["a", "B", "b", "A"];
        assert_eq!(sort_text(&items, CaseOrder::LowerFirst, DESCENDING), ["B", "b", "A", "a"]);
    }

    #[test]
    fn compares_numbers_by_value_and_puts_nan_first() {
        let items = [3.0, f64::NAN, -0.0, f64::INFINITY, 0.0, -5.5, f64::NEG_INFINITY, f64::NAN];
        assert_eq!(sort_numbers(&items, ASCENDING), [1, 7, 6, 5, 2, 4, 0, 3]);
        assert_eq!(sort_numbers(&items, DESCENDING), [3, 0, 2, 4, 5, 6, 1, 7]);
    }

    #[test]
    fn leaves_equal_nodes_in_their_order_in_both_directions() {
        assert_eq!(sort_numbers(&[1.0, 0.0, 1.0, 0.0], ASCENDING), [1, 3, 0, 2]);
        assert_eq!(sort_numbers(&[1.0, 0.0, 1.0, 0.0], DESCENDING), [0, 2, 1, 3]);
    }

    #[test]
    fn looks_at_later_keys_where_earlier_ones_are_equal() {
        let text = SortKey { kind: KeyKind::Text(CaseOrder::LowerFirst), order: ASCENDING };
        let number = SortKey { kind: KeyKind::Number, order: DESCENDING };
        let mut table = SortTable::new(&[text, number, text]);
        for (first, second, third) in [("b", 1.0, ""), ("a", 1.0, "z"), ("a", 2.0, ""), ("a", 1.0, "y")] {
            table.push_text(first);
            table.push_number(second);
            table.push_text(third);
        }
        assert_eq!(table.sorted(), [2, 3, 1, 0]);
    }

    #[test]
    fn sorts_nothing() {
        assert_eq!(sort_numbers(&[], ASCENDING), [0_usize; 0]);
    }
}
