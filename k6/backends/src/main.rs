//! Small services to put behind a gateway: an upstream that echoes, an authenticator and a collector of log records
//! that can be told to misbehave. This file is the command line; each subcommand has a module of its own.

mod auth;
mod collector;
mod echo;
mod filler;
mod hash_secret;
mod reply;
mod serve;
mod severable;

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser};

use crate::echo::{Directions, Fault, Faults, MAX_DELAY_MS, MAX_SIZE};
use crate::serve::StartError;

#[derive(Parser)]
#[command(
    version,
    about = "What gateway policies are tried against: an upstream, an authenticator, a collector"
)]
enum Command {
    /// Answer every request: with its own body, with a description of it, or with filler
    Echo(EchoArgs),
    /// Verify client credentials, publish the client registry, and fail on demand
    Auth(AuthArgs),
    /// Collect log records that come by OTLP/HTTP, and fail on demand
    Collector(CollectorArgs),
    /// Read a secret from standard input and print its salted digest for a clients file
    HashSecret,
}

#[derive(Args)]
struct EchoArgs {
    /// Address to listen on; port 0 picks a free one, which the ready line names
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8081")]
    listen: String,
    /// Worker threads
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Reply with this many bytes of filler where the request names no size [at most 64 MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..=MAX_SIZE))]
    size: Option<u64>,
    /// Wait this long before each reply where the request names no delay [at most 60000]
    #[arg(long, value_name = "MS", default_value = "0", value_parser = clap::value_parser!(u64).range(..=MAX_DELAY_MS))]
    delay_ms: u64,
    /// Answer wrongly, to see whether it is noticed
    #[arg(long, value_name = "FAULT")]
    fault: Option<Fault>,
    /// Answer only every Nth request wrongly
    #[arg(long, value_name = "N", default_value = "1", requires = "fault")]
    fault_every: NonZeroU64,
}

#[derive(Args)]
struct AuthArgs {
    /// Address to listen on; port 0 picks a free one, which the ready line names
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8082")]
    listen: String,
    /// The registry of clients (JSON), read again whenever it changes
    #[arg(long, value_name = "FILE")]
    clients: PathBuf,
}

#[derive(Args)]
struct CollectorArgs {
    /// Address to listen on; port 0 picks a free one, which the ready line names
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4318")]
    listen: String,
}

fn main() -> ExitCode {
    let outcome = match Command::parse() {
        Command::Echo(args) => run_echo(&args),
        Command::Auth(args) => auth::run(&args.listen, args.clients),
        Command::Collector(args) => collector::run(&args.listen),
        Command::HashSecret => hash_secret::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            serve::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run_echo(args: &EchoArgs) -> Result<(), StartError> {
    let defaults =
        Directions { size: args.size, delay: Duration::from_millis(args.delay_ms), ..Directions::default() };
    echo::run(&args.listen, args.threads, defaults, Faults::new(args.fault, args.fault_every))
}
