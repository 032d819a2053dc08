//! Runs cells in real Envoys.

mod client;
mod dependency;
mod messages;
mod observe;
mod setting;
mod testbed;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use crate::cells::Cell;
use crate::model::expect;
use crate::results::Row;
use portcullis_testkit::envoy::envoy_binary;
use setting::Setting;
use testbed::Testbed;

/// How many Envoys run at a time.
const AT_A_TIME: usize = 2;

/// Runs these cells, those of one configuration in one Envoy, and returns what became of each, in their order.
///
/// # Panics
/// When Envoy or a fixture does not start, or what must happen in any case does not.
pub fn run(cells: &[Cell]) -> Vec<Row> {
    let mut groups: BTreeMap<Setting, Vec<Cell>> = BTreeMap::new();
    for cell in cells {
        groups.entry(Setting::of(cell)).or_default().push(*cell);
    }
    let queue = Mutex::new(groups.into_iter().collect::<Vec<_>>());
    let rows = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let group = queue.lock().expect("the queue").pop();
                    let Some((setting, cells)) = group else { return };
                    let done = run_group(setting, &cells);
                    rows.lock().expect("the rows").extend(done);
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("the rows");
    cells.iter().filter_map(|cell| rows.remove(cell)).collect()
}

/// The version that Envoy says it is, such as `1.40.0`.
///
/// # Panics
/// When Envoy is not installed, or does not say.
pub fn envoy_version() -> String {
    let output = Command::new(envoy_binary()).arg("--version").output().expect("Envoy runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // .../envoy  version: REVISION/VERSION/Clean/RELEASE/BoringSSL
    let version = text.split("version:").nth(1).and_then(|version| version.split('/').nth(1));
    version.expect("Envoy says its version").to_owned()
}

fn run_group(setting: Setting, cells: &[Cell]) -> Vec<(Cell, Row)> {
    let begun = Instant::now();
    let mut testbed = Testbed::start(setting);
    let started = begun.elapsed();
    let rows: Vec<_> = cells
        .iter()
        .map(|cell| {
            let expected = expect(cell);
            let observed = testbed.run(cell, &expected);
            let row = Row { cell: *cell, observed };
            for difference in row.differences() {
                eprintln!("{}\n    {difference}", cell.id());
            }
            (*cell, row)
        })
        .collect();
    testbed.check_totals(rows.iter().map(|(_, row)| &row.observed));
    eprintln!(
        "{}: {} cells in {:.1} s, and {:.1} s to start",
        setting.name(),
        rows.len(),
        (begun.elapsed() - started).as_secs_f64(),
        started.as_secs_f64()
    );
    rows
}
