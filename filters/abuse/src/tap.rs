//! An upstream that keeps what it gets and is generous with nothing.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use portcullis_testkit::envoy::{PATIENCE, http_reply, wait_for};

use super::message::Message;
use super::strict::{End, Reader};

/// Behind a reply with this field the connection is closed.
const CLOSE: &[u8] = b"connection: close\r\n";

type Responder = Arc<dyn Fn(&Message) -> Vec<u8> + Send + Sync>;

struct Shared {
    messages: Mutex<Vec<Message>>,
    ambiguities: Mutex<Vec<String>>,
    responder: Mutex<Responder>,
    closing: Mutex<bool>,
}

/// An HTTP/1.1 server on a free port of 127.0.0.1. It answers each request when it is whole, and closes the connection
/// on what could be read in two ways. It stops accepting when dropped.
pub struct Tap {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

impl Tap {
    /// Starts an upstream that answers `200` with an empty body.
    ///
    /// # Panics
    /// When there is no free port.
    pub fn start() -> Self {
        let shared = Arc::new(Shared {
            messages: Mutex::default(),
            ambiguities: Mutex::default(),
            responder: Mutex::new(Arc::new(|_: &Message| http_reply(200, &[], b""))),
            closing: Mutex::new(false),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let addr = listener.local_addr().expect("a bound address");
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Self { addr, shared }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// From now on, answers each request with these bytes, and closes the connection if they say `connection: close`.
    pub fn reply_with(&self, responder: impl Fn(&Message) -> Vec<u8> + Send + Sync + 'static) {
        *self.shared.responder.lock().expect("responder") = Arc::new(responder);
    }

    /// Every whole request, in the order in which they were complete.
    pub fn messages(&self) -> Vec<Message> {
        self.shared.messages.lock().expect("messages").clone()
    }

    /// The number of whole requests.
    pub fn count(&self) -> usize {
        self.shared.messages.lock().expect("messages").len()
    }

    /// Every whole request since this was last asked.
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.shared.messages.lock().expect("messages"))
    }

    /// The only request since this was last asked, which may be about to come.
    ///
    /// # Panics
    /// When there are several, or none comes.
    #[track_caller]
    pub fn take_one(&self) -> Message {
        wait_for("a request at the upstream", PATIENCE, || (self.count() > 0).then_some(()));
        let mut messages = self.take();
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }

    /// What came and could be read in two ways. A gateway must never send such.
    pub fn ambiguities(&self) -> Vec<String> {
        self.shared.ambiguities.lock().expect("ambiguities").clone()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        *self.shared.closing.lock().expect("closing") = true;
        // The thread that accepts looks up with the next connection.
        let _ = TcpStream::connect(self.addr);
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if *shared.closing.lock().expect("closing") {
            return;
        }
        let (Ok(stream), shared) = (stream, Arc::clone(shared)) else { continue };
        thread::spawn(move || serve(stream, &shared));
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut reader = Reader::new(reading);
    loop {
        match reader.message() {
            Ok(message) => {
                let responder = Arc::clone(&shared.responder.lock().expect("responder"));
                let reply = responder(&message);
                shared.messages.lock().expect("messages").push(message);
                let is_last = reply.windows(CLOSE.len()).any(|window| window == CLOSE);
                if stream.write_all(&reply).is_err() || is_last {
                    return;
                }
            }
            Err(End::Ambiguous(what)) => {
                shared.ambiguities.lock().expect("ambiguities").push(what);
                return;
            }
            // A client that goes away in the middle takes its request with it.
            Err(End::Closed | End::Broken) => return,
        }
    }
}
