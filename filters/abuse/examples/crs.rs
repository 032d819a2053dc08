//! Sends the requests of the OWASP core rule set's own tests to Envoy with and without the policies, over HTTP/1.1 and
//! HTTP/2, with credentials and without. Fails if one ends a VM, stays without an answer, reaches the upstream without
//! credentials, or is refused for another reason than that its body cannot be read.
//!
//! What the rule set makes of the requests is no matter here: they are shapes that somebody has found to be worth a test.
//!
//! Usage: crs FOLDER    with files in the format of go-ftw, such as `.tools/crs`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, everything};
use portcullis_abuse::raw2::{self, Answer};
use portcullis_testkit::envoy::{ClientError, h1};
use serde_json::json;
use serde_yaml_ng::Value;

/// A request as a test has it.
struct Shape {
    name: String,
    method: String,
    target: String,
    version: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    /// The whole of it, if the test gives it so.
    encoded: Option<Vec<u8>>,
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: crs FOLDER");
        return ExitCode::FAILURE;
    };
    let shapes = shapes(Path::new(&folder));
    // A request that is not whole is not waited for.
    let impatient = json!({"request_timeout": "2s"});
    let bare = Gateway::launch(|config| config.merge_connection_manager(impatient.clone()));
    let gateway =
        Gateway::start_with(&everything(), |config| config.merge_connection_manager(impatient.clone()));
    println!("{} requests", shapes.len());
    let mut outcomes: BTreeMap<(&str, u16, u16), usize> = BTreeMap::new();
    let mut unexpected = Vec::new();
    for shape in &shapes {
        for (over, send) in [("HTTP/1.1", send_1 as fn(&Gateway, &Shape, bool) -> u16), ("HTTP/2", send_2)] {
            let expected = send(&bare, shape, false);
            bare.upstream.take();
            let status = send(&gateway, shape, true);
            gateway.upstream.take();
            *outcomes.entry((over, expected, status)).or_default() += 1;
            // What bare Envoy passes, passes; or it has a body that the policies would have to read, and cannot.
            let is_lawful = status == expected || (expected == 200 && [400, 413, 415].contains(&status));
            // A whole request that the test gives byte by byte has no credentials.
            let is_strange = shape.encoded.is_some() && status == 401;
            if !is_lawful && !is_strange {
                unexpected.push(format!("{over} {}: {status}, and {expected} from bare Envoy", shape.name));
            }
            let status = send(&gateway, shape, false);
            let passed = gateway.upstream.take();
            if !passed.is_empty() && passed.iter().any(|message| !is_exempt(message)) {
                unexpected
                    .push(format!("{over} {}: passed without credentials: {status} {passed:?}", shape.name));
            }
        }
    }
    println!("{:<8} {:>4} {:>8} {:>8}", "over", "bare", "policies", "requests");
    for ((over, bare, policies), count) in &outcomes {
        println!("{over:<8} {bare:>4} {policies:>8} {count:>8}");
    }
    for line in &unexpected {
        println!("unexpected: {line}");
    }
    gateway.assert_sound();
    if unexpected.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the chain lets pass without credentials: CORS preflight requests, and what lies below `/public`.
fn is_exempt(message: &portcullis_abuse::Message) -> bool {
    message.path().starts_with("/public")
        || (message.method == b"OPTIONS" && !message.all("access-control-request-method").is_empty())
}

