//! An Envoy with everything around it, in which cells are run one after the other.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_testkit::envoy::{
    Backend, Behaviour, ClosedPort, Envoy, HostileServer, PATIENCE, Reply, http_reply, wait_for, wait_until,
};

use super::client::{Request, Sent};
use super::dependency::{Service, State};
use super::messages;
use super::observe;
use super::setting::{Addresses, Setting};
use crate::axes::{Dependency, Failure, Framing, Pace, Subject};
use crate::cells::Cell;
use crate::outcome::{Answer, Expected, Observed, Reached};

/// How long is waited for what must come, before it is found missing.
const LONG_ENOUGH: Duration = Duration::from_secs(20);

/// How long a client that pauses does so, once Envoy has all that was sent. Nothing depends on it.
const PAUSE: Duration = Duration::from_millis(20);

const RECEIVED: &str = "http.ingress.downstream_cx_rx_bytes_total";

/// See the module.
pub(super) struct Testbed {
    envoy: Envoy,
    backend: Backend,
    faulty: HostileServer,
    strays: Backend,
    _refusing: ClosedPort,
    services: BTreeMap<Dependency, Service>,
    at_the_start: BTreeMap<String, u64>,
}

/// What had been seen before the request.
struct Before {
    counters: BTreeMap<String, u64>,
    stats: BTreeMap<String, u64>,
    faulty: usize,
    strays: usize,
    held: usize,
}

impl Testbed {
    pub(super) fn start(setting: Setting) -> Self {
        let backend = Backend::start();
        backend.reply_with(|request| {
            if request.headers.contains("upgrade") {
                return Reply::status(101).header("connection", "Upgrade").header("upgrade", "websocket");
            }
            Reply::ok(messages::reply()).header("content-type", "application/xml")
        });
        let (faulty, strays) = (HostileServer::start(Behaviour::Hang), Backend::start());
        let refusing = ClosedPort::reserve();
        let services: BTreeMap<_, _> = [Dependency::Auth, Dependency::Limits, Dependency::Collector]
            .map(|kind| (kind, Service::start(kind)))
            .into();
        let at = Addresses {
            backend: backend.addr(),
            faulty: faulty.addr(),
            refusing: refusing.addr(),
            strays: strays.addr(),
            auth: services[&Dependency::Auth].addr(),
            limits: services[&Dependency::Limits].addr(),
            collector: services[&Dependency::Collector].addr(),
        };
        let envoy = Envoy::start(&setting.envoy(&at));
        let at_the_start = observe::counters(&envoy);
        Self { envoy, backend, faulty, strays, _refusing: refusing, services, at_the_start }
    }

    /// Makes the situation, sends the request, and looks at what becomes of it. What is `expected` is waited for; what is
    /// returned is what has been seen.
    pub(super) fn run(&mut self, cell: &Cell, expected: &Expected) -> Observed {
        self.arrange(cell);
        let before = self.before(cell);
        let request = Request::of(cell);
        let (status, answer) = match self.converse(cell, &request, expected, &before) {
            Some(got) => got,
            None => (None, Answer::Nothing),
        };
        self.recover_collector(cell, &before);
        self.observe(cell, request.path(), expected, &before, status, answer)
    }

