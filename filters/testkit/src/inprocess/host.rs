//! The host that policies see in a test.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

use portcullis_policy::host::{
    CallOut, CallOuts, CallToken, Clock, Direction, Focus, HeaderMap, Level, LogLines, Messages, MetricId,
    MetricKind, Metrics, Properties, SharedStore, Steering, Write,
};
use portcullis_policy::reply::RenderedReply;
use portcullis_policy::time::{MonotonicTime, Timestamp};
use portcullis_policy::{ExchangeId, HeaderList, HostError};

use super::{Fate, SharedData};

/// A kind of host call that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Reading headers.
    ReadHeaders,
    /// Changing headers.
    WriteHeaders,
    /// Reading bodies.
    ReadBody,
    /// Replacing bodies.
    ReplaceBody,
    /// Reading properties.
    ReadProperty,
    /// Setting properties.
    WriteProperty,
    /// Reading shared data.
    ReadShared,
    /// Writing shared data.
    WriteShared,
    /// Sending a call-out: the cluster refuses it.
    CallOut,
    /// Sending a call-out: there is no such cluster.
    UnknownCluster,
    /// Reading a call-out's reply.
    ReadCallOut,
    /// Defining metrics.
    DefineMetric,
    /// Starting the tick.
    Tick,
    /// Telling the time.
    Clock,
}

/// A call-out that a policy sent.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// Its token.
    pub token: CallToken,
    /// The cluster.
    pub cluster: String,
    /// Its headers.
    pub headers: HeaderList,
    /// Its body.
    pub body: Vec<u8>,
    /// Its timeout.
    pub timeout: Duration,
    deadline: Timestamp,
}

impl RecordedCall {
    /// The first value of a header, as text.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }
}

pub(super) enum Event {
    Tick,
    Timeout(CallToken),
}

/// When a host delivers the body of a message whose headers a policy holds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum BodyDelivery {
    /// At once, as Envoy does with `allow_on_headers_stop_iteration: true`.
    #[default]
    WhileHeadersAreHeld,
    /// When the headers have gone on, as Envoy does otherwise.
    AfterHeaders,
}

/// The rest of a message that the host has and has not delivered.
pub(super) struct Withheld {
    pub(super) direction: Direction,
    pub(super) body: Option<Vec<u8>>,
    pub(super) end: bool,
    pub(super) trailers: Option<HeaderList>,
}

impl Withheld {
    /// Whether nothing of the message is still to come.
    fn is_complete(&self) -> bool {
        self.end || self.trailers.is_some()
    }
}

#[derive(Default)]
struct Message {
    headers: HeaderList,
    /// None before they have come.
    trailers: Option<HeaderList>,
    held: Vec<u8>,
    passed: Vec<u8>,
    admitted: bool,
    /// Bytes of body that have come to the host.
    received: usize,
    withheld: Option<Withheld>,
}

#[derive(Default)]
struct ExchangeRecord {
    request: Message,
    response: Message,
    reply: Option<RenderedReply>,
    properties: HashMap<Vec<String>, Vec<u8>>,
    closed: bool,
}

impl ExchangeRecord {
    fn message(&mut self, direction: Direction) -> &mut Message {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}

struct State {
    now: Timestamp,
    monotonic: MonotonicTime,
    tick: Option<(Duration, Timestamp)>,
    focus: Option<ExchangeId>,
    exchanges: BTreeMap<ExchangeId, ExchangeRecord>,
    calls: Vec<RecordedCall>,
    calls_sent: usize,
    reply_headers: HeaderList,
    reply_body: Vec<u8>,
    reply_trailers: HeaderList,
    shutdowns_completed: usize,
    metrics: Vec<(String, i64)>,
    log: Vec<(Level, String)>,
    plugin_name: Option<Vec<u8>>,
    body_delivery: BodyDelivery,
    body_bytes_read: usize,
    reads: Vec<String>,
    faults: HashSet<Fault>,
}

impl State {
    fn move_clocks_to(&mut self, time: Timestamp) {
        self.monotonic = self.monotonic.after(time.since(self.now));
        self.now = time.max(self.now);
    }
}

/// A host whose every answer the test decides.
pub struct TestHost {
    shared: SharedData,
    state: RefCell<State>,
}

impl TestHost {
    /// A host at 2026-01-01T00:00:00Z with this shared data.
    pub fn new(shared: SharedData) -> Self {
        Self {
            shared,
            state: RefCell::new(State {
                now: Timestamp::from_nanos(1_767_225_600_000_000_000),
                monotonic: MonotonicTime::from_nanos(3_600_000_000_000),
                tick: None,
                focus: None,
                exchanges: BTreeMap::new(),
                calls: Vec::new(),
                calls_sent: 0,
                reply_headers: HeaderList::new(),
                reply_body: Vec::new(),
                reply_trailers: HeaderList::new(),
                shutdowns_completed: 0,
                metrics: Vec::new(),
                log: Vec::new(),
                plugin_name: None,
                body_delivery: BodyDelivery::default(),
                body_bytes_read: 0,
                reads: Vec::new(),
                faults: HashSet::new(),
            }),
        }
    }

