//! A host in the test's own process: a virtual clock, call-outs that the test answers, faults on demand.
//!
//! It behaves as Envoy does where policies can tell the difference: bodies that are held pile up in one buffer,
//! call-outs time out with a synthesized 504, an aborted exchange vanishes without a word to the policy but its
//! closing.

mod host;
mod shared;

use std::rc::Rc;
use std::time::Duration;

use portcullis_policy::host::{CallToken, Direction, Level};
use portcullis_policy::reply::RenderedReply;
use portcullis_policy::{CallOutReply, Chain, ConfigError, Engine, ExchangeId, HeaderList, Next, Shutdown};

pub use host::{BodyDelivery, Fault, RecordedCall, TestHost};
pub use shared::SharedData;

/// What has become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// The policies hold it: nothing of it has reached the upstream.
    Held,
    /// It has been let through to the upstream.
    Admitted,
    /// A policy has replied in the upstream's stead.
    Replied(RenderedReply),
}

/// One worker: an engine and its host.
pub struct Worker {
    /// The host, to look at and to set faults on.
    pub host: Rc<TestHost>,
    engine: Engine,
    next_id: u32,
}

impl Worker {
    /// A worker that runs `chain`, with shared data of its own.
    ///
    /// # Errors
    /// The chain's refusal to start.
    pub fn start(chain: Chain) -> Result<Self, ConfigError> {
        Self::start_with(chain, TestHost::new(SharedData::default()))
    }

    /// A worker on this host: one with a fault, or one that shares its data with another.
    ///
    /// # Errors
    /// The chain's refusal to start.
    pub fn start_with(chain: Chain, host: TestHost) -> Result<Self, ConfigError> {
        let mut engine = Engine::new(chain);
        let host = Rc::new(host);
        engine.start(&*host)?;
        Ok(Self { host, engine, next_id: 10 })
    }

    /// Opens an exchange of which nothing has come yet.
    pub fn open(&mut self) -> ExchangeId {
        let id = ExchangeId(self.next_id);
        self.next_id += 1;
        self.host.open(id);
        self.engine.open(&*self.host, id);
        id
    }

    /// A request without a body: the common case.
    pub fn request<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> ExchangeId {
        let id = self.open();
        self.request_headers(id, headers, true);
        id
    }

