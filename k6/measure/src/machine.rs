//! On what a figure was taken.

use std::fs;
use std::thread;

use serde_json::{Value, json};

/// The machine, as far as figures depend on it: processor, cores that this process may use, kernel.
#[must_use]
pub fn machine() -> Value {
    json!({
        "processor": processor().unwrap_or_else(|| "unknown".to_owned()),
        "cores": thread::available_parallelism().map_or(0, usize::from),
        "kernel": line("/proc/sys/kernel/osrelease"),
        "load_average": line("/proc/loadavg"),
    })
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
