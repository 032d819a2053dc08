//! The nodes of keys (XSLT 1.0, section 12.2).

use std::collections::BTreeMap;

use portcullis_xml::NodeId;
use portcullis_xml::xpath::{Context, Value};

use super::error::{Failure, Result};
use super::machine::Machine;
use super::walk::following;
use crate::expression::Expression;
use crate::pattern::Pattern;

/// What an entry takes, about, besides the value itself.
const ENTRY: usize = 64;

/// For each value of a key the nodes that have it, in document order. It is an ordered map because whoever writes the
/// document chooses the values.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    nodes: BTreeMap<Box<str>, Vec<NodeId>>,
}

impl KeyTable {
    pub(super) fn find(&self, value: &str) -> &[NodeId] {
        self.nodes.get(value).map(Vec::as_slice).unwrap_or_default()
    }

    fn add(&mut self, value: &str, node: NodeId) {
        let nodes = match self.nodes.get_mut(value) {
            Some(nodes) => nodes,
            None => self.nodes.entry(value.into()).or_default(),
        };
        if nodes.last() != Some(&node) {
            nodes.push(node);
        }
    }
}

impl<'p> Machine<'p, '_> {
    /// Sees to it that a key can be used.
    pub(super) fn prepare_key(&mut self, key: usize) -> Result<()> {
        let program = self.program;
        let order = program.keys.get(key).map(|key| &*key.order).unwrap_or_default();
        for key in order {
            if self.keys.get(*key).is_some_and(Option::is_none) {
                let table = self.build_key(*key)?;
                if let Some(slot) = self.keys.get_mut(*key) {
                    *slot = Some(table);
                }
            }
        }
        Ok(())
    }

    fn build_key(&mut self, key: usize) -> Result<KeyTable> {
        let program = self.program;
        let mut table = KeyTable::default();
        let definitions = program.keys.get(key).map(|key| &*key.definitions).unwrap_or_default();
        let mut at = Some(NodeId::ROOT);
        while let Some(node) = at {
            self.add_to_key(&mut table, definitions, node)?;
            for attribute in self.document.attributes(node) {
                self.add_to_key(&mut table, definitions, attribute)?;
            }
            at = following(&self.document, node);
        }
        Ok(table)
    }

    fn add_to_key(
        &mut self,
        table: &mut KeyTable,
        definitions: &'p [(Pattern, Expression)],
        node: NodeId,
    ) -> Result<()> {
        for (pattern, value) in definitions {
            if !self.matches(pattern, node)? {
                continue;
            }
            // What goes beyond that is not added.
            let room = self.limits.temporary_bytes.saturating_sub(self.budget.held());
            let bytes = self.evaluate_for(node, value, Context::of(node), |value, document| match value {
                Value::Nodes(values) => {
                    let mut bytes = values.len().saturating_mul(ENTRY);
                    for value in values.iter() {
                        let value = document.string_value(*value);
                        bytes = bytes.saturating_add(value.len());
                        if bytes > room {
                            break;
                        }
                        table.add(value, node);
                    }
                    bytes
                }
                other => {
                    let value = other.into_string(document);
                    let bytes = value.len().saturating_add(ENTRY);
                    if bytes <= room {
                        table.add(&value, node);
                    }
                    bytes
                }
            })?;
            if bytes > room {
                return Err(Failure::Kept);
            }
            self.keep(bytes)?;
        }
        Ok(())
    }
}
