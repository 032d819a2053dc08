//! An upstream that answers well and remembers everything.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use super::message::Headers;
use super::metered::Metered;
use super::reply::{Reply, ReplyBody};
use super::runtime::runtime;
use super::wait::wait_for;

/// How far a recorded request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Its headers have come, its end has not.
    Arriving,
    /// It has come to its end.
    Complete,
    /// It was aborted before its end, or before it was answered.
    Aborted,
}

/// A piece of a request body as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// When it came.
    pub at: Instant,
    /// Its length in bytes.
    pub len: usize,
}

/// A request as the backend saw it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The method.
    pub method: String,
    /// The path with the query, as it was on the wire.
    pub path: String,
    /// `:authority`, or `Host` over HTTP/1.1.
    pub authority: Option<String>,
    /// Whether it came over HTTP/2.
    pub version: http::Version,
    /// The header fields, names in lower case, pseudo-headers left out. Duplicates keep their order but
    /// stand together, at the place of the first.
    pub headers: Headers,
    /// The body so far.
    pub body: Vec<u8>,
    /// The trailer fields.
    pub trailers: Headers,
    /// When the headers came.
    pub arrived: Instant,
    /// When each piece of the body came.
    pub chunks: Vec<Chunk>,
    /// How far the request has come.
    pub progress: Progress,
}

type Responder = Arc<dyn Fn(&Recorded) -> Reply + Send + Sync>;

struct Shared {
    requests: Mutex<Vec<Arc<Mutex<Recorded>>>>,
    responder: Mutex<Responder>,
    connections: AtomicUsize,
    received: Arc<AtomicU64>,
    in_progress: AtomicUsize,
}

/// A server for HTTP/1.1 and HTTP/2 (prior knowledge) on a free port of 127.0.0.1 that records each request,
/// piece by piece as it comes, and answers as told.
///
/// It answers when the request is whole; the reply may be changed at any time. After a 101 it echoes what comes. It stops listening, and closes
/// its connections, when dropped.
pub struct Backend {
    addr: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

impl Backend {
    /// Starts a backend that answers an empty 200.
    pub fn start() -> Self {
        Self::replying(Reply::default())
    }

    /// Starts a backend that answers `reply`.
    pub fn replying(reply: Reply) -> Self {
        Self::replying_at(SocketAddr::from(([127, 0, 0, 1], 0)), reply)
    }

    /// Starts a backend that answers `reply` on an address that refused connections so far, such as that of a
    /// [`ClosedPort`](super::ClosedPort).
    ///
    /// # Panics
    /// When somebody else listens there.
    #[track_caller]
    pub fn replying_at(addr: SocketAddr, reply: Reply) -> Self {
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            responder: Mutex::new(Arc::new(move |_: &Recorded| reply.clone())),
            connections: AtomicUsize::new(0),
            received: Arc::default(),
            in_progress: AtomicUsize::new(0),
        });
        let listener = runtime().block_on(TcpListener::bind(addr)).expect("a free port");
        let addr = listener.local_addr().expect("a bound address");
        let server = runtime().spawn(accept(listener, Arc::clone(&shared)));
        Self { addr, shared, server }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// From now on, answers `reply`.
    pub fn reply(&self, reply: Reply) {
        self.reply_with(move |_| reply.clone());
    }

    /// From now on, answers what `responder` makes of each request.
    pub fn reply_with(&self, responder: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) {
        *self.shared.responder.lock().expect("responder") = Arc::new(responder);
    }

    /// Every request whose headers came, in the order in which they came.
    pub fn requests(&self) -> Vec<Recorded> {
        let requests = self.shared.requests.lock().expect("requests");
        requests.iter().map(|request| request.lock().expect("request").clone()).collect()
    }

    /// The number of requests whose headers came, whole or not.
    pub fn count(&self) -> usize {
        self.shared.requests.lock().expect("requests").len()
    }

    /// The number of requests that have come, in whole or in part, and have not been answered yet.
    pub fn in_progress(&self) -> usize {
        self.shared.in_progress.load(Ordering::SeqCst)
    }

    /// The number of connections accepted since the start.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The number of bytes received since the start, over all connections. While it stays at zero nothing of
    /// any request has come, not even part of a head.
    pub fn bytes_received(&self) -> u64 {
        self.shared.received.load(Ordering::SeqCst)
    }

    /// Waits until `n` requests are complete, and returns every request.
    ///
    /// # Panics
    /// When they are not within `timeout`.
    #[track_caller]
    pub fn wait_for(&self, n: usize, timeout: Duration) -> Vec<Recorded> {
        self.wait_for_progress(n, timeout, Progress::Complete)
    }

    /// Waits until the headers of `n` requests have come, and returns every request.
    ///
    /// # Panics
    /// When they have not within `timeout`.
    #[track_caller]
    pub fn wait_for_headers(&self, n: usize, timeout: Duration) -> Vec<Recorded> {
        wait_for(&format!("the headers of {n} requests at the backend"), timeout, || {
            Some(self.requests()).filter(|requests| requests.len() >= n)
        })
    }

