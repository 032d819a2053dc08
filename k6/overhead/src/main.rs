//! How much CPU time a filter adds to a request.
//!
//! Every variant runs as a proxy of its own, all at once. In each round every variant gets one burst of requests,
//! in random order, and its process's CPU time is read before and after. A variant is compared with the same proxy alone
//! round by round, so that what the machine does meanwhile falls on both; medians and quartiles of the differences
//! are given.

mod backend;
mod burst;
mod gateway;
mod load;
mod nginx;
mod options;
mod report;
mod rounds;
mod variants;

use std::process::ExitCode;

use portcullis_testkit::envoy::workspace_root;

use crate::backend::Backend;
use crate::load::Load;
use crate::options::{Measurement, Options};
use crate::variants::{Peers, Takes, Variant};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("portcullis-overhead: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let Some(options) = options::parse(lexopt::Parser::from_env())? else {
        print!("{}", options::USAGE);
        return Ok(());
    };
    match &options.measurement {
        Measurement::Requests { messages, layout } => {
            let loads = match &messages[..] {
                [] => vec![Load::get()],
                sizes => sizes.iter().map(|size| Load::post(*size, *layout)).collect(),
            };
            let clients = workspace_root().join("k6/backends/clients.example.json");
            let echo = Backend::start(&["echo", "--size", &load::FILLER_BYTES.to_string()])?;
            let auth =
                Backend::start(&["auth", "--clients", clients.to_str().ok_or("a path that is not text")?])?;
            let collector = Backend::start(&["collector"])?;
            let peers = Peers { echo: echo.addr, auth: auth.addr, collector: collector.addr };
            let takes_part = |variant: &Variant| variant.takes == Takes::Anything || !messages.is_empty();
            measure(&options, variants::all(peers), takes_part, &loads)
        }
        Measurement::Replies { messages, sheet } => {
            let loads = messages
                .iter()
                .enumerate()
                .map(|(number, size)| Load::reply(number, *size, sheet))
                .collect::<Result<Vec<_>, _>>()?;
            let documents = loads.iter().filter_map(Load::document).map(str::to_owned).collect();
            let upstream = backend::serve_documents(documents)?;
            measure(&options, variants::transforming(upstream, sheet), |_| true, &loads)
        }
    }
}

fn measure(
    options: &Options,
    known: Vec<Variant>,
    takes_part: impl Fn(&Variant) -> bool,
    loads: &[Load],
) -> Result<(), Box<dyn std::error::Error>> {
    let variants = chosen(known, options.only.as_deref(), takes_part)?;
    let figures = rounds::measure(&variants, loads, options)?;
    report::print(options, &variants, loads, &figures)?;
    Ok(())
}

/// The variants that are asked for, with the proxies alone that they are compared with.
fn chosen(
    known: Vec<Variant>,
    only: Option<&[String]>,
    takes_part: impl Fn(&Variant) -> bool,
) -> Result<Vec<Variant>, String> {
    for name in only.into_iter().flatten() {
        match known.iter().find(|variant| variant.name == name) {
            Some(variant) if takes_part(variant) => {}
            Some(_) => return Err(format!("--only: `{name}` needs --messages")),
            None => {
                let names: Vec<_> = known.iter().map(|variant| variant.name).collect();
                return Err(format!("--only: there is no variant `{name}`: {}", names.join(", ")));
            }
        }
    }
    let asked = |variant: &Variant| match only {
        Some(only) => only.iter().any(|name| name == variant.name),
        None => takes_part(variant),
    };
    let alone: Vec<_> = known.iter().filter(|variant| asked(variant)).map(|variant| variant.over).collect();
    Ok(known.into_iter().filter(|variant| asked(variant) || alone.contains(&variant.name)).collect())
}
