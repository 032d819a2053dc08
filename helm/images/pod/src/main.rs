//! `portcullis-pod`: what a pod with Envoy does before Envoy starts and before it ends, and what `helm test` asks.
//!
//! It is in the modules image, which has no shell. It needs no library and no files but its own, so that it also runs
//! in a distroless image of Envoy.

mod drain;
mod expect;
mod http;
mod install;

use std::env;
use std::process::ExitCode;

const USAGE: &str = "\
Usage:
  portcullis-pod install DIR FILE...             copy files that lie beside this program, and itself, into DIR
  portcullis-pod drain ADMIN MIN MAX             have Envoy drain its connections: MIN to MAX seconds
  portcullis-pod expect STATUS ADDR PATH HOST    make a request, and fail unless its answer has this status

ADMIN   address of Envoy's administration, as 127.0.0.1:9901
STATUS  0 stands for any
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("portcullis-pod: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        ["install", directory, files @ ..] if !files.is_empty() => {
            let program = env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
            install::install(&program, directory.as_ref(), files)
        }
        ["drain", admin, least, most] => {
            drain::drain(admin, drain::Patience { least: seconds(least)?, most: seconds(most)? })
        }
        ["expect", status, address, path, host] => {
            let status = status.parse().map_err(|_| format!("not a status: {status}"))?;
            expect::expect(&expect::Request { address, path, host }, status)
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse().map(std::time::Duration::from_secs).map_err(|_| format!("not a number of seconds: {text}"))
}
