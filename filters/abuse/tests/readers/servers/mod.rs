//! The readers, a file for each server. Those that are not installed are skipped by name.

mod apache;
mod go;
mod java;
mod lighttpd;
mod nginx;
mod node;
mod php;
mod wsgiref;

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

use portcullis_testkit::envoy::Program;

use crate::reader::Reader;

/// With this in the environment, a reader that is not installed fails the test instead of being skipped.
const REQUIRE: &str = "PORTCULLIS_REQUIRE_READERS";

/// Starts a reader, if its programs are installed.
type Start = fn() -> Option<Reader>;

/// What starts each reader, and gives none where a program that it needs is not installed.
const ALL: &[(&str, Start)] = &[
    ("php-cgi, FastCGI behind nginx", php::fastcgi),
    ("php-cgi, CGI in lighttpd", php::cgi),
    ("php's own server", php::own_server),
    ("lighttpd, CGI", lighttpd::cgi),
    ("Apache httpd, CGI", apache::cgi),
    ("nginx, FastCGI parameters", nginx::fastcgi),
    ("nginx, uwsgi parameters", nginx::uwsgi),
    ("Python's wsgiref", wsgiref::start),
    ("Node's http", node::start),
    ("Go's net/http", go::http),
    ("Go's net/http/cgi", go::cgi),
    ("Java's HttpServer", java::start),
];

/// Starts all of them, at the same time.
///
/// # Panics
/// When one does not start, when none is installed, or when one is not and [`REQUIRE`] is set.
pub(crate) fn start() -> Vec<Reader> {
    let started: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = ALL.iter().map(|(name, start)| (*name, scope.spawn(start))).collect();
        threads.into_iter().map(|(name, thread)| (name, thread.join().expect("a reader starts"))).collect()
    });
    let mut readers = Vec::new();
    for (name, reader) in started {
        let Some(reader) = reader else {
            assert!(
                env::var_os(REQUIRE).is_none(),
                "{REQUIRE} is set, but what this needs is not installed: {name}"
            );
            // Past the test harness, which hides what passing tests print.
            let line = format!("skipped, for what it needs is not installed: the reader {name}\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            continue;
        };
        readers.push(reader);
    }
    readers
}

/// Where all of these programs are, if they all are installed.
fn installed<const N: usize>(programs: [&str; N]) -> Option<[PathBuf; N]> {
    let found: Option<Vec<_>> = programs.into_iter().map(|program| Program::find(&[program])).collect();
    found?.try_into().ok()
}
