//! The published matrix is whole, good, and what the page shows; and some of it holds now.

use std::collections::BTreeSet;
use std::fs;

use portcullis_reliability::cells::{self, Cell};
use portcullis_reliability::page::page;
use portcullis_reliability::results::Results;
use portcullis_reliability::run::run;

fn published() -> Results {
    Results::read(&Results::published()).expect("docs/reliability.json: run `make matrix`")
}

#[test]
fn the_published_page_shows_the_published_results() {
    let found = fs::read_to_string(Results::published().with_extension("md")).unwrap();
    assert!(found == page(&published()), "docs/reliability.md has drifted: run `make matrix`");
}

#[test]
fn the_published_results_have_each_cell_once_and_no_other() {
    let results = published();
    let ids: Vec<_> = results.cells.iter().map(|row| row.cell.id()).collect();
    let expected: Vec<_> = cells::all().iter().map(Cell::id).collect();
    let (found, wanted): (BTreeSet<_>, BTreeSet<_>) = (ids.iter().collect(), expected.iter().collect());
    let missing: Vec<_> = wanted.difference(&found).collect();
    let surplus: Vec<_> = found.difference(&wanted).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "run `make matrix`: {missing:?} {surplus:?}");
    assert_eq!(ids.len(), expected.len());
}

#[test]
fn everything_published_is_as_it_must_be() {
    for row in published().cells {
        assert_eq!(row.differences(), Vec::<String>::new(), "{}", row.cell.id());
    }
    for (name, run) in published().long_runs {
        assert_eq!(run.faults, Vec::<String>::new(), "{name}");
    }
}

/// In Envoy: every kind and pace of request, and most failures, for each policy and for the chain.
#[test]
fn some_of_the_matrix_is_as_it_must_be() {
    let cells = cells::few();
    let rows = run(&cells);
    assert_eq!(rows.len(), cells.len());
    for row in rows {
        assert_eq!(row.differences(), Vec::<String>::new(), "{}", row.cell.id());
    }
}

/// What is compared would show it if it were otherwise: the same requests, held against the model of another situation.
#[test]
fn another_outcome_would_be_noticed() {
    let results = published();
    let mut noticed = 0;
    for row in &results.cells {
        for other in results.cells.iter().filter(|other| other.cell.subject == row.cell.subject) {
            let expected = portcullis_reliability::model::expect(&other.cell);
            let same = portcullis_reliability::model::expect(&row.cell) == expected;
            if !same {
                noticed += 1;
                assert_ne!(expected.differences(&row.observed), Vec::<String>::new());
            }
        }
    }
    assert!(noticed > 10_000, "{noticed}");
}
