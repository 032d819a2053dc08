//! HTTP/1.1 as strictly as a server may read it (RFC 9112): whatever two servers could take for different things is an
//! error.

use std::io::{self, Read};

use super::message::{Fields, Message};

/// Why reading ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The peer closed the connection between two messages.
    Closed,
    /// The peer closed or reset it within one.
    Broken,
    /// What came could be read in more than one way, or in none.
    Ambiguous(String),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// Reads messages, one after the other.
pub(crate) struct Reader<R> {
    stream: R,
    unread: Vec<u8>,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(stream: R) -> Self {
        Self { stream, unread: Vec::new() }
    }

    pub(crate) fn message(&mut self) -> Result<Message, End> {
        if self.unread.is_empty() && self.fill()? == 0 {
            return Err(End::Closed);
        }
        let line = self.line()?;
        let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let [method, target, b"HTTP/1.1"] = parts[..] else {
            return Err(ambiguous("request line", &line));
        };
        if method.is_empty() || target.is_empty() || !method.iter().copied().all(is_token) {
            return Err(ambiguous("request line", &line));
        }
        let fields = self.fields()?;
        let mut message =
            Message { method: method.to_vec(), target: target.to_vec(), fields, ..Message::default() };
        match framing(&message)? {
            Framing::Length(length) => message.body = self.exactly(length)?,
            Framing::Chunked => (message.body, message.trailers) = self.chunks()?,
        }
        Ok(message)
    }

    fn fields(&mut self) -> Result<Fields, End> {
        let mut fields = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(fields);
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let Some((name, value)) = colon.map(|at| (&line[..at], line[at + 1..].trim_ascii())) else {
                return Err(ambiguous("field", &line));
            };
            if name.is_empty() || !name.iter().copied().all(is_token) || value.contains(&0) {
                return Err(ambiguous("field", &line));
            }
            fields.push((name.to_vec(), value.to_vec()));
        }
    }

    fn chunks(&mut self) -> Result<(Vec<u8>, Fields), End> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            // Extensions are lawful; a gateway that has read the chunks has no reason to pass them on.
            let is_size = (1..=8).contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
            let size = std::str::from_utf8(&line).ok().filter(|_| is_size);
            let Some(size) = size.and_then(|digits| usize::from_str_radix(digits, 16).ok()) else {
                return Err(ambiguous("chunk size", &line));
            };
            if size == 0 {
                return Ok((body, self.fields()?));
            }
            body.extend(self.exactly(size)?);
            let end = self.line()?;
            if !end.is_empty() {
                return Err(ambiguous("end of a chunk", &end));
            }
        }
    }

    /// A line without its CRLF. A CR or an LF alone is an error.
    fn line(&mut self) -> Result<Vec<u8>, End> {
        loop {
            if let Some(at) = self.unread.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=at).collect();
                line.pop();
                if line.pop() != Some(b'\r') || line.contains(&b'\r') {
                    return Err(ambiguous("line end", &line));
                }
                return Ok(line);
            }
            if self.fill()? == 0 {
                return Err(End::Broken);
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Result<Vec<u8>, End> {
        while self.unread.len() < length {
            if self.fill()? == 0 {
                return Err(End::Broken);
            }
        }
        Ok(self.unread.drain(..length).collect())
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 64 << 10];
        let length = self.stream.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..length]);
        Ok(length)
    }
}

enum Framing {
    Length(usize),
    Chunked,
}

/// RFC 9112, section 6.3, without anything that it lets a server be generous with.
fn framing(message: &Message) -> Result<Framing, End> {
    match (&message.all("content-length")[..], &message.all("transfer-encoding")[..]) {
        ([], []) => Ok(Framing::Length(0)),
        ([], [b"chunked"]) => Ok(Framing::Chunked),
        ([digits], []) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            let length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
            length.map(Framing::Length).ok_or_else(|| ambiguous("content-length", digits))
        }
        _ => Err(End::Ambiguous(format!("framing of {message:?}"))),
    }
}

fn ambiguous(what: &str, bytes: &[u8]) -> End {
    End::Ambiguous(format!("{what}: `{}`", bytes.escape_ascii()))
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<Message, End>> {
        let mut reader = Reader::new(bytes);
        let mut found = Vec::new();
        loop {
            match reader.message() {
                Ok(message) => found.push(Ok(message)),
                Err(End::Closed) => return found,
                Err(end) => {
                    found.push(Err(end));
                    return found;
                }
            }
        }
    }

    #[test]
    fn reads_messages_one_after_the_other() {
        let bytes = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhiPOST /b HTTP/1.1\r\n\
            transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nt: 1\r\n\r\nGET /c HTTP/1.1\r\n\r\n";
        let messages: Vec<_> = read(bytes).into_iter().map(Result::unwrap).collect();
        let seen: Vec<_> = messages.iter().map(|one| (one.path(), one.body.clone())).collect();
        assert_eq!(
            seen,
            [("/a".to_owned(), b"hi".to_vec()), ("/b".into(), b"abc".to_vec()), ("/c".into(), Vec::new())]
        );
        assert_eq!(messages[0].text("HOST").as_deref(), Some("x"));
        assert_eq!(messages[1].trailers, [(b"t".to_vec(), b"1".to_vec())]);
    }

    #[test]
    fn takes_nothing_that_can_be_read_in_two_ways() {
        for bytes in [
            &b"GET /a b HTTP/1.1\r\n\r\n"[..],
            b"GET /a HTTP/1.1\n\n",
            b"GET /a HTTP/1.1\r\nx: 1\ny: 2\r\n\r\n",
            b"GET /a HTTP/1.1\r\nx: 1\ry: 2\r\n\r\n",
            b"GET /a HTTP/1.1\r\nx : 1\r\n\r\n",
            b"GET /a HTTP/1.1\r\n folded: 1\r\n\r\n",
            b"GET /a HTTP/1.1\r\nx: \0\r\n\r\n",
            b"POST /a HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na",
            b"POST /a HTTP/1.1\r\ncontent-length: +1\r\n\r\na",
            b"POST /a HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0;x\r\n\r\n",
            b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
            b"POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
        ] {
            let found = read(bytes);
            assert!(matches!(found[..], [Err(End::Ambiguous(_))]), "{} {found:?}", bytes.escape_ascii());
        }
        assert!(matches!(read(b"GET /a HTTP/1.1\r\nx: 1\r\n")[..], [Err(End::Broken)]));
    }
}
