//! The client: a request of any kind, in any pace.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{ClientError, PATIENCE, Response, h1, h2};

use super::messages;
use super::setting::UPSTREAM;
use crate::axes::{Dependency, Failure, Framing, Pace, Protocol};
use crate::cells::Cell;

/// The trailer of requests that end in trailers.
pub(super) const TRAILER: (&str, &[u8]) = ("x-checksum", b"0");

/// A request that can be sent.
pub(super) struct Request {
    cell: Cell,
    path: String,
    fields: Vec<(&'static str, Vec<u8>)>,
    body: Vec<u8>,
}

/// A request of which all has been sent that is to be sent before something happens.
pub(super) enum Sent {
    One(h1::Connection),
    Two(h2::Connection, h2::Stream),
}

impl Request {
    pub(super) fn of(cell: &Cell) -> Self {
        let id = cell.id();
        let mut fields: Vec<(&'static str, Vec<u8>)> = vec![
            ("x-tenant", id.clone().into_bytes()),
            ("client_id", id.clone().into_bytes()),
            ("client_secret", b"s3cret".to_vec()),
        ];
        let upstream = match cell.failure_of(Dependency::Upstream) {
            None => None,
            Some(Failure::Refused) => Some("refusing"),
            Some(Failure::Slow) => Some("slow"),
            Some(_) => Some("faulty"),
        };
        fields.extend(upstream.map(|upstream| (UPSTREAM, upstream.as_bytes().to_vec())));
        let mut body = Vec::new();
        if cell.framing.has_body() {
            fields.push(("content-type", b"application/xml".to_vec()));
            body = messages::request().into_bytes();
        }
        match cell.framing {
            Framing::Trailers => {
                fields.extend([("te", b"trailers".to_vec()), ("trailer", TRAILER.0.as_bytes().to_vec())]);
            }
            Framing::Upgrade if cell.protocol == Protocol::One => {
                fields.extend([
                    ("connection", b"Upgrade".to_vec()),
                    ("upgrade", b"websocket".to_vec()),
                    ("sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ==".to_vec()),
                ]);
            }
            Framing::Expect => fields.push(("expect", b"100-continue".to_vec())),
            _ => {}
        }
        match (cell.framing, cell.protocol) {
            (Framing::Length | Framing::Expect, _) => {
                fields.push(("content-length", body.len().to_string().into_bytes()));
            }
            (Framing::Chunked | Framing::Trailers, Protocol::One) => {
                fields.push(("transfer-encoding", b"chunked".to_vec()));
            }
            _ => {}
        }
        if cell.framing == Framing::Upgrade {
            fields.push(("sec-websocket-version", b"13".to_vec()));
        }
        Self { cell: *cell, path: format!("/{id}"), fields, body }
    }

    /// Its path, which no other request has.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn method(&self) -> &'static str {
        match self.cell.framing {
            Framing::NoBody | Framing::Upgrade => "GET",
            Framing::Head => "HEAD",
            _ => "POST",
        }
    }

    fn halves(&self) -> (&[u8], &[u8]) {
        self.body.split_at(self.body.len() / 2)
    }

    /// Sends all of it; with a pause or an abort, `midway` is called when half of the body is sent, and says whether the
    /// other half shall follow.
    ///
    /// # Errors
    /// Nothing can be sent at all. What fails later is seen by what comes back.
    pub(super) fn send(&self, to: SocketAddr, midway: impl FnMut() -> bool) -> Result<Sent, ClientError> {
        match self.cell.protocol {
            Protocol::One => self.send_one(to, midway),
            Protocol::Two => self.send_two(to, midway),
        }
    }

    fn pauses(&self) -> bool {
        matches!(self.cell.pace, Pace::Paused | Pace::AbortedMidBody)
    }

