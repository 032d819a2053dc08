//! One client for both versions of HTTP, so that a scenario need not know which it runs over.

use std::net::SocketAddr;

use super::{ClientError, Response, h1, h2};

/// Header fields as a test writes them.
pub type Fields<'a> = &'a [(&'a str, &'a [u8])];

/// A version of HTTP between client and Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2, in clear text, with prior knowledge.
    Two,
}

/// What follows the headers of a request, and how it is framed. HTTP/2 frames everything alike, so that `Length`
/// only adds the header there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// No body: the headers end the request.
    Nothing,
    /// A body with its length, in bytes, announced.
    Length(usize),
    /// A body without.
    Chunked,
}

impl Http {
    /// Both versions.
    pub const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// Sends a request over a connection of its own.
    ///
    /// # Panics
    /// If there is no response.
    #[track_caller]
    pub fn request(
        self,
        addr: SocketAddr,
        method: &str,
        path: &str,
        headers: Fields,
        body: &[u8],
    ) -> Response {
        match self {
            Self::One => h1::request(addr, method, path, headers, body),
            Self::Two if body.is_empty() => h2::request(addr, method, path, headers, &[], &[]),
            Self::Two => h2::request(addr, method, path, headers, &[body], &[]),
        }
    }

    /// Sends a GET without a body.
    ///
    /// # Panics
    /// If there is no response.
    #[track_caller]
    pub fn get(self, addr: SocketAddr, path: &str, headers: Fields) -> Response {
        self.request(addr, "GET", path, headers, b"")
    }

    /// Sends the headers of a request over a connection of its own.
    ///
    /// # Panics
    /// If they cannot be sent.
    #[track_caller]
    pub fn begin(self, addr: SocketAddr, method: &str, path: &str, headers: Fields, body: Body) -> Begun {
        let length = match body {
            Body::Length(length) => length.to_string(),
            Body::Nothing | Body::Chunked => String::new(),
        };
        let mut headers = headers.to_vec();
        match (self, body) {
            (_, Body::Length(_)) => headers.push(("content-length", length.as_bytes())),
            (Self::One, Body::Chunked) => headers.push(("transfer-encoding", b"chunked")),
            (_, Body::Nothing) | (Self::Two, Body::Chunked) => {}
        }
        match self {
            Self::One => {
                let mut connection = h1::Connection::open(addr);
                connection.send_raw(&h1::head(method, path, &headers, 0)).expect("the request head is sent");
                Begun::One { connection, body }
            }
            Self::Two => {
                let rest = if body == Body::Nothing { h2::Rest::Nothing } else { h2::Rest::Follows };
                let connection = h2::Connection::open(addr);
                let stream =
                    connection.begin(method, path, &headers, rest).expect("the request head is sent");
                Begun::Two { connection, stream }
            }
        }
    }
}

/// A request whose headers are sent.
pub enum Begun {
    /// Over HTTP/1.1.
    One {
        /// The connection, which serves this request alone.
        connection: h1::Connection,
        /// How its body is framed.
        body: Body,
    },
    /// Over HTTP/2.
    Two {
        /// The connection, which serves this request alone.
        connection: h2::Connection,
        /// The request's stream.
        stream: h2::Stream,
    },
}

impl Begun {
    /// Sends a piece of the body.
    ///
    /// # Errors
    /// The connection or the stream is gone.
    pub fn send(&mut self, data: &[u8]) -> Result<(), ClientError> {
        match self {
            Self::One { connection, body: Body::Chunked } => connection.send_chunk(data),
            Self::One { connection, .. } => connection.send_raw(data),
            Self::Two { stream, .. } => stream.send_data(data),
        }
    }

    /// Ends the body, with these trailers if there are any, and says how many bytes that takes at the least. What
    /// has a length over HTTP/1.1 has ended by itself.
    ///
    /// # Errors
    /// The connection or the stream is gone.
    pub fn end(&mut self, trailers: Fields) -> Result<u64, ClientError> {
        match self {
            Self::One { connection, body: Body::Chunked } => {
                connection.end_chunks(trailers)?;
                Ok(b"0\r\n\r\n".len() as u64)
            }
            Self::One { .. } => Ok(0),
            Self::Two { stream, .. } => {
                if trailers.is_empty() {
                    stream.end()?;
                } else {
                    stream.send_trailers(trailers)?;
                }
                // The frame's header (RFC 9113, section 4.1).
                Ok(9)
            }
        }
    }

    /// Ends a body whose length has been announced. The upstream may have answered by then, and Envoy closed an HTTP/2
    /// stream.
    pub fn finish(&mut self) {
        let _ = self.end(&[]);
    }

    /// Waits for the response.
    ///
    /// # Errors
    /// The connection or the stream is gone.
    pub fn response(self) -> Result<Response, ClientError> {
        match self {
            Self::One { mut connection, .. } => connection.read_response(),
            Self::Two { connection, stream } => {
                let response = stream.response();
                drop(connection);
                response
            }
        }
    }

    /// Leaves without waiting: by RST over HTTP/1.1, by `RST_STREAM` over HTTP/2.
    pub fn abort(self) {
        match self {
            Self::One { connection, .. } => connection.abort(),
            Self::Two { stream, .. } => stream.reset(),
        }
    }
}
