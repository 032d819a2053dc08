//! The command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lexopt::prelude::*;
use portcullis_transform_workloads::{MESSAGES, Message, SHEETS, Sheet, sheet};

pub const USAGE: &str = "\
Usage: portcullis-transform-bench [--rounds N] [--burst-ms MS] [--sizes BYTES,BYTES…] [--sheets NAME,NAME…]
                                  [--engine FILE] [--module FILE] [--libxslt FILE | --without-libxslt] [--json FILE]

--rounds           how many rounds are measured (60)
--burst-ms         how long one of them works on one thing in a round, about (30)
--sizes            messages: 500, 1024, 10240, 102400 (all but the smallest)
--sheets           stylesheets: identity, wso2-there, wso2-back, statement (all)
--engine           the engine's program (dist/bench/transform-engine)
--module           the same for wasm32-wasip1 (dist/bench/transform-engine.wasm)
--libxslt          libxslt's program (dist/bench/transform-libxslt)
--without-libxslt  where libxslt is not installed
--json             where to write all figures
";

/// What is asked for.
pub enum Command {
    Help,
    Measure(Options),
    /// To be the process in which a module runs.
    Module(PathBuf),
}

/// What is measured, and how.
pub struct Options {
    pub rounds: usize,
    pub burst: Duration,
    pub sizes: Vec<Message>,
    pub sheets: Vec<&'static Sheet>,
    pub engine: PathBuf,
    pub module: PathBuf,
    /// None to measure without it.
    pub libxslt: Option<PathBuf>,
    pub json: Option<PathBuf>,
}

pub fn parse(mut arguments: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let built = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/bench").join(name);
    let mut options = Options {
        rounds: 60,
        burst: Duration::from_millis(30),
        sizes: MESSAGES[1..].to_vec(),
        sheets: SHEETS.iter().collect(),
        engine: built("transform-engine"),
        module: built("transform-engine.wasm"),
        libxslt: Some(built("transform-libxslt")),
        json: None,
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Long("burst-ms") => options.burst = Duration::from_millis(arguments.value()?.parse()?),
            Long("sizes") => {
                options.sizes = listed(&arguments.value()?.string()?, "size", |name| {
                    MESSAGES.into_iter().find(|message| message.name.to_string() == name)
                })?;
            }
            Long("sheets") => {
                options.sheets = listed(&arguments.value()?.string()?, "stylesheet", sheet)?;
            }
            Long("engine") => options.engine = arguments.value()?.into(),
            Long("module") => options.module = arguments.value()?.into(),
            Long("libxslt") => options.libxslt = Some(arguments.value()?.into()),
            Long("without-libxslt") => options.libxslt = None,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("be-the-module") => return Ok(Command::Module(arguments.value()?.into())),
            Short('h') | Long("help") => return Ok(Command::Help),
            other => return Err(other.unexpected()),
        }
    }
    if options.rounds == 0 || options.burst.is_zero() {
        return Err("--rounds and --burst-ms must be more than 0".into());
    }
    Ok(Command::Measure(options))
}

fn listed<T>(text: &str, kind: &str, find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, lexopt::Error> {
    text.split(',')
        .map(|name| find(name).ok_or_else(|| format!("there is no {kind} `{name}`: see --help").into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Command, lexopt::Error> {
        parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn sizes_and_sheets_are_chosen_by_name() {
        let Ok(Command::Measure(options)) = parsed(&["--sizes", "500,10240", "--sheets", "identity"]) else {
            panic!("refused");
        };
        assert_eq!(options.sizes, [MESSAGES[0], MESSAGES[2]]);
        assert_eq!(options.sheets.len(), 1);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for arguments in [
            ["--sizes", "1000"],
            ["--sheets", "wso2"],
            ["--rounds", "0"],
            ["--burst-ms", "0"],
            ["--size", "1"],
        ] {
            assert!(parsed(&arguments).is_err(), "{arguments:?}");
        }
    }
}
