//! An upstream that misbehaves on demand.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::gate::Gate;
use super::runtime::runtime;
use super::wait::wait_until;
use super::wire::read_request;

/// What a [`HostileServer`] does with a request. Replies are written as they are: see [`http_reply`].
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers with these bytes and keeps the connection open.
    Reply(Vec<u8>),
    /// Answers with these bytes after a while.
    ReplyAfter(Duration, Vec<u8>),
    /// Holds each request until [`HostileServer::open_gate`], then answers with these bytes.
    Gate(Vec<u8>),
    /// Resets the connection (RST) once the request is read.
    Reset,
    /// Closes each connection when it is accepted, and those already open at their next request.
    CloseAtOnce,
    /// Answers with bytes that are no HTTP, then closes.
    Garbage,
    /// Reads the request and never answers.
    Hang,
    /// Announces a longer body than it sends, then closes.
    HalfReply,
    /// Answers with these bytes one at a time, with this pause between them.
    Drip(Duration, Vec<u8>),
}

/// The bytes of an HTTP/1.1 response with a `content-length`.
pub fn http_reply(status: u16, headers: &[(&str, &[u8])], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Scripted\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    bytes
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    gate: Gate,
    heads: Mutex<Vec<Vec<u8>>>,
    connections: AtomicUsize,
    open_connections: AtomicUsize,
}

impl Shared {
    fn behaviour(&self) -> Behaviour {
        self.behaviour.lock().expect("behaviour").clone()
    }
}

/// A raw TCP server on a free port of 127.0.0.1 that reads just enough HTTP/1.1 to tell requests apart, and
/// treats them as the present [`Behaviour`] says.
///
/// The behaviour may change at any time; a request is treated as it was when its last byte came.
pub struct HostileServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

impl HostileServer {
    /// Starts a server with this behaviour.
    pub fn start(behaviour: Behaviour) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), behaviour)
    }

    /// Starts a server with this behaviour on an address that refused connections so far, such as that of a
    /// [`ClosedPort`](super::ClosedPort).
    ///
    /// # Panics
    /// When somebody else listens there.
    #[track_caller]
    pub fn start_at(addr: SocketAddr, behaviour: Behaviour) -> Self {
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(behaviour),
            gate: Gate::closed(),
            heads: Mutex::default(),
            connections: AtomicUsize::new(0),
            open_connections: AtomicUsize::new(0),
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

    /// From now on, behaves like this. A [`Behaviour::Gate`] starts closed.
    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.gate.close();
        *self.shared.behaviour.lock().expect("behaviour") = behaviour;
    }

    /// Answers every request that [`Behaviour::Gate`] holds, and later ones at once.
    pub fn open_gate(&self) {
        self.shared.gate.open();
    }

    /// The number of requests that wait at the gate. One whose client closes its connection waits no longer.
    pub fn held(&self) -> usize {
        self.shared.gate.held()
    }

    /// Waits until exactly `n` requests wait at the gate.
    ///
    /// # Panics
    /// When they do not within `timeout`.
    #[track_caller]
    pub fn wait_for_held(&self, n: usize, timeout: Duration) {
        wait_until(&format!("{n} requests held at the gate"), timeout, || self.held() == n);
    }

    /// The number of requests read since the start.
    pub fn count(&self) -> usize {
        self.shared.heads.lock().expect("heads").len()
    }

    /// Waits until at least `n` requests were read.
    ///
    /// # Panics
    /// When they were not within `timeout`.
    #[track_caller]
    pub fn wait_for(&self, n: usize, timeout: Duration) {
        wait_until(&format!("{n} requests at the hostile server"), timeout, || self.count() >= n);
    }

    /// The heads of the requests so far, byte for byte up to and including the empty line.
    pub fn request_heads(&self) -> Vec<Vec<u8>> {
        self.shared.heads.lock().expect("heads").clone()
    }

    /// The number of connections accepted since the start.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// The number of connections open now.
    pub fn open_connections(&self) -> usize {
        self.shared.open_connections.load(Ordering::SeqCst)
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.server.abort();
        // Joined, so that whoever dropped the server finds its port closed.
        let _ = runtime().block_on(&mut self.server);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        if matches!(shared.behaviour(), Behaviour::CloseAtOnce) {
            continue;
        }
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let _open = Counted::add(&shared.open_connections);
            // A broken connection ends like any other.
            let _ = serve(stream, &shared).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Whether a connection goes on after a request.
enum Then {
    KeepAlive,
    Close,
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let mut unread = Vec::new();
    while let Some(head) = read_request(&mut stream, &mut unread).await? {
        shared.heads.lock().expect("heads").push(head);
        if let Then::Close = treat(&mut stream, shared).await? {
            break;
        }
    }
    Ok(())
}

async fn treat(stream: &mut TcpStream, shared: &Shared) -> io::Result<Then> {
    match shared.behaviour() {
        Behaviour::Reply(bytes) => stream.write_all(&bytes).await?,
        Behaviour::ReplyAfter(delay, bytes) => {
            tokio::time::sleep(delay).await;
            stream.write_all(&bytes).await?;
        }
        Behaviour::Gate(bytes) => {
            tokio::select! {
                () = shared.gate.pass() => {}
                () = closed_by_peer(stream) => return Ok(Then::Close),
            }
            stream.write_all(&bytes).await?;
        }
        Behaviour::Reset => {
            SockRef::from(&*stream).set_linger(Some(Duration::ZERO))?;
            return Ok(Then::Close);
        }
        Behaviour::CloseAtOnce => return Ok(Then::Close),
        Behaviour::Garbage => {
            stream.write_all(b"\x00\xffnot HTTP at all\x00\r\n\r\n\xfe\xfe").await?;
            return Ok(Then::Close);
        }
        Behaviour::Hang => {
            closed_by_peer(stream).await;
            return Ok(Then::Close);
        }
        Behaviour::HalfReply => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this").await?;
            return Ok(Then::Close);
        }
        Behaviour::Drip(pause, bytes) => {
            stream.set_nodelay(true)?;
            for byte in bytes {
                stream.write_all(&[byte]).await?;
                tokio::time::sleep(pause).await;
            }
        }
    }
    Ok(Then::KeepAlive)
}

/// Resolves when the peer has closed or reset the connection. A peer that sends more first is not noticed.
async fn closed_by_peer(stream: &TcpStream) {
    if let Ok(1..) = stream.peek(&mut [0]).await {
        std::future::pending::<()>().await;
    }
}

/// Counts one while it lives, whichever way its owner ends.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn add(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
