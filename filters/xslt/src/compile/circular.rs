//! Definitions that need one another: in which order they can be made, if there is one.

use std::collections::BTreeSet;

use super::Compiler;
use crate::error::{CompileError, CompileErrorKind};
use crate::program::GLOBAL;

impl Compiler<'_> {
    /// No global variable's expression refers to itself, by way of others or not. What templates refer to is seen when
    /// they are instantiated.
    pub(super) fn check_globals(&self) -> Result<(), CompileError> {
        let index = |slot: &u32| usize::try_from(slot.saturating_sub(GLOBAL)).unwrap_or(usize::MAX);
        let needs: Vec<BTreeSet<usize>> =
            self.globals.iter().map(|global| global.refers_to.iter().map(index).collect()).collect();
        match order(&needs).err().and_then(|index| self.globals.get(index)) {
            None => Ok(()),
            Some(global) => Err(global.element.error(CompileErrorKind::Circular {
                what: "global variable",
                name: global.name.local.clone(),
            })),
        }
    }

    /// Finds for each key the keys that have to be there first.
    pub(super) fn order_keys(&mut self) -> Result<(), CompileError> {
        let needs: Vec<BTreeSet<usize>> =
            self.key_definitions.iter().map(|source| source.key.order.iter().copied().collect()).collect();
        let order = order(&needs).or_else(|index| match self.key_definitions.get(index) {
            None => Ok(Vec::new()),
            Some(source) => Err(source
                .element
                .error(CompileErrorKind::Circular { what: "key", name: source.key.name.local.clone() })),
        })?;
        let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); needs.len()];
        for key in &order {
            let mut all: BTreeSet<usize> = [*key].into();
            for needed in needs.get(*key).into_iter().flatten() {
                all.extend(reached.get(*needed).into_iter().flatten());
            }
            if let Some(set) = reached.get_mut(*key) {
                *set = all;
            }
        }
        for (source, all) in self.key_definitions.iter_mut().zip(reached) {
            source.key.order = order.iter().copied().filter(|key| all.contains(key)).collect();
        }
        Ok(())
    }
}

/// An order in which each comes after those that it needs; or one that there is no place for.
fn order(needs: &[BTreeSet<usize>]) -> Result<Vec<usize>, usize> {
    let mut order = Vec::new();
    let mut done = vec![false; needs.len()];
    while order.len() < needs.len() {
        let before = order.len();
        for (index, needs) in needs.iter().enumerate() {
            let is_done = |index: usize| done.get(index).copied().unwrap_or(true);
            if !is_done(index) && needs.iter().all(|needed| is_done(*needed)) {
                order.push(index);
                if let Some(done) = done.get_mut(index) {
                    *done = true;
                }
            }
        }
        if order.len() == before {
            return Err(done.iter().position(|done| !done).unwrap_or_default());
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first() {
        let needs =
            |needs: &[&[usize]]| needs.iter().map(|set| set.iter().copied().collect()).collect::<Vec<_>>();
        assert_eq!(order(&needs(&[&[1], &[2], &[]])), Ok(vec![2, 1, 0]));
        assert_eq!(order(&needs(&[&[], &[0]])), Ok(vec![0, 1]));
        assert_eq!(order(&needs(&[&[], &[2], &[1]])), Err(1));
        assert_eq!(order(&needs(&[&[0]])), Err(0));
    }
}