    /// Has a kind of call fail from now on.
    pub fn fail(&self, fault: Fault) {
        self.state.borrow_mut().faults.insert(fault);
    }

    /// Says when bodies are delivered.
    pub fn deliver_bodies(&self, when: BodyDelivery) {
        self.state.borrow_mut().body_delivery = when;
    }

    /// Ends a fault.
    pub fn mend(&self, fault: Fault) {
        self.state.borrow_mut().faults.remove(&fault);
    }

    /// Sets the wall clock, back or forth. The monotonic clock does not notice, nor do ticks and timeouts: they come after
    /// as long as they would have.
    pub fn set_time(&self, now: Timestamp) {
        let mut state = self.state.borrow_mut();
        let before = std::mem::replace(&mut state.now, now);
        let moved = |due: Timestamp| now.after(due.since(before));
        for call in &mut state.calls {
            call.deadline = moved(call.deadline);
        }
        if let Some((_, due)) = &mut state.tick {
            *due = moved(*due);
        }
    }

    /// Sets the monotonic clock alone, as no host should.
    pub fn set_monotonic(&self, time: MonotonicTime) {
        self.state.borrow_mut().monotonic = time;
    }

    /// How many times the host was told that a shutdown is complete.
    pub fn shutdowns_completed(&self) -> usize {
        self.state.borrow().shutdowns_completed
    }

    /// Loses a call-out: no reply of any kind will come, not even a timeout.
    pub fn forget_call(&self, token: CallToken) {
        self.state.borrow_mut().calls.retain(|call| call.token != token);
    }

    /// Has the next tick come with the next bit of time, whatever the clock says.
    pub fn tick_now(&self) {
        let mut state = self.state.borrow_mut();
        let now = state.now;
        if let Some((_, due)) = &mut state.tick {
            *due = now;
        }
    }

    /// The headers that the upstream would see, or has seen.
    pub fn upstream_headers(&self, id: ExchangeId) -> HeaderList {
        self.state.borrow().exchanges[&id].request.headers.clone()
    }

    /// The response's headers that the client would see, or has seen.
    pub fn downstream_headers(&self, id: ExchangeId) -> HeaderList {
        self.state.borrow().exchanges[&id].response.headers.clone()
    }

    /// The trailers that the upstream would see, if any have come.
    pub fn upstream_trailers(&self, id: ExchangeId) -> Option<HeaderList> {
        self.state.borrow().exchanges[&id].request.trailers.clone()
    }

    /// The body bytes that have gone on to the upstream (or downstream, for a response).
    pub fn passed_body(&self, id: ExchangeId, direction: Direction) -> Vec<u8> {
        self.state.borrow_mut().exchanges.get_mut(&id).expect("exchange").message(direction).passed.clone()
    }

    /// Whether a message has gone on, or at least its headers.
    pub fn has_gone_on(&self, id: ExchangeId, direction: Direction) -> bool {
        self.state.borrow_mut().exchanges.get_mut(&id).expect("exchange").message(direction).admitted
    }

    /// A property that a policy has set on the exchange.
    pub fn property_of(&self, id: ExchangeId, path: &[&str]) -> Option<Vec<u8>> {
        let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        self.state.borrow().exchanges[&id].properties.get(&path).cloned()
    }

