//! An HTTP/2 client (prior knowledge, no TLS) whose streams go step by step.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::drip::Dripping;
use super::error::ClientError;
use super::message::{Headers, Response};
use super::runtime::runtime;
use super::wait::{PATIENCE, wait_until};

/// One connection, for any number of streams. It closes when dropped.
pub struct Connection {
    requests: SendRequest<Bytes>,
    addr: SocketAddr,
    driver: JoinHandle<()>,
}

/// Whether more of a request follows its headers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// The headers are the whole request.
    Nothing,
    /// Data or trailers follow.
    Follows,
}

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// When the peer does not accept, or does not speak HTTP/2.
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
    /// When the peer does not accept, or does not speak HTTP/2.
    pub fn try_open(addr: SocketAddr) -> Result<Self, ClientError> {
        Self::over(addr, |stream| stream)
    }

    /// Connects. Every byte is then sent by itself.
    ///
    /// # Errors
    /// When the peer does not accept, or does not speak HTTP/2.
    pub fn try_open_dripping(addr: SocketAddr) -> Result<Self, ClientError> {
        Self::over(addr, Dripping::new)
    }

    fn over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        addr: SocketAddr,
        transport: impl FnOnce(TcpStream) -> S,
    ) -> Result<Self, ClientError> {
        runtime().block_on(within(async {
            let stream = TcpStream::connect(addr).await?;
            stream.set_nodelay(true)?;
            let (requests, connection) = h2::client::handshake(transport(stream)).await?;
            let driver = runtime().spawn(async move {
                // Each stream reports the connection's failure for itself.
                let _ = connection.await;
            });
            Ok(Self { requests, addr, driver })
        }))
    }

    /// Opens a stream that asks for another protocol by extended CONNECT (RFC 8441), once the peer has allowed that.
    /// `:authority` is `gateway.test`.
    ///
    /// # Errors
    /// When the connection is gone.
    ///
    /// # Panics
    /// When the path or a header cannot be put on the wire, or the peer does not allow extended CONNECT in time.
    pub fn begin_upgrade(
        &self,
        protocol: &str,
        path: &str,
        headers: &[(&str, &[u8])],
    ) -> Result<Stream, ClientError> {
        // The peer's settings come on their own time.
        wait_until("the peer allows extended CONNECT", PATIENCE, || {
            self.requests.is_extended_connect_protocol_enabled()
        });
        let mut request = http::Request::builder()
            .method("CONNECT")
            .uri(format!("http://gateway.test{path}"))
            .version(http::Version::HTTP_2)
            .extension(h2::ext::Protocol::from(protocol))
            .body(())
            .expect("a request head");
        *request.headers_mut() = header_map(headers, &[]);
        runtime().block_on(within(async {
            let mut requests = self.requests.clone().ready().await?;
            let (response, sender) = requests.send_request(request, false)?;
            Ok(Stream { sender, response })
        }))
    }

    /// Opens a stream with these headers. `:authority` is `gateway.test` unless a `host` header is given.
    ///
    /// # Errors
    /// When the connection is gone.
    ///
    /// # Panics
    /// When the method, the path or a header cannot be put on the wire.
    pub fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &[u8])],
        rest: Rest,
    ) -> Result<Stream, ClientError> {
        let authority = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("host"))
            .map_or("gateway.test".into(), |(_, value)| String::from_utf8_lossy(value));
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("http://{authority}{path}"))
            .version(http::Version::HTTP_2)
            .body(())
            .expect("a request head");
        *request.headers_mut() = header_map(headers, &["host"]);
        runtime().block_on(within(async {
            let mut requests = self.requests.clone().ready().await?;
            let (response, sender) = requests.send_request(request, rest == Rest::Nothing)?;
            Ok(Stream { sender, response })
        }))
    }

    /// Sends one whole request on a stream of its own and reads the response.
    ///
    /// # Errors
    /// When no whole response comes.
    pub fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &[u8])],
        chunks: &[&[u8]],
        trailers: &[(&str, &[u8])],
    ) -> Result<Response, ClientError> {
        if chunks.is_empty() && trailers.is_empty() {
            return self.begin(method, path, headers, Rest::Nothing)?.response();
        }
        let mut stream = self.begin(method, path, headers, Rest::Follows)?;
        // A peer may answer and reset the stream before it has read everything: the answer counts.
        let sent = stream.send_rest(chunks, trailers);
        match (sent, stream.response()) {
            (_, Ok(response)) => Ok(response),
            (Err(error), Err(_)) | (Ok(()), Err(error)) => Err(error),
        }
    }

    /// Sends one whole request on a stream of its own and reads the response.
    ///
    /// # Panics
    /// When no whole response comes.
    #[track_caller]
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &[u8])],
        chunks: &[&[u8]],
        trailers: &[(&str, &[u8])],
    ) -> Response {
        match self.try_request(method, path, headers, chunks, trailers) {
            Ok(response) => response,
            Err(error) => panic!("{method} {path} at {}: {error}", self.addr),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// One request under way. Dropped before its end, it is reset (`CANCEL`).
pub struct Stream {
    sender: SendStream<Bytes>,
    response: ResponseFuture,
}

impl Stream {
    /// Sends a piece of the body.
    ///
    /// # Errors
    /// When the stream is closed or reset, or the peer grants no window in time.
    pub fn send_data(&mut self, data: &[u8]) -> Result<(), ClientError> {
        runtime().block_on(within(async {
            let mut data = Bytes::copy_from_slice(data);
            while !data.is_empty() {
                self.sender.reserve_capacity(data.len());
                let granted = std::future::poll_fn(|cx| self.sender.poll_capacity(cx)).await;
                let granted = granted.ok_or(ClientError::Closed)??;
                self.sender.send_data(data.split_to(granted.min(data.len())), false)?;
            }
            Ok(())
        }))
    }

    /// Ends the request.
    ///
    /// # Errors
    /// When the stream is closed or reset.
    pub fn end(&mut self) -> Result<(), ClientError> {
        Ok(self.sender.send_data(Bytes::new(), true)?)
    }

    /// Ends the request with these trailers.
    ///
    /// # Errors
    /// When the stream is closed or reset.
    ///
    /// # Panics
    /// When a trailer cannot be put on the wire.
    pub fn send_trailers(&mut self, trailers: &[(&str, &[u8])]) -> Result<(), ClientError> {
        Ok(self.sender.send_trailers(header_map(trailers, &[]))?)
    }

    /// Aborts the request: `RST_STREAM` with `CANCEL`.
    pub fn reset(mut self) {
        self.sender.send_reset(h2::Reason::CANCEL);
    }

    /// Waits up to [`PATIENCE`] for the whole response.
    ///
    /// # Errors
    /// When none comes in time, or no whole one.
    pub fn response(self) -> Result<Response, ClientError> {
        self.response_within(PATIENCE)
    }

    /// Waits for the whole response.
    ///
    /// # Errors
    /// When none comes in time, or no whole one.
    pub fn response_within(self, limit: Duration) -> Result<Response, ClientError> {
        let Self { sender, response } = self;
        let response = runtime().block_on(async {
            timeout(limit, async { collect(response.await?).await })
                .await
                .map_err(|_| ClientError::Timeout)
                .flatten()
        });
        drop(sender);
        response
    }

    /// Waits up to [`PATIENCE`] for the response to a request for another protocol ([`Connection::begin_upgrade`]). Of one
    /// that takes it up (2xx) there is only the head, for what follows is a tunnel, and that is reset.
    ///
    /// # Errors
    /// When none comes in time, or no whole one.
    pub fn upgrade_response(self) -> Result<Response, ClientError> {
        let Self { sender, response } = self;
        let response = runtime().block_on(within(async {
            let response = response.await?;
            if !response.status().is_success() {
                return collect(response).await;
            }
            Ok(Response {
                status: response.status().as_u16(),
                headers: Headers::from(response.headers()),
                body: Vec::new(),
                trailers: Headers::default(),
            })
        }));
        drop(sender);
        response
    }

    fn send_rest(&mut self, chunks: &[&[u8]], trailers: &[(&str, &[u8])]) -> Result<(), ClientError> {
        for chunk in chunks {
            self.send_data(chunk)?;
        }
        if trailers.is_empty() { self.end() } else { self.send_trailers(trailers) }
    }
}

async fn collect(response: http::Response<RecvStream>) -> Result<Response, ClientError> {
    let (head, mut body) = response.into_parts();
    let bytes = read_body(&mut body).await?;
    let trailers = body.trailers().await?;
    Ok(Response {
        status: head.status.as_u16(),
        headers: Headers::from(&head.headers),
        body: bytes,
        trailers: trailers.as_ref().map(Headers::from).unwrap_or_default(),
    })
}

async fn read_body(body: &mut RecvStream) -> Result<Vec<u8>, ClientError> {
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

async fn within<T>(future: impl Future<Output = Result<T, ClientError>>) -> Result<T, ClientError> {
    timeout(PATIENCE, future).await.map_err(|_| ClientError::Timeout).flatten()
}

fn header_map(fields: &[(&str, &[u8])], except: &[&str]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
        if !except.contains(&name.as_str()) {
            map.append(name, HeaderValue::from_bytes(value).expect("a header value"));
        }
    }
    map
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
    chunks: &[&[u8]],
    trailers: &[(&str, &[u8])],
) -> Response {
    Connection::open(addr).request(method, path, headers, chunks, trailers)
}

/// `GET path` without further headers.
///
/// # Panics
/// When no whole response comes.
#[track_caller]
pub fn get(addr: SocketAddr, path: &str) -> Response {
    request(addr, "GET", path, &[], &[], &[])
}

/// Opens `n` streams with the same request over one connection, all before the first response is awaited, and
/// returns how each ended, in order.
///
/// The peer may allow fewer streams at a time than `n`; then the last ones wait for the first to end.
///
/// # Panics
/// When the peer does not accept the connection.
#[track_caller]
pub fn many(
    addr: SocketAddr,
    n: usize,
    method: &str,
    path: &str,
    headers: &[(&str, &[u8])],
) -> Vec<Result<Response, ClientError>> {
    let connection = Connection::open(addr);
    let streams: Vec<_> = (0..n).map(|_| connection.begin(method, path, headers, Rest::Nothing)).collect();
    streams.into_iter().map(|stream| stream?.response()).collect()
}