fn shapes(folder: &Path) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for file in files(folder) {
        let text = std::fs::read_to_string(&file).expect("a test file");
        let document: Value = serde_yaml_ng::from_str(&text).expect("YAML");
        let rule = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for test in document["tests"].as_sequence().into_iter().flatten() {
            for stage in test["stages"].as_sequence().into_iter().flatten() {
                shapes.push(shape(&format!("{rule}-{}", scalar(&test["test_id"])), &stage["input"]));
            }
        }
    }
    assert!(!shapes.is_empty(), "{} has tests", folder.display());
    shapes
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of the tests").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn shape(name: &str, input: &Value) -> Shape {
    let text = |field: &str, default: &str| match &input[field] {
        Value::Null => default.to_owned(),
        value => scalar(value),
    };
    let fields = input["headers"].as_mapping().into_iter().flatten();
    let encoded = input["encoded_request"].as_str().and_then(|text| STANDARD.decode(text.trim()).ok());
    Shape {
        name: name.to_owned(),
        method: text("method", "GET"),
        target: text("uri", "/"),
        version: text("version", "HTTP/1.1"),
        fields: fields.map(|(name, value)| (scalar(name), scalar(value))).collect(),
        body: text("data", "").into_bytes(),
        encoded,
    }
}

/// A scalar as it is written in a request.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(is_true) => is_true.to_string(),
        _ => String::new(),
    }
}

impl Shape {
    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(candidate, _)| candidate.eq_ignore_ascii_case(name))
    }

    /// As go-ftw sends it: with a length for the body, and the connection closed behind it.
    fn bytes(&self, with_credentials: bool) -> Vec<u8> {
        if let Some(encoded) = &self.encoded {
            return encoded.clone();
        }
        let mut bytes = format!("{} {} {}\r\n", self.method, self.target, self.version).into_bytes();
        let mut push =
            |name: &str, value: &[u8]| bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        if with_credentials {
            GOOD.iter().for_each(|(name, value)| push(name, value));
        }
        self.fields.iter().for_each(|(name, value)| push(name, value.as_bytes()));
        if !self.body.is_empty() && !self.has("content-length") && !self.has("transfer-encoding") {
            push("Content-Length", self.body.len().to_string().as_bytes());
        }
        if !self.has("connection") {
            push("Connection", b"close");
        }
        bytes.extend(b"\r\n");
        bytes.extend(&self.body);
        bytes
    }
}

/// The status of the first answer; 0 if the connection was closed without.
fn send_1(gateway: &Gateway, shape: &Shape, with_credentials: bool) -> u16 {
    let mut connection = h1::Connection::open(gateway.addr());
    let _ = connection.send_raw(&shape.bytes(with_credentials));
    let answer =
        if shape.method == "HEAD" { connection.read_head_response() } else { connection.read_response() };
    match answer {
        Ok(response) => response.status,
        Err(ClientError::Timeout) => panic!("{}: no answer over HTTP/1.1", shape.name),
        Err(_) => 0,
    }
}

/// The same over HTTP/2: 0 if the stream was reset or the connection closed.
fn send_2(gateway: &Gateway, shape: &Shape, with_credentials: bool) -> u16 {
    let lower: Vec<(String, &str)> =
        shape.fields.iter().map(|(name, value)| (name.to_lowercase(), value.as_str())).collect();
    let authority = lower.iter().find(|(name, _)| name == "host").map_or("gateway.test", |(_, value)| value);
    let mut block: Vec<(&[u8], &[u8])> = vec![
        (b":method", shape.method.as_bytes()),
        (b":scheme", b"http"),
        (b":authority", authority.as_bytes()),
        (b":path", shape.target.as_bytes()),
    ];
    if with_credentials {
        block.extend(GOOD.map(|(name, value)| (name.as_bytes(), value)));
    }
    // Those that HTTP/2 does not have (RFC 9113, section 8.2.2), and the lengths, which the frames have.
    let left_out =
        ["host", "connection", "transfer-encoding", "content-length", "keep-alive", "upgrade", "te"];
    let fields = lower.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
    block.extend(fields.map(|(name, value)| (name.as_bytes(), value.as_bytes())));
    let body = (!shape.body.is_empty()).then_some(&shape.body[..]);
    match raw2::request(gateway.addr(), &block, body, &[]) {
        Answer::Status(status) => status,
        Answer::Refused => 0,
    }
}
