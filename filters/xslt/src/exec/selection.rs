//! Node lists in the order that `xsl:sort` asks for (section 10).

use portcullis_xml::NodeId;
use portcullis_xml::xpath::Context;

use super::error::Result;
use super::machine::Machine;
use crate::error::TransformErrorKind;
use crate::program::{Selection, Sort};
use crate::sort::{CaseOrder, KeyKind, Order, SortKey, SortTable};

impl<'p> Machine<'p, '_> {
    /// The nodes of a selection.
    pub(super) fn selected(&mut self, selection: &'p Selection) -> Result<Vec<NodeId>> {
        let nodes = match &selection.select {
            Some(select) => self.nodes(select)?,
            None => {
                let children = self.document.children(self.focus.context.node);
                let count = children.clone().count();
                self.budget.charge(u64::try_from(count).unwrap_or(u64::MAX))?;
                self.budget.hold(count.saturating_mul(size_of::<NodeId>()))?;
                let mut nodes = Vec::with_capacity(count);
                nodes.extend(children);
                nodes
            }
        };
        if selection.sorts.is_empty() || nodes.len() < 2 {
            Ok(nodes)
        } else {
            self.sorted(&selection.sorts, &nodes)
        }
    }

    fn sorted(&mut self, sorts: &'p [Sort], nodes: &[NodeId]) -> Result<Vec<NodeId>> {
        let mut columns = Vec::with_capacity(sorts.len());
        for sort in sorts {
            columns.push(self.sort_key(sort)?);
        }
        // What the order takes while it is being found, and the list in that order.
        self.budget.hold(nodes.len().saturating_mul(SortTable::ORDER_BYTES))?;
        let mut table = SortTable::new(&columns);
        let size = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let focus = self.focus;
        for (position, node) in (1_u32..).zip(nodes) {
            // In a sort key, the node is the current one too.
            self.focus.context = Context { node: *node, position, size };
            for (sort, column) in sorts.iter().zip(&columns) {
                match column.kind {
                    KeyKind::Number => {
                        self.budget.hold(SortTable::KEY_BYTES)?;
                        table.push_number(self.number(&sort.select)?);
                    }
                    KeyKind::Text(_) => {
                        let context = self.focus.context;
                        let before = table.bytes();
                        let bytes = self.evaluate_for(*node, &sort.select, context, |value, document| {
                            let text = value.into_string(document);
                            table.push_text(&text);
                            text.len()
                        })?;
                        self.budget.charge_bytes(bytes.saturating_mul(4))?;
                        self.budget.hold(table.bytes().saturating_sub(before))?;
                    }
                }
            }
        }
        self.focus = focus;
        // Each comparison may look at all of two keys: for n nodes there are about n log n.
        let rounds = u64::from(size.max(2).ilog2()).saturating_add(1);
        let bytes = u64::try_from(table.bytes()).unwrap_or(u64::MAX);
        self.budget.charge((bytes / 16).saturating_mul(rounds))?;
        Ok(table.sorted().into_iter().filter_map(|index| nodes.get(index).copied()).collect())
    }

    fn sort_key(&mut self, sort: &'p Sort) -> Result<SortKey> {
        let order = match &*self.string(&sort.order)? {
            "ascending" => Order::Ascending,
            "descending" => Order::Descending,
            _ => return Err(invalid("order", "'ascending' or 'descending'")),
        };
        let case_order = match &sort.case_order {
            None => CaseOrder::default(),
            Some(case_order) => match &*self.string(case_order)? {
                "upper-first" => CaseOrder::UpperFirst,
                "lower-first" => CaseOrder::LowerFirst,
                _ => return Err(invalid("case-order", "'upper-first' or 'lower-first'")),
            },
        };
        let kind = match &*self.string(&sort.data_type)? {
            "text" => KeyKind::Text(case_order),
            "number" => KeyKind::Number,
            _ => return Err(invalid("data-type", "'text' or 'number'")),
        };
        Ok(SortKey { kind, order })
    }
}

fn invalid(attribute: &'static str, expected: &'static str) -> super::error::Failure {
    TransformErrorKind::Value { attribute, expected }.into()
}
