//! What Envoy prints, kept in memory.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Which of the process's streams a line came from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard output: where access logs to stdout go.
    Stdout,
    /// Standard error: where Envoy's own log goes, and with it what Wasm modules log.
    Stderr,
}

/// A place between two lines; the default is before the first.
#[derive(Clone, Copy, Default)]
pub(super) struct Position(usize);

#[derive(Default)]
struct Shared {
    lines: Mutex<Vec<(Source, String)>>,
    grown: Condvar,
}

/// The lines so far; a clone sees the same lines.
#[derive(Clone, Default)]
pub(super) struct Logs(Arc<Shared>);

impl Logs {
    /// Reads `stream` to its end on a thread of its own.
    pub(super) fn capture(
        &self,
        source: Source,
        stream: impl Read + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let shared = Arc::clone(&self.0);
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line).into_owned();
                shared.lines.lock().expect("log lines").push((source, line));
                shared.grown.notify_all();
            }
        })
    }

    /// The lines from `source`, oldest first.
    pub(super) fn lines(&self, source: Source) -> Vec<String> {
        self.lines_since(source, Position::default())
    }

    /// The lines from `source` after `start`, oldest first.
    pub(super) fn lines_since(&self, source: Source, start: Position) -> Vec<String> {
        let lines = self.0.lines.lock().expect("log lines");
        lines[start.0..].iter().filter(|(from, _)| *from == source).map(|(_, line)| line.clone()).collect()
    }

    /// The present end, to wait for lines after it.
    pub(super) fn end(&self) -> Position {
        Position(self.0.lines.lock().expect("log lines").len())
    }

    /// The first line from `source` after `start` that satisfies `predicate`.
    pub(super) fn wait_for(
        &self,
        source: Source,
        start: Position,
        timeout: Duration,
        predicate: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let deadline = Instant::now() + timeout;
        let mut lines = self.0.lines.lock().expect("log lines");
        let Position(mut seen) = start;
        loop {
            if let Some((_, line)) =
                lines[seen..].iter().find(|(from, line)| *from == source && predicate(line))
            {
                return Some(line.clone());
            }
            seen = lines.len();
            let left = deadline.checked_duration_since(Instant::now())?;
            lines = self.0.grown.wait_timeout(lines, left).expect("log lines").0;
        }
    }

    /// The last lines of Envoy's own log, for a failure message.
    pub(super) fn tail(&self) -> String {
        const TAIL: usize = 60;
        let lines = self.lines(Source::Stderr);
        lines[lines.len().saturating_sub(TAIL)..].join("\n")
    }
}