    /// What has been counted since the start is what has been seen of the cells: nothing came late.
    pub(super) fn check_totals<'a>(&self, rows: impl Iterator<Item = &'a Observed>) {
        let mut seen = BTreeMap::new();
        for (name, growth) in rows.flat_map(|observed| &observed.counters) {
            *seen.entry(name.clone()).or_insert(0) += growth;
        }
        let total = observe::growth(&self.at_the_start, &observe::counters(&self.envoy));
        assert_eq!(total, seen, "something has been counted between the cells");
        let failed = self.envoy.log_lines().into_iter().find(|line| line.contains("Function: proxy_on"));
        assert_eq!(failed, None, "a VM has failed");
    }

    fn arrange(&mut self, cell: &Cell) {
        for (kind, service) in &mut self.services {
            let gated = cell.left_during() == Some(*kind);
            service.be(State { failure: cell.failure_of(*kind), gated }, &self.envoy);
        }
        let has_body = cell.framing != Framing::Head;
        let answering = |status: u16, body: Vec<u8>| {
            let bytes = http_reply(status, &[("content-type", b"application/xml")], &body);
            let head = bytes.len() - body.len();
            Behaviour::Reply(if has_body { bytes } else { bytes[..head].to_vec() })
        };
        match cell.failure_of(Dependency::Upstream) {
            None | Some(Failure::Refused) => {}
            Some(Failure::Slow) => self.faulty.behave(Behaviour::Hang),
            Some(Failure::Reset) => self.faulty.behave(Behaviour::Reset),
            Some(Failure::Error) => self.faulty.behave(answering(500, messages::reply().into_bytes())),
            Some(Failure::Garbage) => self.faulty.behave(Behaviour::Garbage),
            Some(Failure::Huge) => self.faulty.behave(answering(200, vec![b' '; messages::HUGE_REPLY])),
        }
    }

    fn before(&self, cell: &Cell) -> Before {
        self.backend.clear();
        Before {
            counters: observe::counters(&self.envoy),
            stats: self.envoy.stats(),
            faulty: self.faulty.count(),
            strays: self.strays.count(),
            held: cell.left_during().map_or(0, |kind| self.services[&kind].count()),
        }
    }

    /// The client's part. None if it has left without an answer, or has had none.
    fn converse(
        &mut self,
        cell: &Cell,
        request: &Request,
        expected: &Expected,
        before: &Before,
    ) -> Option<(Option<u16>, Answer)> {
        let answered_early = expected.status.is_some();
        let midway = || {
            self.wait_until_received(before);
            if cell.pace == Pace::AbortedMidBody && !answered_early {
                self.settle(cell, request.path(), expected, before);
            }
            thread::sleep(PAUSE);
            cell.pace == Pace::Paused
        };
        let sent = request.send(self.envoy.addr(), midway);
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => {
                eprintln!("{}: {error}", cell.id());
                return None;
            }
        };
        if let Some(kind) = cell.left_during() {
            self.services[&kind].wait_for_held(before.held);
            self.leave(sent, request.path());
            if let Some(service) = self.services.get_mut(&kind) {
                service.release(&self.envoy);
            }
            return None;
        }
        if cell.pace == Pace::AbortedMidBody && !answered_early {
            self.leave(sent, request.path());
            return None;
        }
        match sent.response(cell.framing) {
            Ok(response) => Some((Some(response.status), observe::answer(cell, &response))),
            Err(error) => {
                eprintln!("{}: {error}", cell.id());
                None
            }
        }
    }

    /// Leaves, and waits until Envoy has noticed.
    fn leave(&self, sent: Sent, path: &str) {
        let connection = sent.abort();
        wait_until("the exchange is over", PATIENCE, || observe::native_line(&self.envoy, path).is_some());
        drop(connection);
    }

    /// Waits until Envoy has read half of a body more than before.
    fn wait_until_received(&self, before: &Before) {
        let half = messages::request().len() as u64 / 2;
        let earlier = before.stats.get(RECEIVED).copied().unwrap_or(0);
        self.envoy.wait_for_counter(RECEIVED, earlier + half, PATIENCE);
    }

    /// Waits until all has happened that half of a request can give rise to.
    fn settle(&self, cell: &Cell, path: &str, expected: &Expected, before: &Before) {
        // access-log's come at the end.
        let mut now = expected.clone();
        now.counters.retain(|name, _| !name.starts_with("access_log."));
        poll(|| {
            let counters = observe::growth(&before.counters, &observe::counters(&self.envoy));
            now.is_reached_by(&counters) && self.reached(cell, path, before) == expected.upstream
        });
    }

    /// A collector that keeps failing would be asked for ever.
    fn recover_collector(&mut self, cell: &Cell, before: &Before) {
        if !cell.subject.has(Subject::AccessLog) {
            return;
        }
        let grown_by_one = |name: &str| {
            let now = observe::counters(&self.envoy);
            observe::growth(&before.counters, &now).contains_key(&format!("access_log.{name}"))
        };
        match cell.failure_of(Dependency::Collector) {
            None => return,
            Some(Failure::Error) => poll(|| grown_by_one("otlp_dropped_refused")),
            Some(_) => poll(|| grown_by_one("otlp_failed")),
        }
        let up = State { failure: None, gated: false };
        if let Some(collector) = self.services.get_mut(&Dependency::Collector) {
            collector.be(up, &self.envoy);
        }
    }

    fn observe(
        &self,
        cell: &Cell,
        path: &str,
        expected: &Expected,
        before: &Before,
        status: Option<u16>,
        answer: Answer,
    ) -> Observed {
        let line =
            wait_for("a line in Envoy's access log", PATIENCE, || observe::native_line(&self.envoy, path));
        poll(|| {
            let counters = observe::growth(&before.counters, &observe::counters(&self.envoy));
            expected.is_reached_by(&counters)
                && observe::suite_lines(&self.envoy, path).len() >= expected.lines
                && self.reached(cell, path, before) == expected.upstream
        });
        let suite = observe::suite_lines(&self.envoy, path);
        Observed {
            status,
            answer,
            upstream: self.reached(cell, path, before),
            logged_status: observe::logged_status(cell.subject, &line, &suite),
            details: line.details.clone(),
            outcomes: observe::outcomes(cell.subject, &line, &suite),
            lines: suite.len(),
            counters: observe::growth(&before.counters, &observe::counters(&self.envoy)),
        }
    }

    fn reached(&self, cell: &Cell, path: &str, before: &Before) -> Reached {
        if self.strays.count() > before.strays {
            return Reached::Wrong("another upstream".to_owned());
        }
        let at_the_backend = observe::at_the_backend(cell, path, &self.backend.requests());
        let Some(failure) = cell.failure_of(Dependency::Upstream) else { return at_the_backend };
        if at_the_backend != Reached::No {
            return Reached::Wrong("the upstream that is up".to_owned());
        }
        let stats = self.envoy.stats();
        let grown = |name: &str| stats.get(name) > before.stats.get(name);
        if failure == Failure::Refused {
            let tried = grown("cluster.refusing.upstream_cx_connect_fail");
            return if tried { Reached::Tried } else { Reached::No };
        }
        if self.faulty.count() > before.faulty {
            Reached::Whole
        } else if grown("cluster.faulty.upstream_rq_total") {
            Reached::Part
        } else {
            Reached::No
        }
    }
}

/// Waits until `condition` holds, or long enough to say that it will not.
fn poll(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG_ENOUGH;
    while !condition() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
}
