//! The command line of `portcullis transform`.

use std::fmt;
use std::path::PathBuf;

use lexopt::prelude::*;

/// How it is used.
pub const USAGE: &str = "\
Usage:
  portcullis transform --stylesheet FILE [--include NAME=FILE]… [--param NAME=VALUE]… [--limit NAME=NUMBER]… [INPUT]
  portcullis transform --config FILE [--header 'NAME: VALUE']… --request INPUT
  portcullis transform --config FILE [--header 'NAME: VALUE']… [--request-header 'NAME: VALUE']… --response INPUT

The first form applies a stylesheet to a document. The second and the third give a message to the policy
xslt-transform, configured by a JSON document, and show what becomes of it. INPUT is a file, or `-` for standard input,
as if it is left out. The result goes to standard output, as it is; what the stylesheet says by xsl:message, and
errors with their places, go to standard error.

--stylesheet      the stylesheet
--include         a document that it includes or imports, by the name that it has there
--param           a global parameter, as text; NAME may be {NAMESPACE}NAME
--limit           one of the policy's `limits`, such as max_steps; the others have their defaults
--config          the policy's configuration
--request         the body of a request
--response        the body of a response
--header          a header of that message, `:method`, `:path` and `:status` included; without a content-type it is
                  text/xml
--request-header  a header of the request that is answered

Exit status: 0 if there is a result, 1 if the message cannot be transformed, 2 if the stylesheet, the configuration or
the command line is wrong.
";

/// What is asked for.
#[derive(Debug)]
pub(super) enum Command {
    Help,
    Stylesheet(StylesheetOptions),
    Policy(PolicyOptions),
}

/// A document, and the stylesheet that it is transformed by.
#[derive(Debug)]
pub(super) struct StylesheetOptions {
    pub(super) stylesheet: PathBuf,
    /// By name.
    pub(super) includes: Vec<(String, PathBuf)>,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) limits: Vec<(String, u32)>,
    pub(super) input: Input,
}

/// A message, and the configuration of the policy that gets it.
#[derive(Debug)]
pub(super) struct PolicyOptions {
    pub(super) config: PathBuf,
    pub(super) message: Message,
    /// Headers of the message.
    pub(super) headers: Vec<(String, String)>,
    /// Headers of the request, if the message is a response.
    pub(super) request_headers: Vec<(String, String)>,
}

/// A body, and which way it goes.
#[derive(Debug)]
pub(super) enum Message {
    Request(Input),
    Response(Input),
}

/// Where a document comes from.
#[derive(Debug, PartialEq)]
pub(super) enum Input {
    Standard,
    File(PathBuf),
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// What may be on a command line of any form.
#[derive(Default)]
struct Given {
    stylesheet: Option<PathBuf>,
    includes: Vec<(String, PathBuf)>,
    parameters: Vec<(String, String)>,
    limits: Vec<(String, u32)>,
    input: Option<Input>,
    config: Option<PathBuf>,
    message: Option<Message>,
    headers: Vec<(String, String)>,
    request_headers: Vec<(String, String)>,
}

pub(super) fn parse(mut arguments: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut given = Given::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("stylesheet") => given.stylesheet = Some(arguments.value()?.into()),
            Long("include") => {
                let (name, path) = pair("--include", &arguments.value()?.string()?, '=')?;
                given.includes.push((name, path.into()));
            }
            Long("param") => given.parameters.push(parameter(&arguments.value()?.string()?)?),
            Long("limit") => {
                let (name, number) = pair("--limit", &arguments.value()?.string()?, '=')?;
                let number = number.parse().map_err(|_| format!("--limit: {name} must be a number"))?;
                given.limits.push((name, number));
            }
            Long("config") => given.config = Some(arguments.value()?.into()),
            Long("request") => given.message(Message::Request(input(arguments.value()?)))?,
            Long("response") => given.message(Message::Response(input(arguments.value()?)))?,
            Long("header") => given.headers.push(pair("--header", &arguments.value()?.string()?, ':')?),
            Long("request-header") => {
                given.request_headers.push(pair("--request-header", &arguments.value()?.string()?, ':')?);
            }
            Short('h') | Long("help") => return Ok(Command::Help),
            Value(path) if given.input.is_none() => given.input = Some(input(path)),
            other => return Err(other.unexpected()),
        }
    }
    given.command()
}

impl Given {
    fn message(&mut self, message: Message) -> Result<(), lexopt::Error> {
        match self.message.replace(message) {
            None => Ok(()),
            Some(_) => Err("there can be one message only: --request or --response".into()),
        }
    }