    /// A request's headers come.
    pub fn request_headers<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        id: ExchangeId,
        headers: impl IntoIterator<Item = (N, V)>,
        end: bool,
    ) -> Next {
        self.host.request_headers_came(id, headers.into_iter().collect());
        self.host.enter(Some(id));
        let next = self.engine.on_headers(&*self.host, id, Direction::Request, end.into());
        self.settle(id, Direction::Request, next)
    }

    /// A response's headers come.
    pub fn response_headers<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        id: ExchangeId,
        headers: impl IntoIterator<Item = (N, V)>,
        end: bool,
    ) -> Next {
        self.host.response_headers_came(id, headers.into_iter().collect());
        self.host.enter(Some(id));
        let next = self.engine.on_headers(&*self.host, id, Direction::Response, end.into());
        self.settle(id, Direction::Response, next)
    }

    /// A piece of body comes.
    pub fn body(&mut self, id: ExchangeId, direction: Direction, bytes: &[u8], end: bool) -> Next {
        match self.host.withhold(id, direction, bytes, end) {
            Some(bytes) => self.deliver_body(id, direction, bytes, end),
            None => Next::Hold,
        }
    }

    fn deliver_body(&mut self, id: ExchangeId, direction: Direction, bytes: &[u8], end: bool) -> Next {
        let held = self.host.body_came(id, direction, bytes);
        self.host.enter(Some(id));
        let next = self.engine.on_body(&*self.host, id, direction, held, end.into());
        self.settle(id, direction, next)
    }

    /// Trailers come.
    pub fn trailers(&mut self, id: ExchangeId, direction: Direction) -> Next {
        self.trailers_of(id, direction, [("x-trailer", "1")])
    }

    /// These trailers come.
    pub fn trailers_of<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        id: ExchangeId,
        direction: Direction,
        trailers: impl IntoIterator<Item = (N, V)>,
    ) -> Next {
        match self.host.withhold_trailers(id, direction, trailers.into_iter().collect()) {
            Some(trailers) => self.deliver_trailers(id, direction, trailers),
            None => Next::Hold,
        }
    }

    fn deliver_trailers(&mut self, id: ExchangeId, direction: Direction, trailers: HeaderList) -> Next {
        self.host.trailers_came(id, direction, trailers);
        self.host.enter(Some(id));
        let next = self.engine.on_trailers(&*self.host, id, direction);
        self.settle(id, direction, next)
    }

    /// What was withheld while headers were held comes when they have gone on.
    fn deliver_withheld(&mut self) {
        while let Some((id, rest)) = self.host.take_deliverable() {
            if let Some(body) = rest.body {
                self.deliver_body(id, rest.direction, &body, rest.end);
            }
            if let Some(trailers) = rest.trailers {
                self.deliver_trailers(id, rest.direction, trailers);
            }
        }
    }

    /// An exchange that Envoy serves without this plugin's filter. It can be given headers and properties, through
    /// [`Worker::unseen_headers`] and the host, and be [logged](Worker::log_as_access_logger).
    pub fn open_unseen(&mut self) -> ExchangeId {
        let id = ExchangeId(self.next_id);
        self.next_id += 1;
        self.host.open(id);
        id
    }

    /// Gives an unseen exchange its headers.
    pub fn unseen_headers<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        id: ExchangeId,
        direction: Direction,
        headers: impl IntoIterator<Item = (N, V)>,
    ) {
        let headers = headers.into_iter().collect();
        match direction {
            Direction::Request => self.host.request_headers_came(id, headers),
            Direction::Response => self.host.response_headers_came(id, headers),
        }
    }

    /// The plugin is an access logger, and the exchange is over.
    pub fn log_as_access_logger(&mut self, id: ExchangeId) {
        self.host.enter(Some(id));
        self.engine.on_log_alone(&*self.host, id);
    }

    /// The plugin is about to end.
    pub fn shut_down(&mut self) -> Shutdown {
        self.host.enter(None);
        self.engine.on_shutdown(&*self.host)
    }

    fn settle(&mut self, id: ExchangeId, direction: Direction, next: Next) -> Next {
        if next == Next::Continue {
            self.host.pass_on(id, direction);
        }
        self.deliver_withheld();
        next
    }

    /// The exchange ends in the normal way: it is logged, then closed.
    pub fn finish(&mut self, id: ExchangeId) {
        self.host.enter(Some(id));
        self.engine.on_log(&*self.host, id);
        self.abort(id);
    }

    /// Logs the exchange and keeps it open.
    pub fn log(&mut self, id: ExchangeId) {
        self.host.enter(Some(id));
        self.engine.on_log(&*self.host, id);
    }

    /// The downstream client goes away.
    pub fn abort(&mut self, id: ExchangeId) {
        self.host.enter(Some(id));
        self.engine.close(&*self.host, id);
        self.host.close(id);
    }

    /// Lets time pass: ticks come at their period, and call-outs time out.
    pub fn advance(&mut self, by: Duration) {
        let end = self.host.now_plus(by);
        while let Some(event) = self.host.next_event(end) {
            match event {
                host::Event::Tick => {
                    self.host.enter(None);
                    self.engine.on_tick(&*self.host);
                    self.deliver_withheld();
                }
                host::Event::Timeout(token) => self.answer(token, 504, &[], b""),
            }
        }
    }

    /// Call-outs that have had no reply yet, in the order of their sending.
    pub fn pending_calls(&self) -> Vec<RecordedCall> {
        self.host.pending_calls()
    }

    /// The only call-out that has had no reply yet.
    ///
    /// # Panics
    /// If there is none, or more than one.
    pub fn pending_call(&self) -> RecordedCall {
        let calls = self.pending_calls();
        assert_eq!(calls.len(), 1, "pending call-outs: {calls:#?}");
        calls[0].clone()
    }

    /// Answers a call-out.
    pub fn answer(&mut self, token: CallToken, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        self.answer_with_trailers(token, status, headers, body, &[]);
    }

    /// Answers a call-out with a message that has trailers.
    pub fn answer_with_trailers(
        &mut self,
        token: CallToken,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
        trailers: &[(&str, &str)],
    ) {
        let mut list = HeaderList::new();
        list.add(":status", status.to_string().as_bytes());
        for (name, value) in headers {
            list.add(name, value.as_bytes());
        }
        self.reply_to_call(token, list, body, trailers.iter().copied().collect());
    }

    /// Answers a call-out with exactly these headers.
    pub fn answer_raw(&mut self, token: CallToken, headers: HeaderList, body: &[u8]) {
        self.reply_to_call(token, headers, body, HeaderList::new());
    }

    /// Has a call-out fail: reset, or connection refused.
    pub fn fail_call(&mut self, token: CallToken) {
        self.reply_to_call(token, HeaderList::new(), b"", HeaderList::new());
    }

    fn reply_to_call(&mut self, token: CallToken, headers: HeaderList, body: &[u8], trailers: HeaderList) {
        let reply = CallOutReply { token, headers: headers.len(), body: body.len() };
        self.host.begin_call_reply(token, headers, body, trailers);
        self.host.enter(None);
        self.engine.on_call_out_reply(&*self.host, reply);
        self.host.end_call_reply();
        self.deliver_withheld();
    }

    /// What has become of the request.
    pub fn fate(&self, id: ExchangeId) -> Fate {
        self.host.fate(id)
    }

    /// The policies' reply.
    ///
    /// # Panics
    /// If there is none.
    pub fn reply(&self, id: ExchangeId) -> RenderedReply {
        match self.fate(id) {
            Fate::Replied(reply) => reply,
            other => panic!("no reply but {other:?}"),
        }
    }

    /// How many exchanges the engine holds open.
    pub fn open_exchanges(&self) -> usize {
        self.engine.open_exchanges()
    }

    /// The log lines so far at `level` and above.
    pub fn log_lines(&self, level: Level) -> Vec<String> {
        self.host.log_lines(level)
    }
}
