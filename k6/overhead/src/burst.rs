//! Bursts of requests.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

/// Connections of a burst, each with one request under way at a time.
pub const CONNECTIONS: usize = 4;

/// What a reply must be, beside a 200.
#[derive(Debug, Clone, Copy)]
pub enum Expected<'a> {
    /// A body of so many bytes.
    Length(usize),
    /// This document; white space may follow.
    Document(&'a [u8]),
}

/// Sends a request `requests` times over kept-alive connections; every reply must be as expected.
pub fn send(to: SocketAddr, requests: usize, request: &[u8], expected: Expected<'_>) -> Result<(), String> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS)
            .map(|_| scope.spawn(move || converse(to, requests / CONNECTIONS, request, expected)))
            .collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("a sender panicked".to_owned()),
        })
    })
}

fn converse(to: SocketAddr, requests: usize, request: &[u8], expected: Expected<'_>) -> io::Result<()> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut buffer = vec![0; 64 << 10];
    for _ in 0..requests {
        stream.write_all(request)?;
        let mut filled = 0;
        // Where the reply ends, once its head is there.
        let mut end = None;
        while end.is_none_or(|end| filled < end) {
            if filled == buffer.len() {
                buffer.resize(2 * filled, 0);
            }
            let read = stream.read(&mut buffer[filled..])?;
            if read == 0 {
                return Err(io::Error::other("the connection was closed"));
            }
            filled += read;
            if end.is_none() {
                end = Reply::begun(&buffer[..filled])?.map(|reply| reply.body + reply.length);
            }
        }
        let reply = Reply::begun(&buffer[..filled])?.ok_or_else(|| io::Error::other("no reply"))?;
        check(&buffer[reply.body..filled], reply.length, expected)?;
    }
    Ok(())
}

/// Where the body of a reply begins, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reply {
    body: usize,
    length: usize,
}

impl Reply {
    /// `None` as long as the head is not complete. Proxies that are measured know the length of what they send.
    fn begun(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(head) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        match length.and_then(|length| length.trim().parse().ok()) {
            Some(length) if text.starts_with("http/1.1 200 ") => Ok(Some(Self { body: head + 4, length })),
            _ => Err(io::Error::other(text)),
        }
    }
}

fn check(body: &[u8], length: usize, expected: Expected<'_>) -> io::Result<()> {
    let good = body.len() == length
        && match expected {
            Expected::Length(length) => body.len() == length,
            Expected::Document(document) => body.trim_ascii_end() == document,
        };
    if good { Ok(()) } else { Err(io::Error::other("a reply is not the one that is expected")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_begun_when_its_head_is_there() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n<a/>";
        for end in 0..bytes.len() - 4 {
            assert_eq!(Reply::begun(&bytes[..end]).unwrap(), None);
        }
        let reply = Reply::begun(bytes).unwrap();
        assert_eq!(reply, Some(Reply { body: bytes.len() - 4, length: 12 }));
    }

    #[test]
    fn failures_and_replies_without_a_length_are_errors() {
        for head in ["HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"] {
            assert!(Reply::begun(head.as_bytes()).is_err(), "{head}");
        }
    }

    #[test]
    fn a_document_is_compared_but_for_white_space_at_its_end() {
        assert!(check(b"<a/>\n", 5, Expected::Document(b"<a/>")).is_ok());
        assert!(check(b"<b/>\n", 5, Expected::Document(b"<a/>")).is_err());
        assert!(check(b"<a/>\n", 4, Expected::Document(b"<a/>")).is_err());
        assert!(check(b"<a/>\n", 5, Expected::Length(5)).is_ok());
        assert!(check(b"<a/>\n", 5, Expected::Length(4)).is_err());
    }
}
