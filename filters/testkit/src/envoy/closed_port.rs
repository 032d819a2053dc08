//! An address on which nothing listens.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A port that refuses connections. It is bound but not listening, so nobody is given it by chance while this value
/// lives; [`HostileServer::start_at`](super::HostileServer::start_at) can open it.
#[derive(Debug)]
pub struct ClosedPort {
    addr: SocketAddr,
    _bound: Socket,
}

impl ClosedPort {
    /// Reserves a port on 127.0.0.1.
    pub fn reserve() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        // So that a fixture can come to listen there all the same; a port that is asked for by no number is another.
        socket.set_reuse_address(true).expect("a socket option");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
        let addr = socket.local_addr().ok().and_then(|addr| addr.as_socket()).expect("a bound address");
        Self { addr, _bound: socket }
    }

    /// The address that refuses.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}
