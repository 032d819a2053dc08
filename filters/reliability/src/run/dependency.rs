//! Services that fail on demand, at addresses that stay.

use std::net::SocketAddr;
use std::time::Duration;

use portcullis_testkit::envoy::{
    Backend, Behaviour, ClosedPort, Envoy, Gate, HostileServer, PATIENCE, Reply, http_reply, wait_until,
};

use super::messages::{GARBAGE, HUGE_ANSWER, grpc_frame, within_limits};
use crate::axes::{Dependency, Failure};

/// How a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// How it fails, if it does.
    pub(super) failure: Option<Failure>,
    /// Whether it keeps its answer back until [`Service::release`].
    pub(super) gated: bool,
}

/// A service of the gateway's.
pub(super) struct Service {
    kind: Dependency,
    port: ClosedPort,
    server: Server,
    state: State,
}

enum Server {
    /// Nobody listens.
    None,
    Hostile(HostileServer),
    Behaving(Backend, Option<Gate>),
}

/// What such a service is run by.
enum Role {
    None,
    Hostile(Behaviour),
    Behaving(Reply),
}

/// Longer than anything waits.
const NEVER: Duration = Duration::from_secs(3600);

impl Service {
    /// One that is up.
    pub(super) fn start(kind: Dependency) -> Self {
        let state = State { failure: None, gated: false };
        let mut service = Self { kind, port: ClosedPort::reserve(), server: Server::None, state };
        service.play(role(kind, state), false);
        service
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.port.addr()
    }

    /// From now on the service is like this, for all connections that `envoy` has with it, too.
    pub(super) fn be(&mut self, state: State, envoy: &Envoy) {
        if self.state == state && !state.gated {
            return;
        }
        self.state = state;
        let role = role(self.kind, state);
        // Another server cannot take over the connections.
        let stays = matches!((&role, &self.server), (Role::Hostile(_), Server::Hostile(_)));
        if !stays {
            self.take_away(envoy);
        }
        self.play(role, state.gated);
    }

    /// Waits until the service holds one request that it has not answered.
    pub(super) fn wait_for_held(&self, before: usize) {
        match &self.server {
            Server::None => {}
            Server::Hostile(server) => {
                wait_until("a request is held", PATIENCE, || server.count() > before || server.held() > 0);
            }
            Server::Behaving(_, Some(gate)) if self.state.failure != Some(Failure::Slow) => {
                gate.wait_for_held(1, PATIENCE);
            }
            Server::Behaving(backend, _) => {
                wait_until("a request is held", PATIENCE, || backend.count() > before);
            }
        }
    }

    /// How many requests the present server has had.
    pub(super) fn count(&self) -> usize {
        match &self.server {
            Server::None => 0,
            Server::Hostile(server) => server.count(),
            Server::Behaving(backend, _) => backend.count(),
        }
    }

    /// Lets the answer go that was kept back. One that never answers is taken away instead, so that its connection fails.
    pub(super) fn release(&mut self, envoy: &Envoy) {
        if self.state.failure == Some(Failure::Slow) {
            self.take_away(envoy);
            self.state = State { failure: Some(Failure::Refused), gated: false };
            return;
        }
        match &self.server {
            Server::None => {}
            Server::Hostile(server) => server.open_gate(),
            Server::Behaving(_, gate) => gate.iter().for_each(Gate::open),
        }
    }

    fn take_away(&mut self, envoy: &Envoy) {
        self.server = Server::None;
        let connections = format!("cluster.{}.upstream_cx_active", cluster(self.kind));
        wait_until("the connections are gone", PATIENCE, || envoy.stat(&connections).unwrap_or(0) == 0);
    }

    fn play(&mut self, role: Role, gated: bool) {
        match (role, &self.server) {
            (Role::None, _) => self.server = Server::None,
            (Role::Hostile(behaviour), Server::Hostile(server)) => server.behave(behaviour),
            (Role::Hostile(behaviour), _) => {
                self.server = Server::Hostile(HostileServer::start_at(self.port.addr(), behaviour));
            }
            (Role::Behaving(reply), _) => {
                let gate = gated.then(Gate::closed);
                let reply = match &gate {
                    Some(gate) => reply.behind(gate),
                    None => reply,
                };
                self.server = Server::Behaving(Backend::replying_at(self.port.addr(), reply), gate);
            }
        }
    }
}

/// The name of its cluster.
pub(super) fn cluster(kind: Dependency) -> &'static str {
    match kind {
        Dependency::Auth => "auth",
        Dependency::Limits => "limits",
        Dependency::Collector => "collector",
        Dependency::Upstream => "backend",
    }
}

fn role(kind: Dependency, State { failure, gated }: State) -> Role {
    if kind == Dependency::Limits {
        return limits(failure, gated);
    }
    let answering =
        |bytes: Vec<u8>| Role::Hostile(if gated { Behaviour::Gate(bytes) } else { Behaviour::Reply(bytes) });
    match failure {
        None if kind == Dependency::Collector => {
            answering(http_reply(200, &[("content-type", b"application/json")], b"{}"))
        }
        None => answering(http_reply(200, &[], b"")),
        Some(Failure::Refused) => Role::None,
        Some(Failure::Slow) => Role::Hostile(Behaviour::Hang),
        Some(Failure::Reset) => Role::Hostile(Behaviour::Reset),
        Some(Failure::Error) => answering(http_reply(500, &[], b"")),
        Some(Failure::Garbage) if gated => Role::Hostile(Behaviour::Gate(GARBAGE.to_vec())),
        Some(Failure::Garbage) => Role::Hostile(Behaviour::Garbage),
        Some(Failure::Huge) => answering(http_reply(200, &[], &vec![b'x'; HUGE_ANSWER])),
    }
}

/// The rate limit service speaks gRPC over HTTP/2.
fn limits(failure: Option<Failure>, gated: bool) -> Role {
    let grpc = |body: Vec<u8>| {
        Reply::ok(body).header("content-type", "application/grpc").trailer("grpc-status", "0")
    };
    match failure {
        None => Role::Behaving(grpc(within_limits())),
        Some(Failure::Refused) => Role::None,
        Some(Failure::Slow) => Role::Behaving(grpc(within_limits()).delay(NEVER)),
        Some(Failure::Reset) => Role::Hostile(Behaviour::Reset),
        Some(Failure::Error) => Role::Behaving(Reply::status(500)),
        Some(Failure::Garbage) if gated => Role::Hostile(Behaviour::Gate(GARBAGE.to_vec())),
        Some(Failure::Garbage) => Role::Hostile(Behaviour::Garbage),
        Some(Failure::Huge) => Role::Behaving(grpc(grpc_frame(&vec![0; HUGE_ANSWER]))),
    }
}
