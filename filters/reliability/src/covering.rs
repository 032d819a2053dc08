//! Covering arrays: few combinations in which every pair of values occurs that can occur at all.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A combination: for each factor the index of its value.
pub type Row = Vec<usize>;

/// Values of some factors, as (factor, value), ascending by factor.
type Part = Vec<(usize, usize)>;

/// Chooses combinations of factors with so many values each (`levels`), such that every combination of `strength` values
/// that occurs in any valid combination occurs in one of those chosen. With a strength of 2 that is every pair.
///
/// Greedy, after AETG (Cohen, Dalal, Fredman and Patton, "The AETG System", IEEE Transactions on Software Engineering
/// 23(7), 1997), with the whole list of valid combinations as candidates: the next one is the one with the most parts that
/// are not covered yet; of several the one whose values have been chosen least often so far, and of several such the
/// first. So the result is the same on every run, and rules that exclude
/// combinations need no special treatment.
pub fn cover(levels: &[usize], valid: impl Fn(&[usize]) -> bool, strength: usize) -> Vec<Row> {
    let candidates: Vec<Row> = product(levels).into_iter().filter(|row| valid(row)).collect();
    let choices = choose(levels.len(), strength.min(levels.len()));
    let mut numbers: BTreeMap<Part, usize> = BTreeMap::new();
    let mut number = |part: Part| {
        let next = numbers.len();
        *numbers.entry(part).or_insert(next)
    };
    let parts: Vec<Vec<usize>> = candidates
        .iter()
        .map(|row| choices.iter().map(|factors| number(part(row, factors))).collect())
        .collect();
    let mut missing = vec![true; numbers.len()];
    let mut uses: Vec<Vec<usize>> = levels.iter().map(|level| vec![0; *level]).collect();
    let mut chosen = Vec::new();
    while missing.contains(&true) {
        let worth = |at: &usize| {
            let gain = parts[*at].iter().filter(|part| missing[**part]).count();
            let used: usize = candidates[*at].iter().zip(&uses).map(|(value, uses)| uses[*value]).sum();
            (gain, Reverse(used))
        };
        // `max_by_key` would take the last of several.
        let Some(best) = (0..candidates.len()).rev().max_by_key(worth) else { break };
        for part in &parts[best] {
            missing[*part] = false;
        }
        for (value, uses) in candidates[best].iter().zip(&mut uses) {
            uses[*value] += 1;
        }
        chosen.push(candidates[best].clone());
    }
    chosen
}

fn part(row: &[usize], factors: &[usize]) -> Part {
    factors.iter().map(|factor| (*factor, row[*factor])).collect()
}

/// Every combination, the last factor changing fastest.
pub fn product(levels: &[usize]) -> Vec<Row> {
    levels.iter().fold(vec![Vec::new()], |rows, level| {
        rows.iter()
            .flat_map(|row| (0..*level).map(|value| row.iter().copied().chain([value]).collect()))
            .collect()
    })
}

/// Every choice of `k` of the numbers below `n`, ascending.
fn choose(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    (k - 1..n)
        .flat_map(|last| choose(last, k - 1).into_iter().map(move |rest| [rest, vec![last]].concat()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every part that some valid row has, counted without the code under test.
    fn coverable(levels: &[usize], valid: impl Fn(&[usize]) -> bool) -> BTreeSet<Part> {
        let rows = product(levels).into_iter().filter(|row| valid(row));
        rows.flat_map(|row| pairs(&row)).collect()
    }

    fn pairs(row: &[usize]) -> Vec<Part> {
        let mut pairs = Vec::new();
        for a in 0..row.len() {
            for b in a + 1..row.len() {
                pairs.push(vec![(a, row[a]), (b, row[b])]);
            }
        }
        pairs
    }

    #[test]
    fn every_pair_that_can_occur_does_and_no_invalid_row_is_chosen() {
        let levels = [2, 7, 5, 13, 2, 2];
        let valid = |row: &[usize]| !(row[1] == 3 && row[2] >= 2 || (row[0] + row[3]).is_multiple_of(11));
        let chosen = cover(&levels, valid, 2);
        assert!(chosen.iter().all(|row| valid(row)));
        let covered: BTreeSet<Part> = chosen.iter().flat_map(|row| pairs(row)).collect();
        assert_eq!(covered, coverable(&levels, valid));
        // No fewer than the two largest factors take together, and far fewer than all 3640.
        assert!((91..130).contains(&chosen.len()), "{}", chosen.len());
    }

    #[test]
    fn is_the_same_each_time_and_chooses_nothing_in_vain() {
        let chosen = cover(&[3, 3, 2], |_| true, 2);
        assert_eq!(chosen, cover(&[3, 3, 2], |_| true, 2));
        assert!((9..=10).contains(&chosen.len()), "{chosen:?}");
        assert_eq!(chosen[0], [0, 0, 0]);
    }

    #[test]
    fn a_strength_of_one_shows_each_value_and_of_three_each_triple() {
        assert_eq!(cover(&[2, 5, 3], |_| true, 1).len(), 5);
        assert_eq!(cover(&[2, 3, 2], |_| true, 3).len(), 12);
        assert_eq!(cover(&[2, 2], |_| false, 2), Vec::<Row>::new());
    }
}
