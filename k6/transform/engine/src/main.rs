//! The XSLT engine as a program that is told on standard input what to transform, and how often.
//!
//! The measurement starts it twice, native and compiled to `wasm32-wasip1`; `libxslt.c` is libxslt behind the same
//! conversation. README.md has the commands.

use std::io::{self, BufRead, Write};

use portcullis_xml::Limits;
use portcullis_xslt::{
    CompileOptions, NoMessages, Output, Parameter, Parameters, Stylesheet, TransformLimits,
};

/// A compiled stylesheet, and what it is applied to.
struct Job {
    stylesheet: Stylesheet,
    parameters: Parameters,
    input: Vec<u8>,
    xml: Limits,
    limits: TransformLimits,
}

impl Job {
    fn new(stylesheet: &[u8], parameters: &[u8], input: Vec<u8>) -> Result<Self, String> {
        let stylesheet =
            Stylesheet::compile(stylesheet, &CompileOptions::default()).map_err(|error| error.to_string())?;
        let text = std::str::from_utf8(parameters).map_err(|error| error.to_string())?;
        let mut parameters = Parameters::new();
        for line in text.lines() {
            let (name, value) = line.split_once('=').ok_or("a parameter without a value")?;
            parameters.set("", name, Parameter::String(value.to_owned()));
        }
        Ok(Self { stylesheet, parameters, input, xml: Limits::default(), limits: TransformLimits::default() })
    }

    /// From the bytes of the message to the bytes of the result, as for a message on its way through the gateway.
    fn transform(&self) -> Result<Output, String> {
        let source = self.stylesheet.parse(&self.input, &self.xml).map_err(|error| error.to_string())?;
        self.stylesheet
            .transform(source, &self.parameters, &self.limits, &mut NoMessages)
            .map_err(|error| error.to_string())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut jobs = Vec::new();
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let job = |number: &str| -> Result<&Job, Box<dyn std::error::Error>> {
            Ok(jobs.get(number.parse::<usize>()?).ok_or("no such job")?)
        };
        let mut reply = Vec::new();
        match words[..] {
            ["about"] => writeln!(reply, "ok portcullis-xslt {}", env!("CARGO_PKG_VERSION"))?,
            ["job", stylesheet, parameters, message] => {
                let stylesheet = take(&mut input, stylesheet)?;
                let parameters = take(&mut input, parameters)?;
                let message = take(&mut input, message)?;
                jobs.push(Job::new(&stylesheet, &parameters, message)?);
                writeln!(reply, "ok {}", jobs.len() - 1)?;
            }
            ["run", number, count] => {
                let (job, mut length) = (job(number)?, 0);
                for _ in 0..count.parse::<u32>()? {
                    length = std::hint::black_box(job.transform()?).bytes.len();
                }
                writeln!(reply, "ok {length}")?;
            }
            ["show", number] => {
                let bytes = job(number)?.transform()?.bytes;
                writeln!(reply, "ok {}", bytes.len())?;
                reply.extend(bytes);
            }
            _ => return Err("no such command".into()),
        }
        output.write_all(&reply)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

fn take(input: &mut impl BufRead, length: &str) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut bytes = vec![0; length.parse()?];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}
