//! A request whose answer must have a certain status: what `helm test` runs.

use std::thread::sleep;
use std::time::Duration;

use crate::http;

/// A GET request.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// Whom to ask: `host:port`.
    pub(crate) address: &'a str,
    /// The path, query included.
    pub(crate) path: &'a str,
    /// The Host header.
    pub(crate) host: &'a str,
    /// Whether the listener wants to be told first, by the PROXY protocol, whom the connection comes from.
    pub(crate) proxy: Proxy,
}

/// The PROXY protocol, version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proxy {
    /// Not spoken.
    Off,
    /// Spoken, in the form of a health check: it names no other address than the connection's own.
    Unknown,
}

/// How often a connection is tried that does not come about: a Service may have no address yet.
const ATTEMPTS: u32 = 30;

/// Makes the request, and compares the answer's status with the one that is `wanted`; 0 is any.
///
/// # Errors
///
/// There is no answer, or it has another status.
pub(crate) fn expect(request: &Request<'_>, wanted: u16) -> Result<(), String> {
    let Request { address, path, host, proxy } = request;
    let preface = match proxy {
        Proxy::Off => "",
        Proxy::Unknown => "PROXY UNKNOWN\r\n",
    };
    let answer = attempts(|| http::ask(address, "GET", path, host, preface))
        .map_err(|error| format!("{address}{path}: {error}"))?;
    println!("{address}{path}: status {}", answer.status);
    if wanted != 0 && answer.status != wanted {
        return Err(format!("{address}{path}: status {}, not {wanted}", answer.status));
    }
    Ok(())
}

/// Connects, and closes the connection: all that can be told of a listener that speaks TLS alone.
///
/// # Errors
///
/// Nobody takes the connection.
pub(crate) fn connect(address: &str) -> Result<(), String> {
    attempts(|| http::connect(address)).map_err(|error| format!("{address}: {error}"))?;
    println!("{address}: takes connections");
    Ok(())
}

fn attempts<T>(mut attempt: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(_) => sleep(Duration::from_secs(1)),
            answer => return answer,
        }
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use super::{Proxy, Request, connect, expect};
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn compares_the_status() {
        for (wanted, outcome) in [(401, true), (0, true), (200, false)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
                let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
                stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n").unwrap();
                head
            });
            let request =
                Request { address: &address, path: "/orders?x=1", host: "shop.example", proxy: Proxy::Off };
            assert_eq!(expect(&request, wanted).is_ok(), outcome, "{wanted}");
            let head = server.join().unwrap();
            assert_eq!(head[..2], ["GET /orders?x=1 HTTP/1.1", "host: shop.example"]);
        }
    }

    #[test]
    fn says_where_it_comes_from_before_anything_else() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            head
        });
        let request = Request { address: &address, path: "/", host: "shop.example", proxy: Proxy::Unknown };
        expect(&request, 200).unwrap();
        assert_eq!(server.join().unwrap()[..2], ["PROXY UNKNOWN", "GET / HTTP/1.1"]);
    }

    #[test]
    fn connects() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        connect(&listener.local_addr().unwrap().to_string()).unwrap();
    }
}
