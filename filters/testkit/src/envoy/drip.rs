//! A stream that is written one byte at a time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// An HTTP/2 connection each of whose writes takes one byte at the most, so that each byte is a system call, and with
/// `TCP_NODELAY` a packet, of its own. But for the client's preface (RFC 9113, section 3.4), which Envoy must have in one
/// read to tell HTTP/2 from HTTP/1.1 in clear text (`codec_type: AUTO`).
pub(super) struct Dripping {
    stream: TcpStream,
    preface: usize,
}

impl Dripping {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, preface: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len() }
    }
}

impl AsyncRead for Dripping {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Dripping {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let take = self.preface.max(1).min(bytes.len());
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &bytes[..take]))?;
        self.preface = self.preface.saturating_sub(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