    /// Gives the exchange a property, as the host itself would.
    pub fn give_property(&self, id: ExchangeId, path: &[&str], value: &[u8]) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        let mut state = self.state.borrow_mut();
        state.exchanges.get_mut(&id).expect("exchange").properties.insert(path, value.to_vec());
    }

    /// Gives the plugin a name, which it has none of at first.
    pub fn name_plugin(&self, name: &str) {
        self.state.borrow_mut().plugin_name = Some(name.as_bytes().to_vec());
    }

    /// A metric's value; zero if nobody has defined it.
    pub fn metric(&self, name: &str) -> i64 {
        self.state.borrow().metrics.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value)
    }

    /// What has been read of exchanges since this was last asked, in order: properties as `request.time`, maps as
    /// `RequestHeaders`. What was not there counts too, for a host is asked for it all the same.
    pub fn take_reads(&self) -> Vec<String> {
        core::mem::take(&mut self.state.borrow_mut().reads)
    }

    /// How many bytes of bodies have been read since this was last asked, those that were read twice counted twice.
    pub fn take_body_bytes_read(&self) -> usize {
        core::mem::take(&mut self.state.borrow_mut().body_bytes_read)
    }

    /// How many exchanges there have been, those that are over included.
    pub fn exchanges(&self) -> usize {
        self.state.borrow().exchanges.len()
    }

    /// How many call-outs have been sent in all.
    pub fn calls_sent(&self) -> usize {
        self.state.borrow().calls_sent
    }

    /// The lines of the log, of this level and those above.
    pub fn log_lines(&self, level: Level) -> Vec<String> {
        let state = self.state.borrow();
        state.log.iter().filter(|(of, _)| *of >= level).map(|(_, line)| line.clone()).collect()
    }

    pub(super) fn fate(&self, id: ExchangeId) -> Fate {
        let state = self.state.borrow();
        let exchange = &state.exchanges[&id];
        match &exchange.reply {
            Some(reply) => Fate::Replied(reply.clone()),
            None if exchange.request.admitted => Fate::Admitted,
            None => Fate::Held,
        }
    }

    pub(super) fn open(&self, id: ExchangeId) {
        self.state.borrow_mut().exchanges.insert(id, ExchangeRecord::default());
    }

    pub(super) fn close(&self, id: ExchangeId) {
        if let Some(exchange) = self.state.borrow_mut().exchanges.get_mut(&id) {
            exchange.closed = true;
        }
    }

    pub(super) fn enter(&self, id: Option<ExchangeId>) {
        self.state.borrow_mut().focus = id;
    }

    pub(super) fn request_headers_came(&self, id: ExchangeId, headers: HeaderList) {
        self.state.borrow_mut().exchanges.get_mut(&id).expect("exchange").request.headers = headers;
    }

    pub(super) fn response_headers_came(&self, id: ExchangeId, headers: HeaderList) {
        self.state.borrow_mut().exchanges.get_mut(&id).expect("exchange").response.headers = headers;
    }

    pub(super) fn trailers_came(&self, id: ExchangeId, direction: Direction, trailers: HeaderList) {
        let mut state = self.state.borrow_mut();
        state.exchanges.get_mut(&id).expect("exchange").message(direction).trailers = Some(trailers);
    }

    pub(super) fn body_came(&self, id: ExchangeId, direction: Direction, bytes: &[u8]) -> usize {
        let mut state = self.state.borrow_mut();
        let message = state.exchanges.get_mut(&id).expect("exchange").message(direction);
        message.held.extend_from_slice(bytes);
        message.held.len()
    }

    /// Body of a message came; gives it back if it is to be delivered now.
    pub(super) fn withhold<'a>(
        &self,
        id: ExchangeId,
        direction: Direction,
        bytes: &'a [u8],
        end: bool,
    ) -> Option<&'a [u8]> {
        let mut state = self.state.borrow_mut();
        let delivery = state.body_delivery;
        let message = state.exchanges.get_mut(&id).expect("exchange").message(direction);
        message.received += bytes.len();
        if delivery == BodyDelivery::WhileHeadersAreHeld || message.admitted {
            return Some(bytes);
        }
        let withheld =
            message.withheld.get_or_insert(Withheld { direction, body: None, end, trailers: None });
        withheld.body.get_or_insert_default().extend_from_slice(bytes);
        withheld.end = end;
        None
    }

    /// The same for trailers.
    pub(super) fn withhold_trailers(
        &self,
        id: ExchangeId,
        direction: Direction,
        trailers: HeaderList,
    ) -> Option<HeaderList> {
        let mut state = self.state.borrow_mut();
        let delivery = state.body_delivery;
        let message = state.exchanges.get_mut(&id).expect("exchange").message(direction);
        if delivery == BodyDelivery::WhileHeadersAreHeld || message.admitted {
            return Some(trailers);
        }
        let withheld =
            message.withheld.get_or_insert(Withheld { direction, body: None, end: false, trailers: None });
        withheld.trailers = Some(trailers);
        None
    }

    /// What can be delivered now that its headers have gone on.
    pub(super) fn take_deliverable(&self) -> Option<(ExchangeId, Withheld)> {
        let mut state = self.state.borrow_mut();
        state.exchanges.iter_mut().filter(|(_, exchange)| !exchange.closed).find_map(|(id, exchange)| {
            [Direction::Request, Direction::Response].into_iter().find_map(|direction| {
                let message = exchange.message(direction);
                if message.admitted { Some((*id, message.withheld.take()?)) } else { None }
            })
        })
    }

    pub(super) fn pass_on(&self, id: ExchangeId, direction: Direction) {
        let mut state = self.state.borrow_mut();
        let exchange = state.exchanges.get_mut(&id).expect("exchange");
        assert!(
            exchange.reply.is_none() || direction == Direction::Response,
            "a request went on after a reply was sent"
        );
        let message = exchange.message(direction);
        message.admitted = true;
        let held = std::mem::take(&mut message.held);
        message.passed.extend(held);
    }

    pub(super) fn now_plus(&self, by: Duration) -> Timestamp {
        self.state.borrow().now.after(by)
    }

    /// Moves the clock to what happens next, or to `end` if nothing does before.
    pub(super) fn next_event(&self, end: Timestamp) -> Option<Event> {
        let mut state = self.state.borrow_mut();
        let timeout = state.calls.iter().map(|call| (call.deadline, call.token)).min();
        let tick = state.tick.map(|(_, due)| due);
        match (timeout, tick) {
            (Some((due, token)), tick) if due <= end && tick.is_none_or(|tick| due <= tick) => {
                state.move_clocks_to(due);
                Some(Event::Timeout(token))
            }
            (_, Some(due)) if due <= end => {
                state.move_clocks_to(due);
                if let Some((period, due)) = &mut state.tick {
                    *due = due.after(*period);
                }
                Some(Event::Tick)
            }
            _ => {
                state.move_clocks_to(end);
                None
            }
        }
    }

    pub(super) fn pending_calls(&self) -> Vec<RecordedCall> {
        self.state.borrow().calls.clone()
    }

    pub(super) fn begin_call_reply(
        &self,
        token: CallToken,
        headers: HeaderList,
        body: &[u8],
        trailers: HeaderList,
    ) {
        let mut state = self.state.borrow_mut();
        let before = state.calls.len();
        state.calls.retain(|call| call.token != token);
        assert!(state.calls.len() < before, "no such call-out is pending: {token:?}");
        state.reply_headers = headers;
        state.reply_body = body.to_vec();
        state.reply_trailers = trailers;
    }

    pub(super) fn end_call_reply(&self) {
        let mut state = self.state.borrow_mut();
        state.reply_headers = HeaderList::new();
        state.reply_body.clear();
        state.reply_trailers = HeaderList::new();
    }

    fn check(&self, fault: Fault) -> Result<(), HostError> {
        if self.state.borrow().faults.contains(&fault) { Err(HostError::InternalFailure) } else { Ok(()) }
    }

    fn focused<T>(&self, run: impl FnOnce(&mut ExchangeRecord) -> T) -> Result<T, HostError> {
        let mut state = self.state.borrow_mut();
        let id = state.focus.ok_or(HostError::BadArgument)?;
        state.exchanges.get_mut(&id).map(run).ok_or(HostError::NotFound)
    }
}

