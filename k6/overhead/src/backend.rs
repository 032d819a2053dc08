//! The servers behind the proxies that are measured.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use portcullis_testkit::envoy::workspace_root;

/// One of the suite's own backends, in a process that is stopped when this is dropped.
pub struct Backend {
    process: Child,
    pub addr: SocketAddr,
}

impl Backend {
    pub fn start(arguments: &[&str]) -> Result<Self, Box<dyn std::error::Error>> {
        let program = workspace_root().join("target/native/portcullis-backends");
        let mut process = Command::new(&program)
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}; run `make backends`", program.display()))?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let addr = line.trim().rsplit(' ').next().unwrap_or_default().parse()?;
        Ok(Self { process, addr })
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves these XML documents under `/0`, `/1` and so on, in this process, for as long as it lives.
pub fn serve_documents(documents: Vec<String>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let addr = listener.local_addr()?;
    let replies: Vec<Vec<u8>> = documents
        .into_iter()
        .map(|document| {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/xml; charset=utf-8\r\ncontent-length: ";
            format!("{head}{}\r\n\r\n{document}", document.len()).into_bytes()
        })
        .collect();
    let replies = Arc::new(replies);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let replies = Arc::clone(&replies);
            // A proxy that closes a connection ends the conversation, and need not say why.
            thread::spawn(move || converse(stream, &replies));
        }
    });
    Ok(addr)
}

/// Answers requests without bodies, one after the other.
fn converse(mut stream: TcpStream, replies: &[Vec<u8>]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut requests = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 {
        let path = line.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
        let reply = path.parse().ok().and_then(|number: usize| replies.get(number));
        let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
        while line != "\r\n" {
            line.clear();
            if requests.read_line(&mut line)? == 0 {
                return Ok(());
            }
        }
        stream.write_all(reply.map_or(&missing[..], Vec::as_slice))?;
        line.clear();
    }
    Ok(())
}
