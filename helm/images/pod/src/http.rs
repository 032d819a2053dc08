//! As much of HTTP/1.1 (RFC 9112) as it takes to ask Envoy something.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// How long to wait for a connection, and for each piece of an answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Makes a request without a body. `preface` goes before it, as the PROXY protocol has it.
pub(crate) fn ask(address: &str, method: &str, path: &str, host: &str, preface: &str) -> Result<Answer> {
    let mut stream = connect(address)?;
    let request = format!(
        "{preface}{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer)?;
    parse(&answer).ok_or_else(|| Error::new(ErrorKind::InvalidData, "an answer that is not HTTP"))
}

/// Connects to the first of the addresses of `host:port` that answers.
pub(crate) fn connect(address: &str) -> Result<TcpStream> {
    let mut last = Error::new(ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, rest) = answer.split_at_checked(end)?;
    let head = std::str::from_utf8(head).ok()?.to_ascii_lowercase();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("http/1.1 ")?.split(' ').next()?.parse().ok()?;
    let body = rest.get(4..)?;
    let chunked = lines.any(|line| line.starts_with("transfer-encoding:") && line.contains("chunked"));
    Some(Answer { status, body: if chunked { unchunked(body)? } else { body.to_vec() } })
}

/// A body without the framing of chunks (RFC 9112, section 7.1).
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(rest.get(..line)?).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let start = line.checked_add(2)?;
        let end = start.checked_add(size)?;
        body.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end.checked_add(2)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, parse};

    #[test]
    fn reads_bodies_with_a_length_and_in_chunks() {
        let expected = Some(Answer { status: 200, body: b"one two".to_vec() });
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\none two"), expected);
        let chunks =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\n3;x=y\r\ntwo\r\n0\r\n\r\n";
        assert_eq!(parse(chunks), expected);
    }

    #[test]
    fn refuses_what_is_not_http_or_breaks_off() {
        for answer in [
            &b""[..],
            b"HTTP/1.1 200 OK",
            b"SSH-2.0-x\r\n\r\n",
            b"HTTP/1.1 many\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nshort",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        ] {
            assert_eq!(parse(answer), None, "{}", String::from_utf8_lossy(answer));
        }
    }
}