    fn command(self) -> Result<Command, lexopt::Error> {
        match (self.stylesheet, self.config, self.message) {
            (Some(stylesheet), None, None) if self.headers.is_empty() && self.request_headers.is_empty() => {
                Ok(Command::Stylesheet(StylesheetOptions {
                    stylesheet,
                    includes: self.includes,
                    parameters: self.parameters,
                    limits: self.limits,
                    input: self.input.unwrap_or(Input::Standard),
                }))
            }
            (None, Some(config), Some(message))
                if self.includes.is_empty()
                    && self.parameters.is_empty()
                    && self.limits.is_empty()
                    && self.input.is_none() =>
            {
                if matches!(message, Message::Request(_)) && !self.request_headers.is_empty() {
                    return Err("--request-header is for responses: say --header".into());
                }
                let (headers, request_headers) = (self.headers, self.request_headers);
                Ok(Command::Policy(PolicyOptions { config, message, headers, request_headers }))
            }
            (None, Some(_), None) => Err("--config needs --request or --response".into()),
            (None, None, _) => Err("needs --stylesheet or --config: see --help".into()),
            _ => Err("these options do not go together: see --help".into()),
        }
    }
}

fn input(value: std::ffi::OsString) -> Input {
    if value == "-" { Input::Standard } else { Input::File(value.into()) }
}

/// The name of a parameter may have a namespace before it, in which there may be anything.
fn parameter(text: &str) -> Result<(String, String), lexopt::Error> {
    let name_from = if text.starts_with('{') { text.find('}').unwrap_or(0) } else { 0 };
    match text.get(name_from..).and_then(|rest| rest.split_once('=')) {
        Some((name, value)) => {
            let namespace = text.get(..name_from).unwrap_or_default();
            Ok((format!("{namespace}{name}"), value.to_owned()))
        }
        None => Err(format!("--param: expected NAME=VALUE, found no `=` in `{text}`").into()),
    }
}

/// Name and value. The name of a header may begin with what separates them.
fn pair(option: &str, text: &str, separator: char) -> Result<(String, String), lexopt::Error> {
    let from = usize::from(text.starts_with(':'));
    let split = text.get(from..).and_then(|rest| rest.split_once(separator));
    match split.and_then(|(name, value)| Some((text.get(..from)?, name, value))) {
        Some((colon, name, value)) => Ok((format!("{colon}{}", name.trim()), value.trim().to_owned())),
        None => Err(format!("{option}: expected a name and a value with `{separator}` between them").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Command, lexopt::Error> {
        parse(lexopt::Parser::from_args(arguments))
    }

    #[test]
    fn names_of_parameters_may_have_namespaces() {
        for (text, name, value) in [
            ("a=b", "a", "b"),
            ("a=", "a", ""),
            ("a=b=c", "a", "b=c"),
            ("{urn:x?y=z}a=b", "{urn:x?y=z}a", "b"),
        ] {
            assert_eq!(parameter(text).unwrap(), (name.to_owned(), value.to_owned()));
        }
        assert!(parameter("a").is_err());
        assert!(parameter("{a=b}c").is_err());
    }

    #[test]
    fn pseudo_headers_begin_with_a_colon() {
        for (text, name, value) in [
            (":path: /a:b", ":path", "/a:b"),
            ("x-a: 1", "x-a", "1"),
            ("x-a:1", "x-a", "1"),
            ("x-a:", "x-a", ""),
        ] {
            assert_eq!(pair("--header", text, ':').unwrap(), (name.to_owned(), value.to_owned()));
        }
        assert!(pair("--header", ":path", ':').is_err());
    }

    #[test]
    fn forms_do_not_mix() {
        for arguments in [
            &["--stylesheet", "a", "--config", "b", "--request", "-"][..],
            &["--stylesheet", "a", "--request", "-"],
            &["--stylesheet", "a", "--header", "a: b"],
            &["--config", "a"],
            &["--config", "a", "--request", "-", "--response", "-"],
            &["--config", "a", "--request", "-", "--param", "a=b"],
            &["--config", "a", "--request", "-", "b.xml"],
            &["--config", "a", "--request", "-", "--request-header", "a: b"],
            &["--stylesheet", "a", "b.xml", "c.xml"],
            &["--stylesheet", "a", "--limit", "max_steps=many"],
            &["b.xml"],
            &[],
        ] {
            assert!(parsed(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn input_that_is_not_named_is_standard_input() {
        for arguments in [&["--stylesheet", "a"][..], &["--stylesheet", "a", "-"]] {
            let Ok(Command::Stylesheet(options)) = parsed(arguments) else { panic!("{arguments:?}") };
            assert_eq!(options.input, Input::Standard);
        }
    }
}
