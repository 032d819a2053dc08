//! `portcullis`: checks configuration documents offline, exactly as the modules would, and writes the reference
//! documentation that is generated from the configuration types.

mod check;
mod reference;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;

const USAGE: &str = "\
Usage:
  portcullis check DOCUMENT FILE   check a JSON document as its reader would
  portcullis schema DOCUMENT       print a JSON Schema
  portcullis docs [--root DIR]     write the generated parts of the documentation

DOCUMENT  gateway (no schema), client-id, access-log, rate-limit, content-router: a module's configuration;
          client-registry: a list of clients
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("portcullis: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = lexopt::Parser::from_env();
    let mut words: Vec<String> = Vec::new();
    let mut root = PathBuf::from(".");
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("root") => root = arguments.value()?.into(),
            Short('h') | Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            Value(word) => words.push(word.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check", document, file] => {
            let text = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
            check::check(document, &text).map_err(|error| format!("{file}: {error}"))?;
            println!("{file}: good");
            Ok(())
        }
        ["schema", document] => {
            print!("{}", schema::text(document).ok_or_else(|| format!("{document}: no such document"))?);
            Ok(())
        }
        ["docs"] => {
            for (path, content) in reference::generated(&root)? {
                let path = root.join(path);
                if std::fs::read_to_string(&path).ok().as_deref() != Some(&content) {
                    std::fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
                    println!("wrote {}", path.display());
                }
            }
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

#[cfg(test)]
mod tests;
