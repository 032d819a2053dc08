//! The command line.

use std::path::PathBuf;

use lexopt::prelude::*;
use portcullis_transform_workloads::{MESSAGES, Message, Sheet, sheet};

use crate::burst;
use crate::load::Layout;

pub const USAGE: &str = "\
Usage: portcullis-overhead [--rounds N] [--requests N] [--messages BYTES,BYTES… [--indented]]
                           [--replies BYTES,BYTES… [--sheet NAME]] [--only NAME,NAME…] [--json FILE]

--rounds     how many rounds are measured (60)
--requests   how many requests a burst has (1500)
--messages   send POSTs of SOAP messages of these sizes in place of GETs
--indented   with white space between the messages' elements
--replies    measure the transformation of replies instead: SOAP messages of these sizes (500, 1024, 10240, 102400),
             in Envoy and in nginx; bursts are shorter for large ones
--sheet      the stylesheet: identity, wso2-there, wso2-back, statement (wso2-back)
--only       variants to measure beside the proxies alone
--json       where to write all figures
";

/// What is measured, and how.
pub struct Options {
    pub rounds: usize,
    pub requests: usize,
    pub measurement: Measurement,
    pub only: Option<Vec<String>>,
    pub json: Option<PathBuf>,
}

/// What is sent, and what it meets.
pub enum Measurement {
    /// Requests that filters look at: GETs if there are no sizes of messages.
    Requests { messages: Vec<usize>, layout: Layout },
    /// Replies that are transformed by a stylesheet.
    Replies { messages: Vec<Message>, sheet: &'static Sheet },
}

/// What is asked for; `None` for the usage.
pub fn parse(mut arguments: lexopt::Parser) -> Result<Option<Options>, lexopt::Error> {
    let (mut rounds, mut requests, mut only, mut json) = (60, 1500, None, None);
    let (mut messages, mut layout) = (Vec::new(), Layout::Compact);
    let (mut replies, mut stylesheet) = (None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("requests") => requests = arguments.value()?.parse()?,
            Long("messages") => {
                messages = listed(&arguments.value()?.string()?, |size| size.parse().ok())
                    .map_err(|size| format!("--messages: `{size}` is no number of bytes"))?;
            }
            Long("indented") => layout = Layout::Indented,
            Long("replies") => {
                let known = |size: &str| MESSAGES.into_iter().find(|known| known.name.to_string() == size);
                let sizes = listed(&arguments.value()?.string()?, known)
                    .map_err(|size| format!("--replies: there is no message of the size `{size}`"))?;
                replies = Some(sizes);
            }
            Long("sheet") => {
                let name = arguments.value()?.string()?;
                let found =
                    sheet(&name).ok_or_else(|| format!("--sheet: there is no `{name}`: see --help"))?;
                stylesheet = Some(found);
            }
            Long("only") => only = Some(arguments.value()?.string()?.split(',').map(str::to_owned).collect()),
            Long("json") => json = Some(arguments.value()?.into()),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if rounds == 0 || requests == 0 {
        return Err("--rounds and --requests must be more than 0".into());
    }
    let measurement = match replies {
        None if stylesheet.is_some() => return Err("--sheet needs --replies".into()),
        None => Measurement::Requests { messages, layout },
        Some(_) if !messages.is_empty() => return Err("--messages and --replies exclude each other".into()),
        Some(messages) => {
            let sheet = stylesheet.or_else(|| sheet("wso2-back")).ok_or("there is no stylesheet")?;
            Measurement::Replies { messages, sheet }
        }
    };
    // A burst is divided evenly among its connections.
    let requests = usize::next_multiple_of(requests, burst::CONNECTIONS);
    Ok(Some(Options { rounds, requests, measurement, only, json }))
}

/// The items of a list, or the first word that is none.
fn listed<T>(text: &str, item: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    text.split(',').map(|word| item(word).ok_or_else(|| word.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Result<Option<Options>, lexopt::Error> {
        parse(lexopt::Parser::from_args(arguments.split_ascii_whitespace()))
    }

    #[test]
    fn bursts_are_divided_evenly() {
        assert_eq!(parsed("--requests 1001").unwrap().unwrap().requests, 1004);
    }

    #[test]
    fn replies_have_the_sizes_of_the_messages_that_there_are() {
        let options = parsed("--replies 1024,10240 --sheet identity").unwrap().unwrap();
        let Measurement::Replies { messages, sheet } = options.measurement else { panic!("requests") };
        assert_eq!(messages, MESSAGES[1..3]);
        assert_eq!(sheet.name, "identity");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for arguments in [
            "--rounds 0",
            "--requests 0",
            "--messages 1k",
            "--replies 1000",
            "--replies 1024 --sheet none",
            "--sheet identity",
            "--messages 500 --replies 500",
            "--reply 500",
        ] {
            assert!(parsed(arguments).is_err(), "{arguments}");
        }
    }
}