fn list(exchange: &mut ExchangeRecord, map: HeaderMap) -> Result<&mut HeaderList, HostError> {
    match map {
        HeaderMap::RequestHeaders => Ok(&mut exchange.request.headers),
        HeaderMap::ResponseHeaders => Ok(&mut exchange.response.headers),
        HeaderMap::RequestTrailers => exchange.request.trailers.as_mut().ok_or(HostError::NotFound),
        HeaderMap::ResponseTrailers => exchange.response.trailers.as_mut().ok_or(HostError::NotFound),
    }
}

impl Messages for TestHost {
    fn headers(&self, map: HeaderMap) -> Result<HeaderList, HostError> {
        self.state.borrow_mut().reads.push(format!("{map:?}"));
        self.check(Fault::ReadHeaders)?;
        self.focused(|exchange| list(exchange, map).cloned())?
    }

    fn add_header(&self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        self.check(Fault::WriteHeaders)?;
        self.focused(|exchange| list(exchange, map).map(|headers| headers.add(name, value)))?
    }

    fn set_header(&self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        self.check(Fault::WriteHeaders)?;
        self.focused(|exchange| list(exchange, map).map(|headers| headers.set(name, value)))?
    }

    fn remove_header(&self, map: HeaderMap, name: &str) -> Result<(), HostError> {
        self.check(Fault::WriteHeaders)?;
        self.focused(|exchange| list(exchange, map).map(|headers| headers.remove(name)))?
    }

