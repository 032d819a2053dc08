//! How an exchange can fail on the client's side.

use std::fmt;
use std::io;

/// Why a client got no whole response.
#[derive(Debug)]
pub enum ClientError {
    /// The peer closed the connection before the response was whole.
    Closed,
    /// The peer reset the connection, or the HTTP/2 stream.
    Reset,
    /// Nothing came in time.
    Timeout,
    /// What came is not HTTP.
    Malformed(String),
    /// Anything else that the connection reported.
    Io(io::Error),
    /// Anything else that the HTTP/2 layer reported.
    Http2(h2::Error),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Self::Reset,
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Timeout,
            _ => Self::Io(error),
        }
    }
}

impl From<h2::Error> for ClientError {
    fn from(error: h2::Error) -> Self {
        if error.is_reset() {
            Self::Reset
        } else if error.is_go_away() {
            Self::Closed
        } else if error.is_io() {
            error.into_io().map_or(Self::Closed, Self::from)
        } else {
            Self::Http2(error)
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the peer closed the connection before the response was whole"),
            Self::Reset => f.write_str("the peer reset the connection or the stream"),
            Self::Timeout => f.write_str("nothing came in time"),
            Self::Malformed(what) => write!(f, "not HTTP: {what}"),
            Self::Io(error) => write!(f, "{error}"),
            Self::Http2(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ClientError {}
