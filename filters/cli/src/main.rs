//! `portcullis`: checks configuration documents and tries out stylesheets offline, exactly as the modules would, and
//! writes the reference documentation that is generated from the configuration types.

mod check;
mod reference;
mod schema;
mod transform;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;

const USAGE: &str = "\
Usage:
  portcullis check DOCUMENT FILE   check a JSON document as its reader would
  portcullis schema DOCUMENT       print a JSON Schema
  portcullis docs [--root DIR]     write the generated parts of the documentation
  portcullis transform …           transform a document, or a message as the policy would: see transform --help

DOCUMENT  gateway (no schema), client-id, access-log, rate-limit, content-router, xslt-transform: a module's
          configuration; client-registry: a list of clients
";

fn main() -> ExitCode {
    match run() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("portcullis: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = lexopt::Parser::from_env();
    let mut words: Vec<String> = Vec::new();
    let mut root = PathBuf::from(".");
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("root") => root = arguments.value()?.into(),
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            // It has options and a status of its own.
            Value(word) if words.is_empty() && word == "transform" => return Ok(transform::run(arguments)),
            Value(word) => words.push(word.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", document, file] => {
            let text = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
            check::check(document, &text).map_err(|error| format!("{file}: {error}"))?;
            println!("{file}: good");
            Ok(ExitCode::SUCCESS)
        }
        ["schema", document] => {
            print!("{}", schema::text(document).ok_or_else(|| format!("{document}: no such document"))?);
            Ok(ExitCode::SUCCESS)
        }
        ["docs"] => {
            for (path, content) in reference::generated(&root)? {
                let path = root.join(path);
                if std::fs::read_to_string(&path).ok().as_deref() != Some(&content) {
                    std::fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
                    println!("wrote {}", path.display());
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.into()),
    }
}

#[cfg(test)]
mod tests;
