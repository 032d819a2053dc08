//! The processes that are compared.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use portcullis_measure::cpu_time_at_rest;
use portcullis_transform_workloads::Sheet;

use crate::options::Options;

/// A process that transforms what it is told to.
pub struct Contestant {
    pub name: &'static str,
    pub title: &'static str,
    /// What it says that it is.
    pub about: String,
    process: Child,
    // Taken when it is told that this is the end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Something that a contestant has been told to transform.
#[derive(Debug, Clone, Copy)]
pub struct Job(u32);

/// All that take part; the one that the others are compared with comes last.
pub fn all(options: &Options) -> io::Result<Vec<Contestant>> {
    let mut module = Command::new(std::env::current_exe()?);
    module.arg("--be-the-module").arg(existing(&options.module)?);
    let mut contestants = vec![
        Contestant::start("native", "engine, native", Command::new(existing(&options.engine)?))?,
        Contestant::start("wasm", "engine in Wasm (wasmtime)", module)?,
    ];
    if let Some(libxslt) = &options.libxslt {
        contestants.push(Contestant::start("libxslt", "libxslt, native", Command::new(existing(libxslt)?))?);
    }
    Ok(contestants)
}

fn existing(path: &Path) -> io::Result<&Path> {
    match path.try_exists()? {
        true => Ok(path),
        false => Err(io::Error::other(format!("{}: not there; run `make bench-transform`", path.display()))),
    }
}

impl Contestant {
    fn start(name: &'static str, title: &'static str, mut command: Command) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("no pipe");
        let input = process.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let mut contestant = Self { name, title, about: String::new(), process, input: Some(input), output };
        contestant.about = contestant.ask(b"about\n")?;
        Ok(contestant)
    }

    /// Gives it a message to transform by a stylesheet.
    pub fn add_job(&mut self, sheet: &Sheet, message: &str) -> io::Result<Job> {
        let parameters: String =
            sheet.parameters.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        let head = format!("job {} {} {}\n", sheet.text.len(), parameters.len(), message.len());
        let reply = self.ask([&head, sheet.text, &parameters, message].concat().as_bytes())?;
        Ok(Job(self.number(&reply)?))
    }

    /// The CPU time of one transformation, when it does so many.
    pub fn run(&mut self, job: Job, count: u32) -> io::Result<Duration> {
        let before = cpu_time_at_rest(self.process.id())?;
        self.ask(format!("run {} {count}\n", job.0).as_bytes())?;
        let spent = cpu_time_at_rest(self.process.id())?.saturating_sub(before);
        Ok(spent / count)
    }

    /// The result of a transformation.
    pub fn show(&mut self, job: Job) -> io::Result<Vec<u8>> {
        let reply = self.ask(format!("show {}\n", job.0).as_bytes())?;
        let mut bytes = vec![0; self.number(&reply)? as usize];
        self.output.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// What follows `ok` in its reply.
    fn ask(&mut self, command: &[u8]) -> io::Result<String> {
        let broken = |what: &str| io::Error::other(format!("{}: {what}", self.title));
        let input = self.input.as_mut().ok_or_else(|| broken("has ended"))?;
        input.write_all(command).and_then(|()| input.flush()).map_err(|error| broken(&error.to_string()))?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        match line.trim_end().strip_prefix("ok ") {
            Some(rest) => Ok(rest.to_owned()),
            None => Err(broken("has given up; see its message above")),
        }
    }

    fn number(&self, reply: &str) -> io::Result<u32> {
        reply.parse().map_err(|_| io::Error::other(format!("{}: `{reply}` is no number", self.title)))
    }
}

impl Drop for Contestant {
    fn drop(&mut self) {
        // Without input it ends.
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