    fn send_one(&self, to: SocketAddr, mut midway: impl FnMut() -> bool) -> Result<Sent, ClientError> {
        let mut connection = h1::Connection::try_open(to)?;
        let fields = self.fields();
        let head = h1::head(self.method(), &self.path, &fields, 0);
        let (first, second) = self.framed_halves();
        let drips = self.cell.pace == Pace::ByteByByte;
        // The peer may answer and close before it has read everything: what it has answered counts.
        let put = |connection: &mut h1::Connection, bytes: &[u8]| {
            let step = if drips { 1 } else { bytes.len().max(1) };
            let _ = bytes.chunks(step).try_for_each(|piece| connection.send_raw(piece));
        };
        if self.cell.framing == Framing::Expect {
            put(&mut connection, &head);
            let told = connection.read_interim()?;
            assert_eq!(told, 100, "Envoy tells the client to go on");
            put(&mut connection, &first);
        } else {
            put(&mut connection, &[head, first].concat());
        }
        if !self.pauses() || midway() {
            put(&mut connection, &second);
        }
        Ok(Sent::One(connection))
    }

    /// The halves of the body as they are on the wire.
    fn framed_halves(&self) -> (Vec<u8>, Vec<u8>) {
        let (first, second) = self.halves();
        if !matches!(self.cell.framing, Framing::Chunked | Framing::Trailers) {
            return (first.to_vec(), second.to_vec());
        }
        let chunk = |data: &[u8]| [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
        let end: &[u8] =
            if self.cell.framing == Framing::Trailers { b"0\r\nx-checksum: 0\r\n\r\n" } else { b"0\r\n\r\n" };
        (chunk(first), [chunk(second), end.to_vec()].concat())
    }

    fn send_two(&self, to: SocketAddr, mut midway: impl FnMut() -> bool) -> Result<Sent, ClientError> {
        let drips = self.cell.pace == Pace::ByteByByte;
        let connection =
            if drips { h2::Connection::try_open_dripping(to) } else { h2::Connection::try_open(to) }?;
        let fields = self.fields();
        if self.cell.framing == Framing::Upgrade {
            let stream = connection.begin_upgrade("websocket", &self.path, &fields)?;
            return Ok(Sent::Two(connection, stream));
        }
        let rest = if self.cell.framing.has_body() { h2::Rest::Follows } else { h2::Rest::Nothing };
        let mut stream = connection.begin(self.method(), &self.path, &fields, rest)?;
        if rest == h2::Rest::Nothing {
            return Ok(Sent::Two(connection, stream));
        }
        let (first, second) = self.halves();
        // As over HTTP/1.1, what is answered counts.
        if self.pauses() {
            let _ = stream.send_data(first);
            if !midway() {
                return Ok(Sent::Two(connection, stream));
            }
            let _ = stream.send_data(second);
        } else {
            let _ = stream.send_data(&self.body);
        }
        let _ = match self.cell.framing {
            Framing::Trailers => stream.send_trailers(&[TRAILER]),
            _ => stream.end(),
        };
        Ok(Sent::Two(connection, stream))
    }

    fn fields(&self) -> Vec<(&str, &[u8])> {
        self.fields.iter().map(|(name, value)| (*name, value.as_slice())).collect()
    }
}

impl Sent {
    /// Waits for the response.
    pub(super) fn response(self, framing: Framing) -> Result<Response, ClientError> {
        match self {
            Self::One(mut connection) if framing == Framing::Head => connection.read_head_response(),
            Self::One(mut connection) => connection.read_response(),
            Self::Two(connection, stream) if framing == Framing::Upgrade => {
                let response = stream.upgrade_response();
                drop(connection);
                response
            }
            Self::Two(connection, stream) => {
                let response = stream.response_within(PATIENCE);
                drop(connection);
                response
            }
        }
    }

    /// Leaves without order: by RST over HTTP/1.1, by `RST_STREAM` over HTTP/2, whose connection is given back, for it must
    /// live until the reset has been seen.
    pub(super) fn abort(self) -> Option<h2::Connection> {
        match self {
            Self::One(connection) => {
                connection.abort();
                None
            }
            Self::Two(connection, stream) => {
                stream.reset();
                Some(connection)
            }
        }
    }
}
