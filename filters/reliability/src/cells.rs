//! The situations of the matrix: which there are, and which of them are run.

use serde::{Deserialize, Serialize};

use crate::axes::{Dependency, Failure, Fault, Framing, Mode, Pace, Protocol, Subject};
use crate::covering::{cover, product};

/// Numbers of worker threads.
pub const WORKERS: [u32; 2] = [1, 2];

/// How many values are combined with each other in every way: pairs.
pub const STRENGTH: usize = 2;

/// One situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// What stands in Envoy.
    pub subject: Subject,
    /// What is configured for outages.
    pub mode: Mode,
    /// How many worker threads Envoy has.
    pub workers: u32,
    /// HTTP between client and Envoy.
    pub protocol: Protocol,
    /// What the request is like.
    pub framing: Framing,
    /// How it comes.
    pub pace: Pace,
    /// What fails, if anything does.
    pub fault: Option<Fault>,
}

impl Cell {
    /// A name that no other cell has, fit to be a path.
    pub fn id(&self) -> String {
        let fault = match self.fault {
            None => "all up".to_owned(),
            Some(fault) => format!("{} {}", fault.dependency.name(), fault.failure.name()),
        };
        let mode = if self.mode == Mode::Fixed { "fixed" } else { self.mode.name() };
        let workers = format!("{} worker", self.workers);
        let parts = [
            self.subject.name(),
            mode,
            &workers,
            &self.protocol.name().replace('/', " "),
            self.framing.name(),
            self.pace.name(),
            &fault,
        ];
        parts.join("/").to_lowercase().replace(' ', "-")
    }

    /// How this dependency fails, if it does.
    pub fn failure_of(&self, dependency: Dependency) -> Option<Failure> {
        self.fault.filter(|fault| fault.dependency == dependency).map(|fault| fault.failure)
    }

    /// The service in whose call-out the client leaves, if it does so: the one that fails, else the first that is asked.
    pub fn left_during(&self) -> Option<Dependency> {
        if self.pace != Pace::AbortedMidCallOut {
            return None;
        }
        let asked = asked_while_waiting(self.subject);
        let failing = self.fault.map(|fault| fault.dependency).filter(|failing| asked.contains(failing));
        failing.or(asked.first().copied())
    }

    /// Why this combination does not exist, if it does not.
    pub fn excluded(&self) -> Option<&'static Rule> {
        RULES.iter().find(|rule| (rule.excludes)(self))
    }
}

/// The services that are asked while the request waits.
fn asked_while_waiting(subject: Subject) -> Vec<Dependency> {
    let asked = [Dependency::Auth, Dependency::Limits];
    asked.into_iter().filter(|dependency| subject.dependencies().contains(dependency)).collect()
}

/// A kind of combination that does not exist.
pub struct Rule {
    /// What is left out.
    pub what: &'static str,
    /// Why.
    pub why: &'static str,
    excludes: fn(&Cell) -> bool,
}

/// Every kind of combination that does not exist.
pub const RULES: &[Rule] = &[
    Rule {
        what: "no body, HEAD or upgrade × paused or aborted mid-body",
        why: "There is no body in the middle of which that could be.",
        excludes: |cell| !cell.framing.has_body() && matches!(cell.pace, Pace::Paused | Pace::AbortedMidBody),
    },
    Rule {
        what: "access-log, content-router, xslt-transform × aborted mid-call-out",
        why: "No request waits for a call-out of theirs: the first one's are made when the exchange is over, and the \
              others make none.",
        excludes: |cell| cell.pace == Pace::AbortedMidCallOut && asked_while_waiting(cell.subject).is_empty(),
    },
    Rule {
        what: "aborted mid-call-out × the service that is asked refuses or resets",
        why: "The call-out is over as soon as it begins; there is no moment in which to leave.",
        excludes: |cell| {
            let failure = cell.left_during().and_then(|dependency| cell.failure_of(dependency));
            matches!(failure, Some(Failure::Refused | Failure::Reset))
        },
    },
    Rule {
        what: "upgrade × slow upstream",
        why: "A handshake has no end, so that Envoy's timeout of the route does not begin; no policy has a part in it.",
        excludes: |cell| {
            cell.framing == Framing::Upgrade && cell.failure_of(Dependency::Upstream) == Some(Failure::Slow)
        },
    },
    Rule {
        what: "upgrade × huge reply of the upstream",
        why: "What follows an upgrade is a tunnel, not a reply.",
        excludes: |cell| {
            cell.framing == Framing::Upgrade && cell.failure_of(Dependency::Upstream) == Some(Failure::Huge)
        },
    },
];

/// Every combination of this subject's that exists.
pub fn possible(subject: Subject) -> Vec<Cell> {
    let factors = Factors::of(subject);
    let rows = product(&factors.levels());
    rows.iter().filter(|row| factors.exists(row)).map(|row| factors.cell(row)).collect()
}

/// The cells of this subject that are run: every pair of values that can occur does, and each failure, under each
/// configuration, also with a client that waits for the answer.
pub fn chosen(subject: Subject) -> Vec<Cell> {
    let mut cells = combining(subject, STRENGTH);
    for fault in subject.faults() {
        for mode in subject.modes() {
            let alike = |cell: &&Cell| {
                (cell.fault, cell.mode) == (fault, *mode)
                    && cell.framing.has_body()
                    && !cell.pace.is_aborted()
            };
            if !cells.iter().any(|cell| alike(&cell)) {
                let at = cells.len();
                cells.push(Cell {
                    subject,
                    mode: *mode,
                    workers: WORKERS[at % WORKERS.len()],
                    protocol: Protocol::ALL[at / 2 % Protocol::ALL.len()],
                    framing: Framing::Length,
                    pace: Pace::Paused,
                    fault,
                });
            }
        }
    }
    cells
}

