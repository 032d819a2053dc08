//! An address on which nothing listens.

use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Socket, Type};

/// A port that refuses connections. It is bound but not listening, so nobody else can come to listen on it
/// while this value lives.
#[derive(Debug)]
pub struct ClosedPort {
    addr: SocketAddr,
    _bound: Socket,
}

impl ClosedPort {
    /// Reserves a port on 127.0.0.1.
    pub fn reserve() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
        let addr = socket.local_addr().ok().and_then(|addr| addr.as_socket()).expect("a bound address");
        Self { addr, _bound: socket }
    }

    /// The address that refuses.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}
