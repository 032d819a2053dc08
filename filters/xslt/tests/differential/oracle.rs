//! libxslt, by way of Python's lxml.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generate::Pair;

/// A Python that has lxml.
pub(crate) struct Oracle {
    python: PathBuf,
}

/// What libxslt makes of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Output(Vec<u8>),
    Error(String),
}

impl Oracle {
    /// The one that `PORTCULLIS_PYTHON` names, or the one that `.ci/setup` installs. Any that happens to be there will
    /// not do: versions of libxslt differ.
    pub(crate) fn find() -> Option<Self> {
        let named = std::env::var_os("PORTCULLIS_PYTHON").map(PathBuf::from);
        let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/venv/bin/python");
        let found = named.into_iter().chain([installed]).find(|python| {
            let import = Command::new(python).args(["-c", "import lxml.etree"]).output();
            import.is_ok_and(|import| import.status.success())
        });
        if found.is_none() {
            println!("nothing to compare with: there is no Python with lxml; .ci/setup installs one");
        }
        found.map(|python| Self { python })
    }

    /// Under `name`, the pairs are written to a file.
    pub(crate) fn ask(&self, name: &str, pairs: &[Pair]) -> Vec<Answer> {
        let lines: Vec<String> = pairs
            .iter()
            .map(|pair| format!("{} {}\n", hex::encode(&pair.stylesheet), hex::encode(&pair.document)))
            .collect();
        let cases = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&cases, lines.concat()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/oracle.py");
        let answers = Command::new(&self.python).arg(script).arg(&cases).output().unwrap();
        let errors = String::from_utf8_lossy(&answers.stderr);
        assert!(answers.status.success(), "{errors}");
        print!("{errors}");
        let answers = String::from_utf8(answers.stdout).unwrap();
        answers.lines().map(answer).collect()
    }
}

fn answer(line: &str) -> Answer {
    let (kind, bytes) = line.split_once(' ').unwrap();
    let bytes = hex::decode(bytes).unwrap();
    match kind {
        "output" => Answer::Output(bytes),
        "error" => Answer::Error(String::from_utf8(bytes).unwrap()),
        other => panic!("{other}"),
    }
}