    /// Waits until `n` requests were aborted, and returns every request.
    ///
    /// # Panics
    /// When they were not within `timeout`.
    #[track_caller]
    pub fn wait_for_aborted(&self, n: usize, timeout: Duration) -> Vec<Recorded> {
        self.wait_for_progress(n, timeout, Progress::Aborted)
    }

    #[track_caller]
    fn wait_for_progress(&self, n: usize, timeout: Duration, progress: Progress) -> Vec<Recorded> {
        wait_for(&format!("{n} requests {progress:?} at the backend"), timeout, || {
            let requests = self.requests();
            let reached = requests.iter().filter(|request| request.progress == progress).count();
            (reached >= n).then_some(requests)
        })
    }

    /// Forgets the requests so far; the counts of connections and bytes go on.
    pub fn clear(&self) {
        self.shared.requests.lock().expect("requests").clear();
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.server.abort();
        // Joined, so that whoever dropped the backend finds its port closed.
        let _ = runtime().block_on(&mut self.server);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let io = TokioIo::new(Metered::new(stream, Arc::clone(&shared.received)));
            let cut = Arc::new(Notify::new());
            let service = service_fn(|request| record(Arc::clone(&shared), Arc::clone(&cut), request));
            // How a connection ends is the peer's affair; what it meant for a request is recorded there.
            let server = auto::Builder::new(TokioExecutor::new());
            tokio::select! {
                _ = server.serve_connection_with_upgrades(io, service) => {}
                () = cut.notified() => {}
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn record(
    shared: Arc<Shared>,
    cut: Arc<Notify>,
    mut request: http::Request<Incoming>,
) -> Result<http::Response<ReplyBody>, Infallible> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (head, mut body) = request.into_parts();
    let exchange = Exchange::begin(shared, &head);
    loop {
        match body.frame().await {
            Some(Ok(frame)) => exchange.update(|request| match frame.into_data() {
                Ok(data) => {
                    request.chunks.push(Chunk { at: Instant::now(), len: data.len() });
                    request.body.extend_from_slice(&data);
                }
                Err(frame) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        request.trailers = Headers::from(&trailers);
                    }
                }
            }),
            Some(Err(_)) => {
                exchange.update(|request| request.progress = Progress::Aborted);
                break;
            }
            None => {
                exchange.update(|request| request.progress = Progress::Complete);
                break;
            }
        }
    }
    let reply = exchange.reply();
    tokio::time::sleep(reply.delay).await;
    if let Some(gate) = &reply.gate {
        gate.pass().await;
    }
    if reply.cuts {
        cut.notify_one();
        std::future::pending::<()>().await;
    }
    exchange.answered();
    let response = reply.into_http();
    if response.status() == http::StatusCode::SWITCHING_PROTOCOLS {
        tokio::spawn(echo(upgrade));
    }
    Ok(response)
}

/// Sends back what comes over a connection that has switched protocols, until the peer ends it.
async fn echo(upgrade: OnUpgrade) {
    if let Ok(upgraded) = upgrade.await {
        let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgraded));
        // How it ends is the peer's affair.
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
    }
}

/// A request under way. Dropped unanswered (hyper drops a handler whose client has gone), it is marked so.
struct Exchange {
    shared: Arc<Shared>,
    request: Arc<Mutex<Recorded>>,
    answered: bool,
}

impl Exchange {
    fn begin(shared: Arc<Shared>, head: &http::request::Parts) -> Self {
        let host = head.headers.get(http::header::HOST);
        let authority = head.uri.authority().map(ToString::to_string);
        let request = Arc::new(Mutex::new(Recorded {
            method: head.method.to_string(),
            path: head.uri.path_and_query().map_or_else(|| head.uri.to_string(), ToString::to_string),
            authority: authority
                .or_else(|| host.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())),
            version: head.version,
            headers: Headers::from(&head.headers),
            body: Vec::new(),
            trailers: Headers::default(),
            arrived: Instant::now(),
            chunks: Vec::new(),
            progress: Progress::Arriving,
        }));
        shared.in_progress.fetch_add(1, Ordering::SeqCst);
        shared.requests.lock().expect("requests").push(Arc::clone(&request));
        Self { shared, request, answered: false }
    }

    fn update(&self, change: impl FnOnce(&mut Recorded)) {
        change(&mut self.request.lock().expect("request"));
    }

    fn reply(&self) -> Reply {
        let responder = Arc::clone(&self.shared.responder.lock().expect("responder"));
        let request = self.request.lock().expect("request").clone();
        responder(&request)
    }

    fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.shared.in_progress.fetch_sub(1, Ordering::SeqCst);
        if !self.answered {
            self.update(|request| request.progress = Progress::Aborted);
        }
    }
}
