//! What came out.

use portcullis_measure::{Interval, Quartiles, machine, median};
use serde_json::{Value, json};

use crate::load::Load;
use crate::options::{Measurement, Options};
use crate::rounds::Figures;
use crate::variants::{Returns, Variant};

/// Prints all tables, and writes the file that is asked for.
pub fn print(
    options: &Options,
    variants: &[Variant],
    loads: &[Load],
    figures: &[Figures],
) -> std::io::Result<()> {
    let replies = match options.measurement {
        Measurement::Requests { .. } => "with a 1 KiB reply",
        Measurement::Replies { .. } => "with the reply that the titles name",
    };
    println!("CPU time of the proxy's process for each HTTP/1.1 request {replies}, in microseconds;");
    println!("{} rounds; median (quartiles).", options.rounds);
    let tables: Vec<_> =
        loads.iter().zip(figures).map(|(load, figures)| table(options, variants, load, figures)).collect();
    if let Some(path) = &options.json {
        let document = json!({
            "rounds": options.rounds, "requests_per_burst": options.requests, "machine": machine(), "loads": tables,
        });
        std::fs::write(path, serde_json::to_string_pretty(&document)? + "\n")?;
    }
    Ok(())
}

/// Prints the table of a load, and gives all its figures.
fn table(options: &Options, variants: &[Variant], load: &Load, figures: &Figures) -> Value {
    let requests = load.scaled(options.requests);
    println!("\n{} ({requests} requests in a burst):\n", load.title);
    println!("| variant | in all | over the proxy alone |\n|---|---|---|");
    let mut rows = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let column: Vec<f64> = figures.iter().map(|row| row[at]).collect();
        let over = baseline(variants, at)
            .filter(|alone| *alone != at)
            .map(|alone| Quartiles::of(figures.iter().map(|row| row[at] - row[alone])).to_string());
        println!(
            "| {} | {} | {} |",
            variant.title,
            Quartiles::of(column.iter().copied()),
            over.unwrap_or_default()
        );
        rows.push(json!({
            "name": variant.name, "title": variant.title, "over": variant.over, "microseconds": column,
        }));
    }
    let ratios: Vec<Value> = rivals(variants)
        .map(|(one, other)| {
            let (added, total) = (ratio_of_added(variants, figures, one, other), ratio(figures, one, other));
            let (one, other) = (&variants[one], &variants[other]);
            println!("\nWhat {} adds is {added:.2} times what {} adds;", one.title, other.title);
            println!("in all it takes {total:.2} times as much (intervals of 95 % confidence, bootstrap).");
            json!({
                "one": one.name, "other": other.name, "added": added.to_json(), "in_all": total.to_json(),
            })
        })
        .collect();
    json!({
        "title": load.title, "requests_per_burst": requests, "variants": rows, "ratios": ratios,
    })
}

fn baseline(variants: &[Variant], of: usize) -> Option<usize> {
    variants.iter().position(|variant| variant.name == variants[of].over)
}

/// Variants of different proxies that do the same to replies.
fn rivals(variants: &[Variant]) -> impl Iterator<Item = (usize, usize)> {
    let transforming: Vec<usize> =
        (0..variants.len()).filter(|at| variants[*at].returns == Returns::Transformed).collect();
    let pairs: Vec<_> = transforming
        .iter()
        .flat_map(|one| transforming.iter().map(move |other| (*one, *other)))
        .filter(|(one, other)| one < other && variants[*one].over != variants[*other].over)
        .collect();
    pairs.into_iter()
}

/// Of the medians of what two variants add, each to its own proxy in the same round.
fn ratio_of_added(variants: &[Variant], figures: &Figures, one: usize, other: usize) -> Interval {
    let added = |rounds: &[&Vec<f64>], at: usize| {
        let alone = baseline(variants, at).unwrap_or(at);
        median(&rounds.iter().map(|row| row[at] - row[alone]).collect::<Vec<_>>())
    };
    Interval::of(figures, |rounds| added(rounds, one) / added(rounds, other))
}

/// Of the times of the same round.
fn ratio(figures: &Figures, one: usize, other: usize) -> Interval {
    Interval::of_median(&figures.iter().map(|row| row[one] / row[other]).collect::<Vec<_>>())
}
