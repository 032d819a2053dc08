//! What came out.

use std::io;

use portcullis_measure::{Interval, machine};
use portcullis_transform_workloads::Sheet;
use serde_json::{Value, json};

use crate::contestant::{Contestant, Job};
use crate::options::Options;

/// A stylesheet with a message, and what all contestants took for it.
pub struct Work {
    pub sheet: &'static Sheet,
    /// Size of the message.
    pub bytes: usize,
    /// By contestant.
    pub jobs: Vec<Job>,
    /// How many transformations a burst has, by contestant.
    pub counts: Vec<u32>,
    /// Microseconds for each transformation, by round and contestant.
    pub rounds: Vec<Vec<f64>>,
}

impl Work {
    fn time(&self, contestant: usize) -> Interval {
        Interval::of_median(&self.rounds.iter().map(|row| row[contestant]).collect::<Vec<_>>())
    }

    /// The time of one by the time of another, of the same round.
    fn ratio(&self, one: usize, other: usize) -> Interval {
        Interval::of_median(&self.rounds.iter().map(|row| row[one] / row[other]).collect::<Vec<_>>())
    }
}

/// Prints a table, and writes the file that is asked for.
pub fn print(contestants: &[Contestant], works: &[Work], options: &Options) -> io::Result<()> {
    let ratios = ratios(contestants);
    println!(
        "CPU time of a transformation from bytes to bytes, in microseconds; {} rounds of",
        options.rounds
    );
    println!(
        "{} ms. Medians with their intervals of 95 % confidence (bootstrap).\n",
        options.burst.as_millis()
    );
    for contestant in contestants {
        println!("- {}: {}", contestant.title, contestant.about);
    }
    print!("\n| stylesheet | bytes |");
    contestants.iter().for_each(|contestant| print!(" {} |", contestant.title));
    ratios.iter().for_each(|(name, ..)| print!(" {name} |"));
    println!("\n|---|---|{}", "---|".repeat(contestants.len() + ratios.len()));
    for work in works {
        print!("| {} | {} |", work.sheet.title, work.bytes);
        (0..contestants.len()).for_each(|at| print!(" {} |", work.time(at)));
        ratios.iter().for_each(|(_, one, other)| print!(" {:.2} |", work.ratio(*one, *other)));
        println!();
    }
    match &options.json {
        Some(path) => {
            let text = serde_json::to_string_pretty(&document(contestants, works, options))?;
            std::fs::write(path, text + "\n")
        }
        None => Ok(()),
    }
}

/// Whose times are set against each other, by name and place.
fn ratios(contestants: &[Contestant]) -> Vec<(String, usize, usize)> {
    let place = |name| contestants.iter().position(|contestant| contestant.name == name);
    [("wasm", "libxslt"), ("native", "libxslt"), ("wasm", "native")]
        .into_iter()
        .filter_map(|(one, other)| Some((format!("{one} / {other}"), place(one)?, place(other)?)))
        .collect()
}

fn document(contestants: &[Contestant], works: &[Work], options: &Options) -> Value {
    let ratios = ratios(contestants);
    let works: Vec<Value> = works
        .iter()
        .map(|work| {
            let by_name = |at: usize| {
                let microseconds: Vec<f64> = work.rounds.iter().map(|row| row[at]).collect();
                json!({
                    "name": contestants[at].name,
                    "transformations_per_burst": work.counts[at],
                    "median_microseconds": work.time(at).to_json(),
                    "microseconds": microseconds,
                })
            };
            let compared: Vec<Value> = ratios
                .iter()
                .map(|(name, one, other)| json!({"name": name, "median": work.ratio(*one, *other).to_json()}))
                .collect();
            json!({
                "stylesheet": work.sheet.name,
                "message_bytes": work.bytes,
                "times": (0..contestants.len()).map(by_name).collect::<Vec<_>>(),
                "ratios": compared,
            })
        })
        .collect();
    let about = |contestant: &Contestant| json!({"name": contestant.name, "title": contestant.title, "about": contestant.about});
    json!({
        "measures": "CPU time of one transformation, from the bytes of the message to those of the result",
        "intervals": "value, and the ends of its 95 % confidence interval by the bootstrap",
        "machine": machine(),
        "contestants": contestants.iter().map(about).collect::<Vec<_>>(),
        "rounds": options.rounds,
        "burst_ms": u64::try_from(options.burst.as_millis()).unwrap_or(u64::MAX),
        "works": works,
    })
}
