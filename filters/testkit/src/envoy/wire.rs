//! Telling HTTP/1.1 requests apart on a raw connection.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads one request and returns its head, up to and including the empty line; `None` when the peer closed
/// before its end. The body is read and dropped. What came after the request stays in `unread`.
pub(super) async fn read_request(
    stream: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
) -> io::Result<Option<Vec<u8>>> {
    let Some(len) = read_until(stream, unread, head_end).await? else { return Ok(None) };
    let head: Vec<u8> = unread.drain(..len).collect();
    let framing = Framing::of(&head);
    let Some(len) = read_until(stream, unread, |bytes| framing.end(bytes)).await? else { return Ok(None) };
    unread.drain(..len);
    Ok(Some(head))
}

/// Reads until `end` finds one in what is unread; `None` when the peer closes before.
async fn read_until(
    stream: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
    end: impl Fn(&[u8]) -> Option<usize>,
) -> io::Result<Option<usize>> {
    loop {
        if let Some(end) = end(unread) {
            return Ok(Some(end));
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// How the end of a body shows (RFC 9112, section 6).
#[derive(Clone, Copy)]
enum Framing {
    Length(usize),
    Chunked,
}

impl Framing {
    fn of(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        head.lines()
            .find_map(|line| match line.split_once(':')? {
                ("transfer-encoding", value) if value.contains("chunked") => Some(Self::Chunked),
                ("content-length", value) => Some(Self::Length(value.trim().parse().ok()?)),
                _ => None,
            })
            .unwrap_or(Self::Length(0))
    }

    /// Where the body at the start of `bytes` ends; `None` when that has not come yet.
    fn end(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Length(len) => (bytes.len() >= len).then_some(len),
            Self::Chunked => chunked_end(bytes),
        }
    }
}

fn chunked_end(bytes: &[u8]) -> Option<usize> {
    let line_end =
        |from: usize| Some(from + bytes.get(from..)?.windows(2).position(|two| two == b"\r\n")? + 2);
    let mut at = 0;
    loop {
        let data = line_end(at)?;
        let line = String::from_utf8_lossy(&bytes[at..data - 2]);
        // A size that is none ends the body, as zero does: better than to wait for what never comes.
        let size = line.split(';').next().and_then(|digits| usize::from_str_radix(digits.trim(), 16).ok());
        at = data;
        match size.unwrap_or(0) {
            0 => break,
            size => at += size + 2,
        }
    }
    // Trailers, up to an empty line.
    loop {
        let next = line_end(at)?;
        if next == at + 2 {
            return Some(next);
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envoy::runtime::runtime;

    fn heads(mut input: &[u8]) -> Vec<String> {
        let mut unread = Vec::new();
        let mut heads = Vec::new();
        while let Some(head) = runtime().block_on(read_request(&mut input, &mut unread)).unwrap() {
            heads.push(String::from_utf8(head).unwrap());
        }
        heads
    }

    #[test]
    fn tells_pipelined_requests_apart_whatever_their_framing() {
        let head = |method: &str, field: &str| format!("{method} / HTTP/1.1\r\n{field}\r\n\r\n");
        let (get, sized, chunked) = (
            head("GET", "host: a"),
            head("PUT", "Content-Length: 4"),
            head("POST", "Transfer-Encoding: chunked"),
        );
        let input = [
            &get,
            &sized,
            "\r\n\r\n",
            &chunked,
            "5;ext\r\n0\r\n\r\n\r\n1\r\nx\r\n0\r\ntrailer: t\r\n\r\n",
            &get,
            "GET /half",
        ]
        .concat();
        assert_eq!(heads(input.as_bytes()), [get.clone(), sized, chunked, get]);
    }
}
