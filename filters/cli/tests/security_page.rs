//! `docs/security.md` claims only what a test shows, and names the test.
//!
//! A test is named `crate::file::function`: the crate by its folder in `filters`, the file by its name without `.rs`, or
//! by its folder's where it is `main.rs` or `mod.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const FILTERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const PAGE: &str = include_str!("../../../docs/security.md");

/// What stands between backquotes and names a test.
fn named_tests(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|code| code.split("::").count() == 3)
}

/// The source files below a folder, but for those that were built.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn has_test(file: &Path, function: &str) -> bool {
    let source = fs::read_to_string(file).unwrap();
    let signature = format!("fn {function}()");
    source.match_indices(&signature).any(|(at, _)| source[..at].trim_end().ends_with("#[test]"))
}

fn exists(test: &str) -> bool {
    let [crate_folder, module, function] = test.split("::").collect::<Vec<_>>()[..] else { return false };
    let mut files = Vec::new();
    for folder in ["src", "tests"].map(|folder| Path::new(FILTERS).join(crate_folder).join(folder)) {
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    files.iter().filter(|file| name_of(file) == Some(module)).any(|file| has_test(file, function))
}

fn name_of(file: &Path) -> Option<&str> {
    let name = match file.file_stem()?.to_str()? {
        "main" | "mod" => file.parent()?.file_name()?.to_str()?,
        stem => stem,
    };
    Some(name)
}

#[test]
fn every_test_that_the_page_names_exists() {
    let named: BTreeSet<_> = named_tests(PAGE).collect();
    assert!(named.len() > 50, "the page names {} tests", named.len());
    let missing: Vec<_> = named.into_iter().filter(|test| !exists(test)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The rows of tables whose last column is headed `shown by`.
#[test]
fn every_claim_names_a_test() {
    let mut claims = 0;
    let mut is_claim = false;
    for line in PAGE.lines() {
        if !line.starts_with('|') {
            is_claim = false;
        } else if line.ends_with("| shown by |") {
            is_claim = true;
        } else if is_claim && !line.starts_with("|---") {
            claims += 1;
            let last = line.trim_end_matches('|').rsplit('|').next().unwrap();
            assert!(named_tests(last).next().is_some(), "no test is named: {line}");
        }
    }
    assert!(claims > 30, "the page has {claims} claims");
}

#[test]
fn a_test_that_is_not_there_is_noticed() {
    assert!(exists("cli::security_page::a_test_that_is_not_there_is_noticed"));
    for test in
        ["cli::security_page::has_test", "cli::security_page::no_such_test", "cli::no_such_file::main"]
    {
        assert!(!exists(test), "{test}");
    }
}
