//! Asking libxml2.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// A document, and what is asked about it.
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    pub(crate) document: String,
    pub(crate) cases: Vec<Case>,
}

/// An expression, and the number of the node that it is evaluated for.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Case {
    pub(crate) context: usize,
    pub(crate) expression: String,
}

/// What an expression yields.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Nodes(Vec<usize>),
    Boolean(bool),
    Number(String),
    String(String),
    Error(String),
}

impl Verdict {
    /// Whether both are the same value, to the last bit of a number.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(ours), Self::Number(theirs)) => {
                let [ours, theirs] = [ours, theirs].map(|text| text.parse::<f64>().unwrap());
                ours.is_nan() && theirs.is_nan() || ours.to_bits() == theirs.to_bits()
            }
            _ => self == other,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Nodes(nodes) if nodes.is_empty() => "no nodes",
            Self::Nodes(_) => "nodes",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Error(_) => "error",
        }
    }
}

/// The verdicts on all cases in turn. If there is nobody to ask, it says so, and there are none.
pub(crate) fn ask(items: &[Item]) -> Option<Vec<Verdict>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(python) = python(here) else {
        eprintln!("skipped: there is no Python with lxml: run .ci/setup, or name one in PORTCULLIS_PYTHON");
        return None;
    };
    let mut child = Command::new(python)
        .arg(here.join("tests/xpath_differential/oracle.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the Python that has just been tried");
    // It reads all before it writes anything.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&serde_json::to_vec(items).unwrap()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the oracle has failed: see above");
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// A Python that has lxml. Any that happens to be installed will not do: versions of libxml2 differ.
fn python(here: &Path) -> Option<PathBuf> {
    let named = env::var_os("PORTCULLIS_PYTHON").map(PathBuf::from);
    let candidates = [named, Some(here.join("../../.tools/venv/bin/python"))];
    candidates.into_iter().flatten().find(|python| {
        let tried = Command::new(python).args(["-c", "import lxml.etree"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    })
}
