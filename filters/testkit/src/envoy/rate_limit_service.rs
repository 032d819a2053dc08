//! Envoy's reference rate limit service with a Redis of its own.

use std::env;
use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use super::logs::{Logs, Source};
use super::paths::workspace_root;
use super::redis::Redis;
use super::spawn::{mortal_command, spawn};
use super::wait::{PATIENCE, poll};

/// With this in the environment, a missing service or Redis fails the tests that need it instead of skipping them.
const REQUIRE: &str = "PORTCULLIS_REQUIRE_RATE_LIMIT_SERVICE";

/// The service as `make setup` builds it, with a Redis behind it. Both end when dropped.
pub struct RateLimitService {
    process: Option<Child>,
    redis: Redis,
    /// Bound as long as this lives, so that the port stays the service's own while it is stopped.
    _port: Socket,
    addr: SocketAddr,
    runtime: TempDir,
    logs: Logs,
}

impl RateLimitService {
    /// Starts the service with this configuration of a domain (YAML); none, and a line on standard error that says so,
    /// where the service has not been built or there is no Redis.
    ///
    /// # Panics
    /// When it is there and does not start. When it is not there and `PORTCULLIS_REQUIRE_RATE_LIMIT_SERVICE` is set.
    #[track_caller]
    pub fn start(config: &str) -> Option<Self> {
        let redis = workspace_root().join(BINARY).is_file().then(Redis::start).flatten();
        let Some(redis) = redis else {
            assert!(
                env::var_os(REQUIRE).is_none(),
                "{REQUIRE} is set, but {BINARY} has not been built or redis-server is not installed"
            );
            // Past the test harness, which hides what passing tests print.
            let _ = std::io::stderr().write_all(
                b"skipped, for the rate limit service or redis-server is missing: a test of rate-limit\n",
            );
            return None;
        };
        let runtime =
            tempfile::Builder::new().prefix("portcullis-ratelimit-").tempdir().expect("a directory");
        let folder = runtime.path().join("ratelimit/config");
        fs::create_dir_all(&folder).expect("a directory for the configuration");
        fs::write(folder.join("domain.yaml"), config).expect("the configuration");
        let (port, addr) = reserve_port();
        let mut service = Self { process: None, redis, _port: port, addr, runtime, logs: Logs::default() };
        service.start_again();
        Some(service)
    }

    /// Where it serves gRPC.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its Redis, to be killed and started again.
    pub fn redis(&mut self) -> &mut Redis {
        &mut self.redis
    }

    /// Kills it: its port refuses connections.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it again after [`RateLimitService::kill`], on the same port.
    ///
    /// # Panics
    /// When it does not start; the message ends with its log.
    #[track_caller]
    pub fn start_again(&mut self) {
        self.kill();
        let mut command = mortal_command(workspace_root().join(BINARY).as_os_str());
        command
            // Nothing that is in the environment of the tests is meant for it.
            .env_clear()
            .envs([("LOG_LEVEL", "warn"), ("USE_STATSD", "false"), ("REDIS_SOCKET_TYPE", "unix")])
            .env("REDIS_URL", self.redis.socket())
            // How long a call to a Redis that does not answer takes: longer than anybody here waits.
            .envs([("REDIS_TIMEOUT", "5s"), ("RUNTIME_SUBDIRECTORY", "ratelimit")])
            .env("RUNTIME_ROOT", self.runtime.path())
            .envs([("HOST", "127.0.0.1"), ("GRPC_HOST", "127.0.0.1"), ("DEBUG_HOST", "127.0.0.1")])
            .env("GRPC_PORT", self.addr.port().to_string())
            // Of no use here, so any port will do.
            .envs([("PORT", "0"), ("DEBUG_PORT", "0")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = spawn(command).expect("the rate limit service can be run");
        if let Some(stream) = process.stderr.take() {
            self.logs.capture(Source::Stderr, stream);
        }
        self.process = Some(process);
        // It listens when it has read its configuration.
        let listens = poll(PATIENCE, || TcpStream::connect(self.addr).ok()).is_some();
        assert!(listens, "the rate limit service does not listen; its log ends:\n{}", self.logs.tail());
    }
}

impl Drop for RateLimitService {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Below the root of the workspace.
const BINARY: &str = ".tools/bin/ratelimit";

/// A port on 127.0.0.1 that is bound and not listening, so that nobody else is given it. The service can listen there
/// all the same, since it shares its ports (SO_REUSEPORT).
fn reserve_port() -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_reuse_address(true).expect("a socket option");
    socket.set_reuse_port(true).expect("a socket option");
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("a free port");
    let addr = socket.local_addr().ok().and_then(|addr| addr.as_socket()).expect("a bound address");
    (socket, addr)
}
