//! An HTTP/1.1 client that sends bytes as given and hides nothing of what comes back.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::SockRef;

use super::error::ClientError;
use super::message::{Headers, Response};
use super::wait::PATIENCE;

/// One connection. It closes when dropped.
pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// What the method of the request says about the response's body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyRule {
    AsFramed,
    NoneForHead,
}

impl Connection {
    /// Connects. Reads wait up to [`PATIENCE`]; see [`Connection::set_timeout`].
    ///
    /// # Panics
    /// When the peer does not accept.
    #[track_caller]
    pub fn open(addr: SocketAddr) -> Self {
        match Self::try_open(addr) {
            Ok(connection) => connection,
            Err(error) => panic!("cannot connect to {addr}: {error}"),
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// When the peer does not accept.
    pub fn try_open(addr: SocketAddr) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Sets how long a read waits for the next bytes.
    ///
    /// # Panics
    /// When `timeout` is zero.
    pub fn set_timeout(&self, timeout: Duration) {
        self.stream.set_read_timeout(Some(timeout)).expect("a timeout above zero");
    }

    /// The local address, as the peer sees it.
    pub fn local_addr(&self) -> SocketAddr {
        self.stream.local_addr().expect("a connected socket")
    }

    /// Sends these bytes as they are.
    ///
    /// # Errors
    /// When the peer has closed or reset the connection.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// Sends a request: see [`head`] for what is added to the given headers.
    ///
    /// # Errors
    /// When the peer has closed or reset the connection.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &[u8])],
        body: &[u8],
    ) -> Result<(), ClientError> {
        let mut bytes = head(method, path, headers, body.len());
        bytes.extend_from_slice(body);
        self.send_raw(&bytes)
    }

    /// Sends one chunk of a chunked body.
    ///
    /// # Errors
    /// When the peer has closed or reset the connection.
    pub fn send_chunk(&mut self, data: &[u8]) -> Result<(), ClientError> {
        let size = format!("{:x}\r\n", data.len());
        self.send_raw(&[size.as_bytes(), data, b"\r\n"].concat())
    }

    /// Ends a chunked body, with these trailers.
    ///
    /// # Errors
    /// When the peer has closed or reset the connection.
    pub fn end_chunks(&mut self, trailers: &[(&str, &[u8])]) -> Result<(), ClientError> {
        let mut bytes = b"0\r\n".to_vec();
        push_fields(&mut bytes, trailers);
        bytes.extend_from_slice(b"\r\n");
        self.send_raw(&bytes)
    }

    /// Reads one response. Interim responses (1xx) are skipped, 101 is not.
    ///
    /// # Errors
    /// When none comes in time, or no whole one.
    pub fn read_response(&mut self) -> Result<Response, ClientError> {
        self.read_any(BodyRule::AsFramed)
    }

    /// Reads the response to a HEAD request: no body follows, whatever the headers say.
    ///
    /// # Errors
    /// When none comes in time, or no whole one.
    pub fn read_head_response(&mut self) -> Result<Response, ClientError> {
        self.read_any(BodyRule::NoneForHead)
    }

    /// Reads one interim response, such as `100 Continue`, and returns its status.
    ///
    /// # Errors
    /// When none comes in time; [`ClientError::Malformed`] when a final one comes instead.
    pub fn read_interim(&mut self) -> Result<u16, ClientError> {
        match self.read_head()? {
            (status @ 100..200, _) => Ok(status),
            (status, _) => Err(ClientError::Malformed(format!("{status} in place of an interim response"))),
        }
    }

    /// Waits until the peer closes the connection, and returns the bytes that came before.
    ///
    /// # Errors
    /// When the peer resets the connection, or does not close it in time.
    pub fn read_to_end(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut rest = std::mem::take(&mut self.unread);
        self.stream.read_to_end(&mut rest)?;
        Ok(rest)
    }

    /// Closes the sending half; the response can still be read.
    pub fn finish_sending(&self) {
        // A peer that has gone already needs no notice.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Closes in order (FIN).
    pub fn close(self) {}

    /// Closes without order (RST).
    pub fn abort(self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).expect("a connected socket");
    }

    fn read_any(&mut self, rule: BodyRule) -> Result<Response, ClientError> {
        loop {
            let (status, headers) = self.read_head()?;
            if (100..200).contains(&status) && status != 101 {
                continue;
            }
            let no_body = rule == BodyRule::NoneForHead || matches!(status, 101 | 204 | 304);
            let (body, trailers) =
                if no_body { (Vec::new(), Headers::default()) } else { self.read_body(&headers)? };
            return Ok(Response { status, headers, body, trailers });
        }
    }

    fn read_head(&mut self) -> Result<(u16, Headers), ClientError> {
        let line = self.read_line()?;
        let status = match line.get(..12) {
            Some(start) if start.starts_with(b"HTTP/1.") => {
                std::str::from_utf8(&start[9..]).ok().and_then(|digits| digits.parse().ok())
            }
            _ => None,
        };
        let Some(status) = status else {
            return Err(ClientError::Malformed(format!("status line `{}`", line.escape_ascii())));
        };
        Ok((status, self.read_fields()?))
    }

    fn read_fields(&mut self) -> Result<Headers, ClientError> {
        let mut fields = Headers::default();
        loop {
            let line = self.read_line()?;
            if line.is_empty() {
                return Ok(fields);
            }
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                return Err(ClientError::Malformed(format!("field `{}`", line.escape_ascii())));
            };
            fields.push(&line[..colon], line[colon + 1..].trim_ascii());
        }
    }

