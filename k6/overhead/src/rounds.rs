//! The measurement itself.

use std::io;

use portcullis_measure::cpu_time_at_rest;

use crate::burst;
use crate::gateway::Gateway;
use crate::load::Load;
use crate::options::Options;
use crate::variants::Variant;

/// Requests of a kilobyte that come before the first round: connections, caches, and the JIT's second tier.
const WARM_UP: usize = 3000;

/// CPU time of one load for each request, in microseconds, by round and variant.
pub type Figures = Vec<Vec<f64>>;

/// A variant, running.
struct Contestant<'a> {
    variant: &'a Variant,
    gateway: Gateway,
}

impl Contestant<'_> {
    fn send(&self, load: &Load, requests: usize) -> Result<(), String> {
        burst::send(self.gateway.addr(), requests, &load.bytes, load.expected(self.variant.returns))
            .map_err(|error| format!("{}: {error}", self.variant.name))
    }

    /// Microseconds for each request.
    fn measure(&self, load: &Load, requests: usize) -> Result<f64, Box<dyn std::error::Error>> {
        let read = || -> io::Result<_> { cpu_time_at_rest(self.gateway.pid()) };
        let before = read()?;
        self.send(load, requests)?;
        Ok(read()?.saturating_sub(before).as_secs_f64() * 1e6 / requests as f64)
    }
}

/// Runs all variants at once, and gives each of them a burst of each load in each round, in random order.
pub fn measure(
    variants: &[Variant],
    loads: &[Load],
    options: &Options,
) -> Result<Vec<Figures>, Box<dyn std::error::Error>> {
    let contestants = variants
        .iter()
        .map(|variant| {
            let gateway = Gateway::start(&variant.config);
            let gateway = gateway.map_err(|error| format!("{}: {error}", variant.name))?;
            Ok(Contestant { variant, gateway })
        })
        .collect::<Result<Vec<_>, String>>()?;
    for contestant in &contestants {
        for load in loads {
            contestant.send(load, load.scaled(WARM_UP / loads.len()))?;
        }
    }
    let mut figures: Vec<Figures> = vec![Vec::new(); loads.len()];
    for round in 0..options.rounds {
        for (load, figures) in loads.iter().zip(&mut figures) {
            let mut order: Vec<usize> = (0..contestants.len()).collect();
            fastrand::shuffle(&mut order);
            let mut row = vec![0.0; contestants.len()];
            for at in order {
                row[at] = contestants[at].measure(load, load.scaled(options.requests))?;
            }
            figures.push(row);
        }
        eprint!("\rround {} of {}", round + 1, options.rounds);
    }
    eprintln!();
    Ok(figures)
}
