//! How long transformations take: of the suite's engine, native and inside Wasm, and of libxslt.
//!
//! Each of the three is a process of its own that is told what to transform and how often. In each round each of them
//! does each piece of work for about as long, in random order, and its CPU time is read before and after; figures are
//! compared round by round.

mod contestant;
mod options;
mod report;
mod wasm;

use std::process::ExitCode;

use portcullis_transform_workloads::message;

use crate::contestant::Contestant;
use crate::options::{Command, Options};
use crate::report::Work;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("portcullis-transform-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    match options::parse(lexopt::Parser::from_env())? {
        Command::Help => {
            print!("{}", options::USAGE);
            Ok(())
        }
        Command::Module(path) => wasm::run(&path),
        Command::Measure(options) => measure(&options),
    }
}

fn measure(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let mut contestants = contestant::all(options)?;
    let mut works = Vec::new();
    for sheet in &options.sheets {
        for size in &options.sizes {
            works.push(prepare(&mut contestants, sheet, message(*size, sheet.names))?);
        }
    }
    for work in &mut works {
        calibrate(&mut contestants, work, options)?;
    }
    for round in 0..options.rounds {
        for work in &mut works {
            let mut order: Vec<usize> = (0..contestants.len()).collect();
            fastrand::shuffle(&mut order);
            let mut row = vec![0.0; contestants.len()];
            for at in order {
                row[at] = contestants[at].run(work.jobs[at], work.counts[at])?.as_secs_f64() * 1e6;
            }
            work.rounds.push(row);
        }
        eprint!("\rround {} of {}", round + 1, options.rounds);
    }
    eprintln!();
    report::print(&contestants, &works, options)?;
    Ok(())
}

/// Gives all of them the work, and sees that all do the same.
fn prepare(
    contestants: &mut [Contestant],
    sheet: &'static portcullis_transform_workloads::Sheet,
    input: String,
) -> Result<Work, Box<dyn std::error::Error>> {
    let mut work = Work { sheet, bytes: input.len(), jobs: vec![], counts: vec![], rounds: vec![] };
    let mut expected: Option<Vec<u8>> = None;
    for contestant in contestants {
        let job = contestant.add_job(sheet, &input)?;
        // libxslt ends the last line of a result; whether a document ends so is of no account.
        let result = contestant.show(job)?.trim_ascii_end().to_vec();
        match &expected {
            Some(expected) if *expected != result => {
                return Err(format!(
                    "{}, {} bytes: the result of {} is another one",
                    sheet.title,
                    input.len(),
                    contestant.title
                )
                .into());
            }
            _ => expected = Some(result),
        }
        work.jobs.push(job);
    }
    Ok(work)
}

/// Finds out how many transformations take about as long as a burst shall. This is the warm-up, too.
fn calibrate(
    contestants: &mut [Contestant],
    work: &mut Work,
    options: &Options,
) -> Result<(), Box<dyn std::error::Error>> {
    for (contestant, job) in contestants.iter_mut().zip(&work.jobs) {
        let mut count = 1;
        loop {
            let each = contestant.run(*job, count)?;
            let spent = each * count;
            if spent * 2 >= options.burst {
                let fitting = options.burst.as_secs_f64() / each.as_secs_f64();
                work.counts.push((fitting.round() as u32).max(1));
                break;
            }
            count *= 2;
        }
    }
    Ok(())
}
