//! Stylesheets, tried out offline: with the engine alone, or in the policy as it is configured.

mod by_policy;
mod by_stylesheet;
mod failure;
mod options;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use self::failure::Failure;
use self::options::{Command, Input};

pub use self::options::USAGE;

/// Does what the rest of the command line asks for.
pub fn run(arguments: lexopt::Parser) -> ExitCode {
    let done =
        options::parse(arguments).map_err(|error| Failure::Usage(error.to_string())).and_then(|command| {
            match command {
                Command::Help => print(USAGE.as_bytes()),
                Command::Stylesheet(options) => by_stylesheet::run(&options),
                Command::Policy(options) => by_policy::run(&options),
            }
        });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("portcullis: {failure}");
            failure.exit_code()
        }
    }
}

/// The whole of a file, or of standard input.
fn read(input: &Input) -> Result<Vec<u8>, Failure> {
    let bytes = match input {
        Input::Standard => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        Input::File(path) => std::fs::read(path),
    };
    bytes.map_err(|error| Failure::Usage(format!("{input}: {error}")))
}

/// Writes a result as it is, without a line end of its own.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let written = output.write_all(bytes).and_then(|()| output.flush());
    written.map_err(|error| Failure::Usage(format!("standard output: {error}")))
}
