//! The program as a process: how it starts, refuses to start, and ends.

#![allow(clippy::expect_used, reason = "a test helper fails by panicking")]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use hyper::StatusCode;

use support::{Backend, PATIENCE, file, run_to_end};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients.example.json");

#[test]
fn names_the_address_that_is_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();

    for args in [
        &["echo", "--listen", &address] as &[&str],
        &["auth", "--clients", EXAMPLE, "--listen", &address],
        &["collector", "--listen", &address],
    ] {
        let output = run_to_end(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            stderr.starts_with(&format!("cannot listen on {address}: Address already in use")),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn refuses_a_clients_file_that_is_missing_or_wrong() {
    let wrong = file("wrong", r#"{"version": 1, "clients": [{"id": "a", "seckrets": []}]}"#);
    let wrong = wrong.to_str().expect("a UTF-8 path");
    for (path, reason) in [("/does/not/exist.json", "No such file"), (wrong, "unknown field `seckrets`")] {
        let output = run_to_end(&["auth", "--listen", "127.0.0.1:0", "--clients", path]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr.starts_with(&format!("clients file {path}: ")) && stderr.contains(reason), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn refuses_flags_out_of_range() {
    for args in [
        ["echo", "--size", "67108865"],
        ["echo", "--delay-ms", "60001"],
        ["echo", "--threads", "0"],
        ["echo", "--fault", "fire"],
        ["echo", "--fault-every", "2"],
    ] {
        assert_eq!(run_to_end(&args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn ends_well_and_promptly_on_a_signal() {
    for signal in ["INT", "TERM"] {
        for mut backend in
            [Backend::echo(&["--threads", "2"]), Backend::auth(Path::new(EXAMPLE)), Backend::collector()]
        {
            // An exchange that is under way must not hold the end up.
            let mut raw = backend.raw();
            raw.write("GET /?delay_ms=60000 HTTP/1.1\r\nhost: e\r\n\r\n");

            let start = Instant::now();
            let sent =
                Command::new("kill").args([&format!("-{signal}"), &backend.child.id().to_string()]).status();
            assert!(sent.is_ok_and(|status| status.success()));
            let status = backend.child.wait().expect("it ends");

            assert_eq!((status.code(), status.signal()), (Some(0), None), "{signal}");
            assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        }
    }
}

fn hash_secret(stdin: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis-backends"))
        .arg("hash-secret")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    child.stdin.take().expect("stdin is piped").write_all(stdin.as_bytes()).expect("it reads");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().expect("stdout is piped").read_to_string(&mut stdout).expect("text");
    child.stderr.take().expect("stderr is piped").read_to_string(&mut stderr).expect("text");
    (child.wait().expect("it ends").code(), stdout, stderr)
}

#[tokio::test]
async fn a_hashed_secret_can_go_into_a_clients_file() {
    let (code, first, _) = hash_secret("tiger\r\nnot this line\n");
    assert_eq!(code, Some(0));
    let (_, second, _) = hash_secret("tiger");
    assert_ne!(first, second, "every digest has a salt of its own");

    for (at, secret) in [first, second].iter().enumerate() {
        let document = format!(r#"{{"version": 1, "clients": [{{"id": "a", "secrets": [{secret}]}}]}}"#);
        let auth = Backend::auth(&file(&format!("hashed-{at}"), &document));
        // a:tiger, then a:lion
        for (token, expected) in [("YTp0aWdlcg==", StatusCode::OK), ("YTpsaW9u", StatusCode::UNAUTHORIZED)] {
            let authorization = format!("Basic {token}");
            let reply = auth.send("GET", "/verify", &[("authorization", &authorization)], "").await;
            assert_eq!(reply.status, expected);
        }
    }
}

#[test]
fn there_is_no_digest_of_nothing() {
    for stdin in ["", "\n", "\r\n"] {
        let (code, stdout, stderr) = hash_secret(stdin);
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert_eq!(stderr, "cannot hash the secret: standard input holds no secret on its first line\n");
    }
}
