//! Which numbers `xsl:number` gives to a node (section 7.7).

use portcullis_xml::NodeId;

use super::error::Result;
use super::machine::Machine;
use super::walk::following;
use crate::pattern::Pattern;
use crate::program::Level;

impl<'p> Machine<'p, '_> {
    pub(super) fn count(
        &mut self,
        level: Level,
        count: Option<&'p Pattern>,
        from: Option<&'p Pattern>,
    ) -> Result<Vec<u64>> {
        match level {
            Level::Any => self.count_any(count, from),
            Level::Single | Level::Multiple => self.count_ancestors(level, count, from),
        }
    }

    /// The places of the node and its ancestors among their siblings; of the innermost one for `single`.
    fn count_ancestors(
        &mut self,
        level: Level,
        count: Option<&'p Pattern>,
        from: Option<&'p Pattern>,
    ) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        let mut at = Some(self.focus.context.node);
        while let Some(node) = at {
            // Only what is below the closest ancestor that `from` matches counts.
            if let Some(from) = from
                && node != self.focus.context.node
                && self.matches(from, node)?
            {
                break;
            }
            if self.is_counted(count, node)? {
                numbers.push(self.place(count, node)?);
                if level == Level::Single {
                    break;
                }
            }
            at = self.document.parent(node);
        }
        numbers.reverse();
        Ok(numbers)
    }

    /// One more than the preceding siblings that count.
    fn place(&mut self, count: Option<&'p Pattern>, node: NodeId) -> Result<u64> {
        let mut place = 1_u64;
        let mut at = self.document.previous_sibling(node);
        while let Some(sibling) = at {
            self.budget.charge(1)?;
            if self.is_counted(count, sibling)? {
                place = place.saturating_add(1);
            }
            at = self.document.previous_sibling(sibling);
        }
        Ok(place)
    }

    /// How many of the nodes up to this one count, since the last one that `from` matches.
    fn count_any(&mut self, count: Option<&'p Pattern>, from: Option<&'p Pattern>) -> Result<Vec<u64>> {
        let current = self.focus.context.node;
        let mut number = 0_u64;
        let mut at = Some(self.document.root(current));
        while let Some(node) = at.filter(|node| *node < current) {
            self.budget.charge(1)?;
            if self.is_counted(count, node)? {
                number = number.saturating_add(1);
            }
            if let Some(from) = from
                && self.matches(from, node)?
            {
                number = 0;
            }
            at = following(&self.document, node);
        }
        if self.is_counted(count, current)? {
            number = number.saturating_add(1);
        }
        // Unlike the other levels, there is always one number, be it 0.
        Ok(vec![number])
    }

    fn is_counted(&mut self, count: Option<&'p Pattern>, node: NodeId) -> Result<bool> {
        match count {
            Some(pattern) => self.matches(pattern, node),
            None => {
                let (document, current) = (&self.document, self.focus.context.node);
                Ok(document.kind(node) == document.kind(current)
                    && document.name(node) == document.name(current))
            }
        }
    }
}
