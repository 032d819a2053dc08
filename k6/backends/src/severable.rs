//! Connections that an exchange can bring to a bad end.
//!
//! A service under hyper can only answer. To reset a connection, or to say something on it that is not HTTP,
//! the exchange tells the task that drives the connection; that task drops hyper's state machine, and the
//! stream inside it ends in the way asked for as it is dropped. That works alike for a fresh connection, for
//! one kept alive, and for HTTP/2, where the other streams of the connection go down with it. Faults wait for
//! a request rather than strike on accept, because the connections that clear them have to get through.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::reply::Reply;
use crate::serve;

/// Neither an HTTP/1.1 status line nor an HTTP/2 frame of any sense.
const GARBAGE: &[u8] = b"\x00\xff\x16\x03 this is not HTTP \xfe\r\n\r\n";

/// How a connection is to end.
#[derive(Clone, Copy)]
pub(crate) enum Ending {
    /// With a TCP RST, and nothing before it.
    Reset,
    /// With bytes that are not HTTP, and a FIN.
    Garbage,
}

/// The means by which an exchange ends the connection it is on.
#[derive(Default)]
pub(crate) struct Cut {
    ending: OnceLock<Ending>,
    asked: Notify,
}

impl Cut {
    /// Ends the connection. The exchange never continues: its reply must not get out first.
    pub(crate) async fn connection(&self, ending: Ending) -> Infallible {
        let _ = self.ending.set(ending);
        self.asked.notify_one();
        std::future::pending().await
    }
}

/// Serves one connection with the service that `service` makes for it, to a good end or a bad one.
pub(crate) async fn serve<M, S>(stream: TcpStream, service: M)
where
    M: FnOnce(Arc<Cut>) -> S,
    S: Service<Request<Incoming>, Response = Reply, Error = Infallible>,
    S::Future: Send + 'static,
{
    let cut = Arc::new(Cut::default());
    let io = TokioIo::new(SeverableStream { stream, cut: Arc::clone(&cut) });
    let service = service(Arc::clone(&cut));
    let http = serve::http();
    tokio::select! {
        // A peer that goes away mid-exchange is its own business.
        _ = http.serve_connection(io, service) => {}
        () = cut.asked.notified() => {}
    }
}

/// A stream that minds how it ends.
struct SeverableStream {
    stream: TcpStream,
    cut: Arc<Cut>,
}

impl Drop for SeverableStream {
    fn drop(&mut self) {
        match self.cut.ending.get() {
            None => {}
            Some(Ending::Reset) => {
                let _ = self.stream.set_zero_linger();
            }
            // The send buffer has room, because nothing was written that the peer has yet to read; if it has
            // not, the peer is left with a connection that ends early, which is garbage of another kind.
            Some(Ending::Garbage) => {
                let _ = self.stream.try_write(GARBAGE);
            }
        }
    }
}

impl AsyncRead for SeverableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for SeverableStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
