//! The program, as the measurement talks to it.
#![cfg(test)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

const SHEET: &str =
    "<b xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:value-of select='a'/></b>";

fn converse(input: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_portcullis-transform-engine"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended before it has read anything.
    let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
    process.wait_with_output().unwrap()
}

fn job(parameters: &str, message: &str) -> String {
    format!("job {} {} {}\n{SHEET}{parameters}{message}", SHEET.len(), parameters.len(), message.len())
}

#[test]
fn jobs_are_numbered_run_and_shown() {
    let input = job("", "<a>1</a>") + &job("x=1\ny=2\n", "<a>22</a>") + "run 1 3\nshow 0\nshow 1\n";
    let output = converse(&input);
    let result = |text: &str| format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<b>{text}</b>");
    let (first, second) = (result("1"), result("22"));
    let (shorter, longer) = (first.len(), second.len());
    let expected = format!("ok 0\nok 1\nok {longer}\nok {shorter}\n{first}ok {longer}\n{second}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert!(output.status.success());
}

#[test]
fn what_cannot_be_done_ends_the_conversation() {
    for input in ["run 0 1\n".to_owned(), "jump\n".to_owned(), job("", "<a>") + "run 0 1\n", job("x", "<a/>")]
    {
        let output = converse(&input);
        assert!(!output.status.success(), "{input}");
        assert!(!output.stderr.is_empty(), "{input}");
    }
}
