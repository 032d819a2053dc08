//! How much CPU time a filter adds to a request.
//!
//! Every variant runs as an Envoy of its own, all at once. In each round every variant gets one burst of requests,
//! in random order, and its process's CPU time is read before and after. A variant is compared with the baseline
//! round by round, so that what the machine does meanwhile falls on both; medians and quartiles of the differences
//! are given.

mod burst;
mod load;
mod statistics;
mod variants;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitCode, Stdio};

use lexopt::prelude::*;
use portcullis_testkit::envoy::{Envoy, workspace_root};

use crate::load::{Layout, Load};
use crate::statistics::Quartiles;
use crate::variants::{Peers, Takes};

const USAGE: &str = "\
Usage: portcullis-overhead [--rounds N] [--requests N] [--messages BYTES,BYTES… [--indented]]
                           [--only NAME,NAME…] [--json FILE]

--rounds     how many rounds are measured (60)
--requests   how many requests a burst has (1500)
--messages   send POSTs of SOAP messages of these sizes in place of GETs
--indented   with white space between the messages' elements
--only       variants to measure beside `bare`
--json       where to write all figures
";

struct Options {
    rounds: usize,
    requests: usize,
    /// Sizes of messages; none for GETs.
    messages: Vec<usize>,
    layout: Layout,
    only: Option<Vec<String>>,
    json: Option<std::path::PathBuf>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("portcullis-overhead: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        rounds: 60,
        requests: 1500,
        messages: Vec::new(),
        layout: Layout::Compact,
        only: None,
        json: None,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Long("requests") => options.requests = arguments.value()?.parse()?,
            Long("messages") => {
                let sizes = arguments.value()?.string()?;
                options.messages = sizes
                    .split(',')
                    .map(|size| {
                        size.parse().map_err(|_| format!("--messages: `{size}` is no number of bytes"))
                    })
                    .collect::<Result<_, _>>()?;
            }
            Long("indented") => options.layout = Layout::Indented,
            Long("only") => {
                options.only = Some(arguments.value()?.string()?.split(',').map(str::to_owned).collect());
            }
            Long("json") => options.json = Some(arguments.value()?.into()),
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(None);
            }
            other => return Err(other.unexpected()),
        }
    }
    if options.rounds == 0 || options.requests == 0 {
        return Err(lexopt::Error::from("--rounds and --requests must be more than 0"));
    }
    // A burst is divided evenly among its connections.
    options.requests = options.requests.next_multiple_of(burst::CONNECTIONS);
    Ok(Some(options))
}

/// A backend process, stopped when dropped.
struct Backend {
    process: Child,
    addr: SocketAddr,
}

impl Backend {
    fn start(arguments: &[&str]) -> Result<Self, Box<dyn std::error::Error>> {
        let program = workspace_root().join("target/native/portcullis-backends");
        let mut process = Command::new(&program)
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}; run `make backends`", program.display()))?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let addr = line.trim().rsplit(' ').next().unwrap_or_default().parse()?;
        Ok(Self { process, addr })
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let Some(options) = options()? else { return Ok(()) };
    let clients = workspace_root().join("k6/backends/clients.example.json");
    let echo = Backend::start(&["echo", "--size", "1024"])?;
    let auth = Backend::start(&["auth", "--clients", clients.to_str().ok_or("a path that is not text")?])?;
    let collector = Backend::start(&["collector"])?;
    let known = variants::all(Peers { echo: echo.addr, auth: auth.addr, collector: collector.addr });
    if let Some(unknown) =
        options.only.iter().flatten().find(|name| known.iter().all(|variant| variant.name != *name))
    {
        let names: Vec<_> = known.iter().map(|variant| variant.name).collect();
        return Err(format!("--only: there is no variant `{unknown}`: {}", names.join(", ")).into());
    }
    let loads = match &options.messages[..] {
        [] => vec![Load::get()],
        sizes => sizes.iter().map(|size| Load::post(*size, options.layout)).collect(),
    };
    let asked = |variant: &variants::Variant| match &options.only {
        Some(only) => only.iter().any(|name| name == variant.name),
        None => variant.takes == Takes::Anything || !options.messages.is_empty(),
    };
    let variants: Vec<_> =
        known.into_iter().filter(|variant| variant.name == "bare" || asked(variant)).collect();
    if options.messages.is_empty()
        && let Some(variant) = variants.iter().find(|variant| variant.takes == Takes::Messages)
    {
        return Err(format!("--only: `{}` needs --messages", variant.name).into());
    }
    let envoys: Vec<Envoy> = variants.iter().map(|variant| Envoy::start(&variant.config)).collect();
    for (variant, envoy) in variants.iter().zip(&envoys) {
        for load in &loads {
            // Warm-up: connections, caches, and the JIT's second tier.
            burst::send(envoy.addr(), 3000 / loads.len(), &load.bytes)
                .map_err(|error| format!("{}: {error}", variant.name))?;
        }
    }
    // CPU time for each request, in microseconds, by load, round and variant.
    let mut figures: Vec<Figures> = vec![Vec::new(); loads.len()];
    for round in 0..options.rounds {
        for (load, figures) in loads.iter().zip(&mut figures) {
            let mut order: Vec<usize> = (0..envoys.len()).collect();
            fastrand::shuffle(&mut order);
            let mut row = vec![0.0; envoys.len()];
            for at in order {
                let before = burst::cpu_time(envoys[at].pid())?;
                burst::send(envoys[at].addr(), options.requests, &load.bytes)
                    .map_err(|error| format!("{}: {error}", variants[at].name))?;
                let spent = burst::cpu_time(envoys[at].pid())?.saturating_sub(before);
                row[at] = spent.as_secs_f64() * 1e6 / options.requests as f64;
            }
            figures.push(row);
        }
        eprint!("\rround {} of {}", round + 1, options.rounds);
    }
    eprintln!();
    println!("CPU time of the Envoy process for each HTTP/1.1 request with a 1 KiB reply, in microseconds;");
    println!("{} rounds of {} requests; median (quartiles).", options.rounds, options.requests);
    let tables: Vec<_> =
        loads.iter().zip(&figures).map(|(load, figures)| report(&variants, load, figures)).collect();
    if let Some(path) = &options.json {
        let document = serde_json::json!({
            "rounds": options.rounds, "requests_per_burst": options.requests, "loads": tables,
        });
        std::fs::write(path, serde_json::to_string_pretty(&document)? + "\n")?;
    }
    Ok(())
}

/// Figures of one load, by round and variant.
type Figures = Vec<Vec<f64>>;

/// Prints the table of a load, and gives all its figures.
fn report(variants: &[variants::Variant], load: &Load, figures: &Figures) -> serde_json::Value {
    let column = |at: usize| figures.iter().map(move |row| row[at]);
    println!("\n{}:\n\n| variant | in all | over bare Envoy |\n|---|---|---|", load.title);
    let mut rows = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        let total = Quartiles::of(column(at));
        let over = Quartiles::of(column(at).zip(column(0)).map(|(own, bare)| own - bare));
        println!(
            "| {} | {total} | {} |",
            variant.title,
            if at == 0 { String::new() } else { over.to_string() }
        );
        rows.push(serde_json::json!({
            "name": variant.name, "title": variant.title, "microseconds": column(at).collect::<Vec<_>>(),
        }));
    }
    serde_json::json!({"title": load.title, "variants": rows})
}
