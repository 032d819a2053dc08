//! What the services share: a listener that says when it is ready, connections that speak HTTP/1.1 or
//! HTTP/2 in clear text as the peer prefers, and an end on SIGINT or SIGTERM.

use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

/// How long to leave `accept` alone after it failed: running out of descriptors is the usual reason, and
/// trying again at once would only burn the processor that could close some.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);

/// Envoy's own default for request headers is 60 KiB; nothing that it lets through should fail here.
const MAX_HEADER_LIST_BYTES: u32 = 64 * 1024;

/// Wide enough that neither streams nor windows are what a load test measures.
const MAX_CONCURRENT_STREAMS: u32 = 1024;
const H2_WINDOW_BYTES: u32 = 1024 * 1024;

/// Why a subcommand could not do its work.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The address cannot be listened on.
    Listen { address: String, source: io::Error },
    /// The runtime or its signal handlers could not be set up.
    Runtime(io::Error),
    /// The clients file cannot be read, or is not a registry.
    Clients { path: PathBuf, reason: String },
    /// No digest could be made of what standard input holds.
    Secret(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Runtime(source) => write!(f, "cannot start: {source}"),
            Self::Clients { path, reason } => write!(f, "clients file {}: {reason}", path.display()),
            Self::Secret(reason) => write!(f, "cannot hash the secret: {reason}"),
        }
    }
}

/// Writes one line to standard error. Unlike `eprintln!`, a closed standard error is no reason to panic.
pub(crate) fn complain(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Listens on `address`, announces it under the service's `name`, and hands each connection to `handle` until
/// a signal ends the process. Exchanges under way are cut off: a load test that is over has nobody waiting
/// for them.
///
/// # Errors
/// When the address cannot be bound, or the runtime cannot be built.
pub(crate) fn run<H, F>(name: &str, address: &str, threads: NonZeroUsize, handle: H) -> Result<(), StartError>
where
    H: Fn(TcpStream) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = match threads.get() {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        n => tokio::runtime::Builder::new_multi_thread().worker_threads(n).enable_all().build(),
    }
    .map_err(StartError::Runtime)?;

    let outcome = runtime.block_on(async {
        // Handlers go in before the ready line: whoever reads that line may send a signal at once.
        let mut interrupt = signal(SignalKind::interrupt()).map_err(StartError::Runtime)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(StartError::Runtime)?;
        let (listener, bound) = bind(address)
            .await
            .map_err(|source| StartError::Listen { address: address.to_owned(), source })?;
        let _ = writeln!(io::stdout(), "{name} listening on {bound}");
        tokio::select! {
            () = accept(&listener, handle) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    });
    runtime.shutdown_background();
    outcome
}

async fn bind(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

async fn accept<H, F>(listener: &TcpListener, handle: H)
where
    H: Fn(TcpStream) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                tokio::spawn(handle(stream));
            }
            Err(error) => {
                complain(format_args!("cannot accept a connection: {error}"));
                tokio::time::sleep(ACCEPT_BACKOFF).await;
            }
        }
    }
}

/// The protocol settings of every connection.
pub(crate) fn http() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http2()
        .max_header_list_size(MAX_HEADER_LIST_BYTES)
        .max_concurrent_streams(MAX_CONCURRENT_STREAMS)
        .initial_stream_window_size(H2_WINDOW_BYTES)
        .initial_connection_window_size(H2_WINDOW_BYTES);
    http
}

/// Reads a request body that nobody wants. An HTTP/1.1 connection can only be used again once the body is off
/// the wire, so answering early would turn a keep-alive load test into a connection storm. Says how many bytes
/// there were.
pub(crate) async fn drain(mut body: Incoming) -> u64 {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
    bytes
}
