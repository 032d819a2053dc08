//! Clients that send one request after the other, each of them unlike all others, and remember what became of each.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use portcullis_testkit::envoy::{ClientError, Http, Response, h1, h2};

/// Makes the headers of a client's nth request, beside those that every request has.
pub type Headers = Arc<dyn Fn(u64) -> Vec<(&'static str, String)> + Send + Sync>;

/// What a client is like.
#[derive(Clone)]
pub struct Client {
    /// What its paths begin with.
    pub name: String,
    /// The version that it speaks.
    pub http: Http,
    /// The headers of its requests.
    pub headers: Headers,
    /// The body of every other request; the rest have none.
    pub body: &'static [u8],
    /// How many requests it sends over a connection before it opens another one.
    pub per_connection: u64,
}

/// What became of the requests of a client.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were sent.
    pub sent: u64,
    /// How many had each status.
    pub statuses: BTreeMap<u16, u64>,
    /// The paths of those that had no answer, and why.
    pub lost: Vec<String>,
    /// How many connections it took.
    pub connections: u64,
}

/// Running clients.
pub struct Load {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    clients: Vec<JoinHandle<Tally>>,
}

impl Load {
    /// Lets these clients send to `addr`, each on a thread of its own.
    pub fn start(addr: SocketAddr, clients: &[Client]) -> Self {
        let (stop, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clients = clients
            .iter()
            .map(|client| {
                let (client, stop, sent) = (client.clone(), Arc::clone(&stop), Arc::clone(&sent));
                thread::spawn(move || client.run(addr, &stop, &sent))
            })
            .collect();
        Self { stop, sent, clients }
    }

    /// How many requests have been answered so far, by all clients.
    pub fn answered(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    /// Lets the clients finish their present requests, and returns what became of all, client by client.
    ///
    /// # Panics
    /// When a client has panicked.
    pub fn stop(self) -> Vec<Tally> {
        self.stop.store(true, Ordering::SeqCst);
        self.clients.into_iter().map(|client| client.join().expect("a client")).collect()
    }
}

/// A connection that is used again as long as the peer allows.
enum Open {
    One(h1::Connection),
    Two(h2::Connection),
}

impl Client {
    fn run(&self, addr: SocketAddr, stop: &AtomicBool, sent: &AtomicU64) -> Tally {
        let mut tally = Tally::default();
        let mut open = None;
        for n in 0.. {
            if stop.load(Ordering::SeqCst) {
                break;
            }
            let path = format!("/{}/{n}", self.name);
            tally.sent += 1;
            match self.exchange(addr, n, &path, &mut open, &mut tally.connections) {
                Ok(response) => {
                    *tally.statuses.entry(response.status).or_default() += 1;
                    sent.fetch_add(1, Ordering::SeqCst);
                }
                Err(error) => {
                    tally.lost.push(format!("{path}: {error}"));
                    open = None;
                }
            }
        }
        tally
    }

    fn exchange(
        &self,
        addr: SocketAddr,
        n: u64,
        path: &str,
        open: &mut Option<Open>,
        connections: &mut u64,
    ) -> Result<Response, ClientError> {
        let own = (self.headers)(n);
        let headers: Vec<(&str, &[u8])> = own.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let (method, body): (_, &[u8]) = if n.is_multiple_of(2) { ("GET", b"") } else { ("POST", self.body) };
        if n.is_multiple_of(self.per_connection) {
            *open = None;
        }
        if let Some(Open::Two(connection)) = open {
            // A connection that the peer has told to end takes no more streams; nothing has been sent then.
            match connection.begin(method, path, &headers, h2::Rest::Follows) {
                Ok(stream) => return finish(stream, body),
                Err(_) => *open = None,
            }
        }
        match self.http {
            Http::One => {
                let mut connection = match open.take() {
                    Some(Open::One(connection)) => connection,
                    _ => {
                        *connections += 1;
                        h1::Connection::try_open(addr)?
                    }
                };
                connection.send(method, path, &headers, body)?;
                let response = connection.read_response()?;
                let ends = response.headers.text("connection").is_some_and(|value| value == "close");
                if !ends {
                    *open = Some(Open::One(connection));
                }
                Ok(response)
            }
            Http::Two => {
                *connections += 1;
                let connection = h2::Connection::try_open(addr)?;
                let stream = connection.begin(method, path, &headers, h2::Rest::Follows)?;
                let response = finish(stream, body);
                *open = Some(Open::Two(connection));
                response
            }
        }
    }
}

fn finish(mut stream: h2::Stream, body: &[u8]) -> Result<Response, ClientError> {
    // The gateway may answer before it has had all of the request: what it answers counts.
    let _ = stream.send_data(body);
    let _ = stream.end();
    stream.response()
}