    fn read_body(&mut self, headers: &Headers) -> Result<(Vec<u8>, Headers), ClientError> {
        if headers
            .text("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
        {
            return self.read_chunks();
        }
        let body = match headers.text("content-length") {
            Some(length) => {
                let length = length
                    .parse()
                    .map_err(|_| ClientError::Malformed(format!("content-length `{length}`")))?;
                self.read_exactly(length)?
            }
            None => self.read_to_end()?,
        };
        Ok((body, Headers::default()))
    }

    fn read_chunks(&mut self) -> Result<(Vec<u8>, Headers), ClientError> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?;
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
            let size =
                std::str::from_utf8(digits).ok().and_then(|digits| usize::from_str_radix(digits, 16).ok());
            match size {
                Some(0) => return Ok((body, self.read_fields()?)),
                Some(size) => body.extend_from_slice(&self.read_exactly(size)?),
                None => return Err(ClientError::Malformed(format!("chunk size `{}`", line.escape_ascii()))),
            }
            self.read_line()?;
        }
    }

    fn read_line(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.unread[searched..].windows(2).position(|window| window == b"\r\n") {
                let line = self.unread.drain(..searched + at + 2).take(searched + at).collect();
                return Ok(line);
            }
            searched = self.unread.len().saturating_sub(1);
            self.fill()?;
        }
    }

    fn read_exactly(&mut self, len: usize) -> Result<Vec<u8>, ClientError> {
        while self.unread.len() < len {
            self.fill()?;
        }
        Ok(self.unread.drain(..len).collect())
    }

    fn fill(&mut self) -> Result<(), ClientError> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(ClientError::Closed),
            len => {
                self.unread.extend_from_slice(&buffer[..len]);
                Ok(())
            }
        }
    }
}

/// The bytes of a request head. `host` is added unless it is given; `content-length` is added for a body,
/// unless it or `transfer-encoding` is given.
pub fn head(method: &str, path: &str, headers: &[(&str, &[u8])], body_len: usize) -> Vec<u8> {
    let given = |name: &str| headers.iter().any(|(candidate, _)| candidate.eq_ignore_ascii_case(name));
    let mut bytes = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
    if !given("host") {
        bytes.extend_from_slice(b"host: gateway.test\r\n");
    }
    if body_len > 0 && !given("content-length") && !given("transfer-encoding") {
        bytes.extend_from_slice(format!("content-length: {body_len}\r\n").as_bytes());
    }
    push_fields(&mut bytes, headers);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn push_fields(bytes: &mut Vec<u8>, fields: &[(&str, &[u8])]) {
    for (name, value) in fields {
        bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
}

/// Sends one request over a connection of its own and reads the response.
///
/// # Panics
/// When no whole response comes.
#[track_caller]
pub fn request(
    addr: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &[u8])],
    body: &[u8],
) -> Response {
    match try_request(addr, method, path, headers, body) {
        Ok(response) => response,
        Err(error) => panic!("{method} {path} at {addr}: {error}"),
    }
}

/// Sends one request over a connection of its own and reads the response.
///
/// # Errors
/// When no whole response comes.
pub fn try_request(
    addr: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &[u8])],
    body: &[u8],
) -> Result<Response, ClientError> {
    let mut connection = Connection::try_open(addr)?;
    // A peer may answer and close before it has read everything: the answer counts, not the failed write.
    let sent = connection.send(method, path, headers, body);
    let read = if method == "HEAD" { connection.read_head_response() } else { connection.read_response() };
    match (sent, read) {
        (_, Ok(response)) => Ok(response),
        (Err(error), Err(_)) | (Ok(()), Err(error)) => Err(error),
    }
}

/// `GET path` without further headers.
///
/// # Panics
/// When no whole response comes.
#[track_caller]
pub fn get(addr: SocketAddr, path: &str) -> Response {
    request(addr, "GET", path, &[], b"")
}
