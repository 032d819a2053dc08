//! A backend as a child process, and a client that speaks to it as Envoy would.

#![allow(dead_code, unreachable_pub, reason = "shared by several test binaries, each of which uses a part")]
#![allow(clippy::expect_used, clippy::panic, reason = "a test helper fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream as BlockingStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper::{HeaderMap, Request, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// Longer than anything here takes; it only bounds how long a failure lasts.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the program to its end with nothing on standard input.
pub fn run_to_end(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_portcullis-backends"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

/// A file for one test, named after it.
pub fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    std::fs::write(&path, content).expect("the file is written");
    path
}

/// A running backend, ended with the test.
pub struct Backend {
    pub child: Child,
    pub address: SocketAddr,
    complaints: Receiver<String>,
}

impl Backend {
    pub fn echo(args: &[&str]) -> Self {
        Self::start(&[&["echo"], args].concat())
    }

    pub fn auth(clients: &std::path::Path) -> Self {
        Self::start(&["auth", "--clients", clients.to_str().expect("a UTF-8 path")])
    }

    pub fn collector() -> Self {
        Self::start(&["collector"])
    }

    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_portcullis-backends"))
            .args(args)
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");

        let (sender, complaints) = channel();
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });

        let mut ready = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        stdout.read_line(&mut ready).expect("stdout is text");
        let address = ready
            .strip_prefix(&format!("{} listening on ", args[0]))
            .and_then(|rest| rest.strip_suffix('\n')?.parse().ok())
            .unwrap_or_else(|| panic!("not a ready line: {ready:?}"));
        Self { child, address, complaints }
    }

    /// The next line on standard error.
    pub fn complaint(&self) -> String {
        self.complaints.recv_timeout(PATIENCE).expect("a line on stderr")
    }

    /// Lines on standard error that nobody asked for yet.
    pub fn complaints_so_far(&self) -> Vec<String> {
        self.complaints.try_iter().collect()
    }

    pub fn raw(&self) -> Raw {
        let stream = BlockingStream::connect(self.address).expect("the backend accepts");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        Raw { stream }
    }

    pub async fn h1(&self) -> H1 {
        let stream = TcpStream::connect(self.address).await.expect("the backend accepts");
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        H1(sender, self.address)
    }

    pub async fn h2(&self) -> H2 {
        let stream = TcpStream::connect(self.address).await.expect("the backend accepts");
        let (sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
        tokio::spawn(connection);
        H2(sender, self.address)
    }

    /// GET over a connection of its own.
    pub async fn get(&self, path: &str) -> Reply {
        self.h1().await.send("GET", path, &[], "").await.expect("a reply")
    }

    /// Any request over a connection of its own.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &'static str,
    ) -> Reply {
        self.h1().await.send(method, path, headers, body).await.expect("a reply")
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection whose bytes are the test's own.
pub struct Raw {
    stream: BlockingStream,
}

impl Raw {
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the backend takes bytes");
    }

    /// Everything up to the end of the connection, or the error that ended it.
    pub fn read_to_end(mut self) -> std::io::Result<String> {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Everything up to and including `marker`.
    pub fn read_until(&mut self, marker: &str) -> String {
        let mut seen = String::new();
        while !seen.ends_with(marker) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap_or_else(|e| panic!("{e} after {seen:?}"));
            seen.push(char::from(byte[0]));
        }
        seen
    }
}

/// A reply that has been read to its end.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

impl Reply {
    async fn read(reply: hyper::Response<hyper::body::Incoming>) -> hyper::Result<Self> {
        let (head, body) = reply.into_parts();
        let body = body.collect().await?;
        let trailers = body.trailers().cloned();
        let body = body.to_bytes();
        Ok(Self { status: head.status, version: head.version, headers: head.headers, body, trailers })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a text header"))
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a text body")
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

fn request<B>(uri: &str, method: &str, headers: &[(&str, &str)], body: B) -> Request<B> {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body).expect("a request")
}

type Sent = Full<Bytes>;

pub struct H1(http1::SendRequest<Sent>, SocketAddr);

impl H1 {
    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> hyper::Result<Reply> {
        self.0.ready().await?;
        let mut request = request(path, method, headers, Full::from(body.into()));
        let host = self.1.to_string().parse().expect("an address is a header value");
        request.headers_mut().insert("host", host);
        Reply::read(self.0.send_request(request).await?).await
    }
}

pub struct H2(http2::SendRequest<Sent>, SocketAddr);

impl H2 {
    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> hyper::Result<Reply> {
        self.0.ready().await?;
        let uri = format!("http://{}{path}", self.1);
        let request = request(&uri, method, headers, Full::from(body.into()));
        Reply::read(self.0.send_request(request).await?).await
    }
}

/// Whether an exchange failed because the peer reset the connection.
pub fn is_reset(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionReset)
        || error.source().is_some_and(is_reset)
}