    fn body(&self, direction: Direction, range: Range<usize>) -> Result<Vec<u8>, HostError> {
        self.check(Fault::ReadBody)?;
        let bytes = self.focused(|exchange| {
            let held = &exchange.message(direction).held;
            held[range.start.min(held.len())..range.end.min(held.len())].to_vec()
        })?;
        self.state.borrow_mut().body_bytes_read += bytes.len();
        Ok(bytes)
    }

    fn replace_body(&self, direction: Direction, range: Range<usize>, with: &[u8]) -> Result<(), HostError> {
        self.check(Fault::ReplaceBody)?;
        self.focused(|exchange| {
            let held = &mut exchange.message(direction).held;
            let range = range.start.min(held.len())..range.end.min(held.len());
            held.splice(range, with.iter().copied());
        })
    }
}

/// Names and values of the headers, and the body, as Envoy counts them.
fn total_size(request: &Message) -> Vec<u8> {
    let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    ((headers + request.received) as u64).to_le_bytes().to_vec()
}

impl Properties for TestHost {
    fn property(&self, path: &[&str]) -> Result<Vec<u8>, HostError> {
        self.state.borrow_mut().reads.push(path.join("."));
        self.check(Fault::ReadProperty)?;
        // The plugin's, not an exchange's.
        if let (["plugin_name"], Some(name)) = (path, &self.state.borrow().plugin_name) {
            return Ok(name.clone());
        }
        let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
        self.focused(|exchange| {
            let given = exchange.properties.get(&path).cloned();
            given
                .or_else(|| (path == ["request", "total_size"]).then(|| total_size(&exchange.request)))
                .or_else(|| {
                    let is_complete = exchange.response.withheld.as_ref().is_some_and(Withheld::is_complete);
                    (path == ["response", "backend_latency"] && is_complete).then(|| b"0.001s".to_vec())
                })
        })?
        .ok_or(HostError::NotFound)
    }

    fn set_property(&self, path: &[&str], value: &[u8]) -> Result<(), HostError> {
        self.check(Fault::WriteProperty)?;
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.focused(|exchange| exchange.properties.insert(path, value.to_vec())).map(|_| ())
    }
}

impl Clock for TestHost {
    fn now(&self) -> Timestamp {
        match self.check(Fault::Clock) {
            Ok(()) => self.state.borrow().now,
            Err(_) => Timestamp::END,
        }
    }

    fn monotonic(&self) -> Result<MonotonicTime, HostError> {
        self.check(Fault::Clock)?;
        Ok(self.state.borrow().monotonic)
    }
}

impl SharedStore for TestHost {
    fn shared(&self, key: &str) -> Result<(Vec<u8>, u32), HostError> {
        self.check(Fault::ReadShared)?;
        self.shared.get(key)
    }

