//! Runs h2spec, a conformance test of HTTP/2 (RFC 7540 and 7541), on Envoy with and without the policies. Fails if a case
//! fails with them that passes without.
//!
//! h2spec waits for some answers by the clock: a case counts as failed if it fails in each of three runs.
//!
//! Usage: h2spec PROGRAM

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::everything;

const RUNS: usize = 3;

fn main() -> ExitCode {
    let Some(program) = std::env::args().nth(1) else {
        eprintln!("usage: h2spec PROGRAM");
        return ExitCode::FAILURE;
    };
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    let mut is_good = true;
    // Below the first path requests are exempt and reach the upstream; at the second they are refused.
    for path in ["/public", "/"] {
        let (run, allowed) = failures(&program, &bare, path);
        let (_, mut failed) = failures(&program, &gateway, path);
        for _ in 1..RUNS {
            if failed.is_subset(&allowed) {
                break;
            }
            failed = &failed & &failures(&program, &gateway, path).1;
        }
        println!(
            "{path}: {run} cases; bare Envoy fails {}, with the policies {}",
            allowed.len(),
            failed.len()
        );
        for case in &allowed {
            println!("  bare Envoy fails: {case}");
        }
        for case in failed.difference(&allowed) {
            println!("  only with the policies: {case}");
            is_good = false;
        }
    }
    gateway.assert_sound();
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all cases: how many there are, and the names of those that fail.
fn failures(program: &str, gateway: &Gateway, path: &str) -> (usize, BTreeSet<String>) {
    let report = std::env::temp_dir().join(format!("portcullis-h2spec-{}.xml", std::process::id()));
    let addr = gateway.addr();
    // It ends with a status of 1 when a case fails, and without a report when it could not run.
    let output = Command::new(program)
        .args(["--host", &addr.ip().to_string(), "--port", &addr.port().to_string(), "--path", path])
        .args(["--timeout", "5", "--junit-report"])
        .arg(&report)
        .output()
        .expect("h2spec can be run");
    let text = std::fs::read_to_string(&report)
        .unwrap_or_else(|error| panic!("no report: {error}\n{}", String::from_utf8_lossy(&output.stdout)));
    let _ = std::fs::remove_file(&report);
    let cases: Vec<&str> = text.split("<testcase ").skip(1).collect();
    assert!(cases.len() > 100, "h2spec has run {} cases", cases.len());
    let attribute = |case: &str, name: &str| -> String {
        let value = case.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        value.unwrap_or_default().to_owned()
    };
    let failed = cases
        .iter()
        .filter(|case| case.contains("<failure") || case.contains("<error"))
        .map(|case| format!("{}: {}", attribute(case, "package"), attribute(case, "classname")))
        .collect();
    (cases.len(), failed)
}
