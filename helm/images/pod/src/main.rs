//! `portcullis-pod`: what a pod with Envoy does before Envoy starts and before it ends, what `helm test` asks, and what
//! is measured in a pod.
//!
//! It is in the modules image, which has no shell. It needs no library and no files but its own, so that it also runs
//! in a distroless image of Envoy.

mod check;
mod drain;
mod expect;
mod http;
mod install;
mod usage;

use std::env;
use std::process::ExitCode;

use expect::{Proxy, Request};

const USAGE: &str = "\
Usage:
  portcullis-pod install DIR [FILE...]           copy files that lie beside this program, and itself, into DIR
  portcullis-pod check FILE... -- COMMAND...     fail unless each file can be the value of a header; then run COMMAND
  portcullis-pod drain ADMIN MIN MAX             have Envoy drain its connections: MIN to MAX seconds
  portcullis-pod expect STATUS ADDR PATH HOST    make a request, and fail unless its answer has this status
  portcullis-pod expect-proxied STATUS ADDR PATH HOST    the same of a listener that wants the PROXY protocol
  portcullis-pod expect-connection ADDR          fail unless somebody takes a connection
  portcullis-pod usage SECONDS                   say ten times a second what this container uses, as lines of JSON

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
        ["install", directory, files @ ..] => {
            let program = env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
            install::install(&program, directory.as_ref(), files)
        }
        ["drain", admin, least, most] => {
            drain::drain(admin, drain::Patience { least: seconds(least)?, most: seconds(most)? })
        }
        ["check", rest @ ..] => {
            let end = rest.iter().position(|argument| *argument == "--").ok_or(USAGE)?;
            let (credentials, command) = rest.split_at(end);
            check::check(credentials, command.get(1..).unwrap_or_default())
        }
        ["expect", status, address, path, host] => {
            expected(status, &Request { address, path, host, proxy: Proxy::Off })
        }
        ["expect-proxied", status, address, path, host] => {
            expected(status, &Request { address, path, host, proxy: Proxy::Unknown })
        }
        ["expect-connection", address] => expect::connect(address),
        ["usage", duration] => usage::report(
            usage::CONTROL_GROUP.as_ref(),
            usage::PROC.as_ref(),
            seconds(duration)?,
            &mut std::io::stdout().lock(),
        ),
        _ => Err(USAGE.to_owned()),
    }
}

fn expected(status: &str, request: &Request<'_>) -> Result<(), String> {
    expect::expect(request, status.parse().map_err(|_| format!("not a status: {status}"))?)
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    text.parse().map(std::time::Duration::from_secs).map_err(|_| format!("not a number of seconds: {text}"))
}