    fn set_shared(&self, key: &str, value: &[u8], write: Write) -> Result<(), HostError> {
        self.check(Fault::WriteShared)?;
        self.shared.set(key, value, write)
    }
}

impl CallOuts for TestHost {
    fn call_out(&self, request: &CallOut<'_>) -> Result<CallToken, HostError> {
        self.check(Fault::CallOut)?;
        self.check(Fault::UnknownCluster).map_err(|_| HostError::BadArgument)?;
        let mut state = self.state.borrow_mut();
        assert_eq!(state.focus, None, "a call-out must belong to the worker, not to an exchange");
        for name in [":method", ":path", ":authority"] {
            if !request.headers.iter().any(|(header, value)| *header == name && !value.is_empty()) {
                return Err(HostError::BadArgument);
            }
        }
        state.calls_sent += 1;
        let token = CallToken(u32::try_from(state.calls_sent).expect("token"));
        let deadline = state.now.after(request.timeout);
        state.calls.push(RecordedCall {
            token,
            cluster: request.cluster.to_owned(),
            headers: request.headers.iter().copied().collect(),
            body: request.body.to_vec(),
            timeout: request.timeout,
            deadline,
        });
        Ok(token)
    }

    fn call_out_headers(&self) -> Result<HeaderList, HostError> {
        self.check(Fault::ReadCallOut)?;
        Ok(self.state.borrow().reply_headers.clone())
    }

    fn call_out_body(&self, limit: usize) -> Result<Vec<u8>, HostError> {
        self.check(Fault::ReadCallOut)?;
        Ok(self.state.borrow().reply_body.iter().take(limit).copied().collect())
    }

    fn call_out_trailers(&self) -> Result<HeaderList, HostError> {
        self.check(Fault::ReadCallOut)?;
        Ok(self.state.borrow().reply_trailers.clone())
    }
}

impl Metrics for TestHost {
    fn define_metric(&self, _kind: MetricKind, name: &str) -> Result<MetricId, HostError> {
        self.check(Fault::DefineMetric)?;
        let mut state = self.state.borrow_mut();
        let at = state.metrics.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            state.metrics.push((name.to_owned(), 0));
            state.metrics.len() - 1
        });
        Ok(MetricId(u32::try_from(at).expect("metric")))
    }

    fn increment_metric(&self, metric: MetricId, by: i64) -> Result<(), HostError> {
        self.state.borrow_mut().metrics[metric.0 as usize].1 += by;
        Ok(())
    }

    fn record_metric(&self, metric: MetricId, value: u64) -> Result<(), HostError> {
        self.state.borrow_mut().metrics[metric.0 as usize].1 = i64::try_from(value).expect("gauge");
        Ok(())
    }
}

impl LogLines for TestHost {
    fn log(&self, level: Level, line: &str) {
        self.state.borrow_mut().log.push((level, line.to_owned()));
    }
}

impl Steering for TestHost {
    fn focus(&self, on: Focus) -> Result<(), HostError> {
        let mut state = self.state.borrow_mut();
        state.focus = match on {
            Focus::Worker => None,
            Focus::Exchange(id) => match state.exchanges.get(&id) {
                Some(exchange) if !exchange.closed => Some(id),
                _ => return Err(HostError::BadArgument),
            },
        };
        Ok(())
    }

    fn resume(&self, direction: Direction) -> Result<(), HostError> {
        let id = self.state.borrow().focus.ok_or(HostError::BadArgument)?;
        self.pass_on(id, direction);
        Ok(())
    }

    fn reply(&self, reply: &RenderedReply) -> Result<(), HostError> {
        self.focused(|exchange| {
            assert!(exchange.reply.is_none(), "two replies to one request");
            exchange.reply = Some(reply.clone());
        })
    }

    fn tick_every(&self, period: Duration) -> Result<(), HostError> {
        self.check(Fault::Tick)?;
        let mut state = self.state.borrow_mut();
        state.tick = (!period.is_zero()).then(|| (period, state.now.after(period)));
        Ok(())
    }

    fn shutdown_complete(&self) -> Result<(), HostError> {
        self.state.borrow_mut().shutdowns_completed += 1;
        Ok(())
    }
}
