//! Runs the reliability matrix and writes its results and their page.
//!
//! ```text
//! portcullis-reliability            runs all cells, writes docs/reliability.json and docs/reliability.md
//! portcullis-reliability page       writes both anew from the results
//! portcullis-reliability cells STRENGTH PREFIX
//!                                   runs the cells whose names begin so, and writes nothing: with a STRENGTH of 2 those
//!                                   of the matrix, with 3 those in which each triple of values occurs
//! portcullis-reliability soak MINUTES
//!                                   looks for growth under load for so long
//! portcullis-reliability pushes MINUTES
//!                                   the same with 24 new configurations a minute
//!
//! The long runs put their figures into the same files.
//! ```
//!
//! It fails when anything is not as it must be.

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use portcullis_reliability::axes::Subject;
use portcullis_reliability::cells::{self, Cell};
use portcullis_reliability::page::page;
use portcullis_reliability::results::{LongRun, Results, Row};
use portcullis_reliability::run;
use portcullis_reliability::soak;

/// What is wrong, a sentence for each; none if nothing.
type Faults = Vec<String>;

const PUSHES_A_MINUTE: u32 = 24;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match act(&arguments) {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            faults.iter().for_each(|fault| eprintln!("{fault}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the arguments say, and returns what is not as it must be.
fn act(arguments: &[&str]) -> Result<Faults, Box<dyn Error>> {
    match arguments {
        [] => {
            // The long runs stay as they are.
            let long_runs = Results::read(&Results::published()).map(|old| old.long_runs).unwrap_or_default();
            publish(&Results { envoy: run::envoy_version(), cells: run::run(&cells::all()), long_runs })
        }
        ["page"] => publish(&Results::read(&Results::published())?),
        ["cells", strength, prefix] => {
            let strength = strength.parse()?;
            let all = Subject::ALL.iter().flat_map(|subject| cells::combining(*subject, strength));
            let cells: Vec<Cell> = all.filter(|cell| cell.id().starts_with(prefix)).collect();
            println!("{} cells", cells.len());
            Ok(bad(&run::run(&cells)))
        }
        ["soak", minutes] => publish_long_run("soak", soak::soak(duration(minutes)?)),
        ["pushes", minutes] => publish_long_run("pushes", soak::pushes(duration(minutes)?, PUSHES_A_MINUTE)),
        _ => Err("no such command: the beginning of src/main.rs lists them".into()),
    }
}

fn duration(minutes: &str) -> Result<Duration, Box<dyn Error>> {
    Ok(Duration::from_secs_f64(minutes.parse::<f64>()? * 60.0))
}

fn publish(results: &Results) -> Result<Faults, Box<dyn Error>> {
    let published = Results::published();
    fs::write(&published, results.to_json()?)?;
    fs::write(published.with_extension("md"), page(results))?;
    println!("{}: {} cells", published.display(), results.cells.len());
    Ok(bad(&results.cells))
}

fn publish_long_run(name: &str, run: LongRun) -> Result<Faults, Box<dyn Error>> {
    println!("{run:#?}");
    let mut results = Results::read(&Results::published())?;
    let faults = run.faults.clone();
    results.long_runs.insert(name.to_owned(), run);
    publish(&results)?;
    Ok(faults)
}

/// The names of the cells that are not as they must be; the run has said why.
fn bad(rows: &[Row]) -> Faults {
    let bad = rows.iter().filter(|row| !row.differences().is_empty());
    bad.map(|row| format!("not as it must be: {}", row.cell.id())).collect()
}