/// Cells of this subject such that whatever so many values can occur together do so in one of them.
pub fn combining(subject: Subject, strength: usize) -> Vec<Cell> {
    let factors = Factors::of(subject);
    let rows = cover(&factors.levels(), |row| factors.exists(row), strength);
    rows.iter().map(|row| factors.cell(row)).collect()
}

/// The cells of all subjects that are run.
pub fn all() -> Vec<Cell> {
    Subject::ALL.iter().flat_map(|subject| chosen(*subject)).collect()
}

/// A few, for a quick look: of each subject some in which each value occurs, within one configuration of Envoy.
pub fn few() -> Vec<Cell> {
    let of = |subject: &Subject| {
        let factors = Factors::of(*subject);
        let alike = |row: &[usize]| {
            let cell = factors.cell(row);
            factors.exists(row)
                && (cell.mode, cell.workers) == (subject.modes()[0], WORKERS[0])
                && cell.fault.is_none_or(|fault| fault.failure != Failure::Slow)
        };
        let rows = cover(&factors.levels(), alike, 1);
        rows.iter().map(|row| factors.cell(row)).collect::<Vec<_>>()
    };
    Subject::ALL.iter().flat_map(of).collect()
}

/// The values that the cells of a subject are made of.
struct Factors {
    subject: Subject,
    faults: Vec<Option<Fault>>,
}

impl Factors {
    fn of(subject: Subject) -> Self {
        Self { subject, faults: subject.faults() }
    }

    /// How many values each has: those of a row, in its order.
    fn levels(&self) -> [usize; 6] {
        [
            self.faults.len(),
            Framing::ALL.len(),
            Pace::ALL.len(),
            Protocol::ALL.len(),
            WORKERS.len(),
            self.subject.modes().len(),
        ]
    }

    fn cell(&self, row: &[usize]) -> Cell {
        Cell {
            subject: self.subject,
            fault: self.faults[row[0]],
            framing: Framing::ALL[row[1]],
            pace: Pace::ALL[row[2]],
            protocol: Protocol::ALL[row[3]],
            workers: WORKERS[row[4]],
            mode: self.subject.modes()[row[5]],
        }
    }

    fn exists(&self, row: &[usize]) -> bool {
        self.cell(row).excluded().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The values of a cell, each with the name of its axis.
    fn values(cell: &Cell) -> [String; 6] {
        [
            format!("mode {:?}", cell.mode),
            format!("workers {}", cell.workers),
            format!("{:?}", cell.protocol),
            format!("framing {:?}", cell.framing),
            format!("pace {:?}", cell.pace),
            format!("fault {:?}", cell.fault),
        ]
    }

    fn pairs(cells: &[Cell]) -> BTreeSet<(String, String)> {
        let mut pairs = BTreeSet::new();
        for cell in cells {
            let values = values(cell);
            for (at, a) in values.iter().enumerate() {
                pairs.extend(values[at + 1..].iter().map(|b| (a.clone(), b.clone())));
            }
        }
        pairs
    }

    #[test]
    fn every_pair_of_values_that_can_occur_is_run_for_each_subject() {
        for subject in Subject::ALL {
            let (possible, chosen) = (possible(*subject), chosen(*subject));
            assert!(chosen.iter().all(|cell| cell.excluded().is_none()));
            assert_eq!(pairs(&chosen), pairs(&possible), "{subject:?}");
            assert!(chosen.len() * 4 < possible.len(), "{subject:?}: {} of {}", chosen.len(), possible.len());
        }
    }

    #[test]
    fn every_failure_is_run_under_each_configuration_with_a_client_that_waits() {
        for subject in Subject::ALL {
            let chosen = chosen(*subject);
            let waiting = chosen.iter().filter(|cell| cell.framing.has_body() && !cell.pace.is_aborted());
            let seen: BTreeSet<_> = waiting.map(|cell| (cell.fault, cell.mode)).collect();
            assert_eq!(seen.len(), subject.faults().len() * subject.modes().len(), "{subject:?}");
        }
    }

    #[test]
    fn no_value_is_excluded_altogether() {
        let values: BTreeSet<_> = possible(Subject::Gateway).iter().flat_map(values).collect();
        assert_eq!(values.len(), 2 + 2 + 2 + 7 + 5 + 25);
    }

    #[test]
    fn names_tell_cells_apart() {
        let cells = all();
        let names: BTreeSet<_> = cells.iter().map(Cell::id).collect();
        assert_eq!(names.len(), cells.len());
        let id = cells[0].id();
        assert!(
            id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "/-.".contains(c)),
            "{id}"
        );
    }

    #[test]
    fn the_few_show_every_subject_request_and_pace() {
        let few = few();
        for subject in Subject::ALL {
            let of: Vec<_> = few.iter().filter(|cell| cell.subject == *subject).collect();
            let framings: BTreeSet<_> = of.iter().map(|cell| cell.framing).collect();
            assert_eq!(framings.len(), Framing::ALL.len(), "{subject:?}");
        }
    }
}
