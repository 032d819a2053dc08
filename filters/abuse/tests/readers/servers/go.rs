//! Go's net/http and net/http/cgi.

use std::process::Command;

use super::installed;
use crate::reader::{Plan, Reader, run, source};

/// A server of net/http.
pub(super) fn http() -> Option<Reader> {
    start("go-http", "http")
}

/// A server of net/http/cgi, which runs itself for each request as a CGI program of net/http/cgi.
pub(super) fn cgi() -> Option<Reader> {
    start("go-cgi", "cgi")
}

fn start(name: &'static str, kind: &str) -> Option<Reader> {
    let [go] = installed(["go"])?;
    let plan = Plan { name, reads_queries: true, reads_json: true };
    Some(plan.start(|folder, addr| {
        let program = folder.file("reader");
        // By whoever runs the tests, in whose cache the compiled library is.
        let built = Command::new(&go).arg("build").arg("-o").arg(&program).arg(source("reader.go")).status();
        assert!(built.is_ok_and(|status| status.success()), "go cannot build the reader");
        vec![run(&program, |command| {
            command.arg(addr.port().to_string()).arg(kind);
        })]
    }))
}
