//! An exchange as policies see it, and the worker that serves it.

use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;
use std::rc::Rc;

use portcullis_xml::{Charset, Limits};

use crate::headers::{HeaderList, is_field};
use crate::held_memory::{ExchangeMemory, MemoryFull};
use crate::host::{CallOut, CallToken, Direction, Focus, HeaderMap, Host, HostError, Platform};
use crate::own_headers::{OwnHeaders, named};
use crate::policy::SecretName;
use crate::shared_document::SharedDocument;
use crate::spelling;

/// Names an exchange among those of a worker, for as long as it lasts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub u32);

/// A policy's wish to have an exchange woken that waits for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wake {
    pub(crate) id: ExchangeId,
    /// The policy's place in the chain: a wake is good for no other policy that the exchange may wait for.
    pub(crate) link: usize,
}

/// Who the caller is, once a policy has established it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The client's identifier.
    pub client_id: String,
    /// A name for people.
    pub name: Option<String>,
    /// The service tier that the client belongs to.
    pub tier: Option<String>,
}

/// What a policy decided on an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It let the request pass.
    Passed,
    /// It had nothing to say on this request.
    Skipped,
    /// It refused the request.
    Rejected,
    /// It could not decide, and let the request pass as configured.
    FailedOpen,
    /// It could not decide, and refused the request as configured.
    FailedClosed,
}

impl Verdict {
    /// The word for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Rejected => "rejected",
            Self::FailedOpen => "failed-open",
            Self::FailedClosed => "failed-closed",
        }
    }
}

/// A verdict with its author and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The policy's name.
    pub policy: &'static str,
    /// What it decided.
    pub verdict: Verdict,
    /// Why, in a word of the policy's documentation: `missing`, `invalid`.
    pub reason: &'static str,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.policy, self.verdict.as_str(), self.reason)
    }
}

/// How much of a quota a response tells its client of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaLeft {
    /// How many more requests it would admit now.
    pub remaining: u64,
    /// The time until it would admit a request; zero when it would now.
    pub retry: Duration,
}

impl QuotaLeft {
    /// Whether this one matters more to the client: it admits nothing for longer or, if neither differs in that, it
    /// admits less.
    pub fn is_tighter_than(self, other: Self) -> bool {
        let rank = |quota: Self| (quota.retry, Reverse(quota.remaining));
        rank(self) > rank(other)
    }
}

/// What the policies of a chain know together about one exchange.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) request: Option<HeaderList>,
    pub(crate) guard: Guard,
    pub(crate) identity: Option<Rc<Identity>>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) original_path: Original,
    pub(crate) original_length: Original,
    /// What the response tells of quotas, by the field that tells it.
    pub(crate) quotas_told: Vec<(&'static str, QuotaLeft)>,
    /// The request's body, as far as a policy has read it for others.
    pub(crate) document: Option<SharedDocument>,
    pub(crate) memory: Memory,
}

/// What an open exchange takes of its worker's memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// All that is counted of it.
    counted: ExchangeMemory,
    /// What every exchange takes, in bytes.
    footprint: usize,
    /// What policies keep of it, in bytes.
    kept: usize,
    /// What all exchanges of the worker may take, in bytes.
    most: usize,
}

/// What a request header was before a policy changed it.
#[derive(Debug, Default)]
pub(crate) enum Original {
    /// It is as it came.
    #[default]
    Unchanged,
    /// It had this value, or was not there.
    Was(Option<Vec<u8>>),
}

impl Original {
    /// Remembers what is about to change, unless that is not what came.
    fn keep(&mut self, name: &str, headers: &HeaderList) {
        if matches!(self, Self::Unchanged) {
            *self = Self::Was(headers.first(name).map(<[u8]>::to_vec));
        }
    }

    /// How many bytes the value takes, if it is kept.
    fn memory(&self) -> usize {
        match self {
            Self::Was(Some(value)) => value.capacity(),
            Self::Was(None) | Self::Unchanged => 0,
        }
    }

    /// The value that came.
    fn of<'a>(&'a self, name: &str, headers: Option<&'a HeaderList>) -> Option<&'a [u8]> {
        match self {
            Self::Unchanged => headers?.first(name),
            Self::Was(value) => value.as_deref(),
        }
    }
}

/// Whether the request's headers still have what only policies may set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nobody needs to look.
    #[default]
    Off,
    /// They may.
    Due,
    /// It has been removed.
    Done,
}

impl Facts {
    /// An exchange begins that takes at least `footprint` bytes of the `most` that all may take.
    pub(crate) fn begin(&mut self, footprint: usize, most: usize) {
        self.memory.footprint = footprint;
        self.memory.most = most;
        self.memory.counted.set(footprint);
    }

    /// Counts what is held now: to be called when policies have been.
    pub(crate) fn count_memory(&mut self) {
        let request = self.request.as_ref().map_or(0, HeaderList::memory);
        let originals = self.original_path.memory().saturating_add(self.original_length.memory());
        let Memory { counted, footprint, kept, .. } = &mut self.memory;
        counted.set(request.saturating_add(originals).saturating_add(*footprint).saturating_add(*kept));
    }

    /// Forgets the copy of the request's headers: no policy asks for it any more, or those that do ask the host again.
    pub(crate) fn forget_request_headers(&mut self) {
        self.request = None;
    }

    /// Makes ready for another exchange, keeping allocations that can serve again.
    pub(crate) fn reset(&mut self) {
        self.memory = Memory::default();
        self.request = None;
        self.guard = Guard::Off;
        self.identity = None;
        self.original_path = Original::Unchanged;
        self.original_length = Original::Unchanged;
        self.outcomes.clear();
        self.quotas_told.clear();
        self.document = None;
    }
}

/// One HTTP request and its response, in a callback.
pub struct Exchange<'a> {
    pub(crate) platform: &'a dyn Platform,
    pub(crate) id: ExchangeId,
    pub(crate) facts: &'a mut Facts,
    pub(crate) wakes: &'a mut Vec<Wake>,
    pub(crate) own_headers: &'a OwnHeaders,
    /// The place in the chain of the policy that is being called.
    pub(crate) link: usize,
    /// How many bytes of body the policy that is being called may replace: all that is held of a message that it has
    /// held since its headers came.
    pub(crate) replaceable: Option<usize>,
    /// The limits within which a policy behind this one wants requests read as XML.
    pub(crate) document_wanted: Option<Rc<Limits>>,
}

impl<'a> Exchange<'a> {
    /// The exchange as a callback begins: no policy has been called, and none may replace anything.
    pub(crate) fn new(
        platform: &'a dyn Platform,
        id: ExchangeId,
        facts: &'a mut Facts,
        wakes: &'a mut Vec<Wake>,
        own_headers: &'a OwnHeaders,
    ) -> Self {
        Self { platform, id, facts, wakes, own_headers, link: 0, replaceable: None, document_wanted: None }
    }
}

impl Exchange<'_> {
    /// The exchange's name, to wake it by.
    pub fn id(&self) -> ExchangeId {
        self.id
    }

    /// The host, for all that is not the exchange's own messages.
    pub fn host(&self) -> &dyn Host {
        self.platform.as_host()
    }

    /// The request's headers as the chain has left them, read from the host once for all policies. They stay
    /// readable after the request phase, when the host may no longer have them, until a policy replies: then the copy is
    /// dropped, and the host is asked again, which has them in the log callback. Headers that only policies of the chain
    /// may set are among them only if a policy has set them ([`Policy::own_headers`](crate::Policy::own_headers)).
    ///
    /// # Errors
    /// The host's refusal.
    pub fn request_headers(&mut self) -> Result<&HeaderList, HostError> {
        if self.facts.request.is_none() {
            let mut headers = self.platform.headers(HeaderMap::RequestHeaders)?;
            if self.facts.guard == Guard::Due {
                self.own_headers.strip(&mut headers, self.platform)?;
                self.facts.guard = Guard::Done;
            }
            self.facts.request = Some(headers);
        }
        self.facts.request.as_ref().ok_or(HostError::NotFound)
    }

    /// The request's headers if a policy has read them, and none has replied since.
    pub fn known_request_headers(&self) -> Option<&HeaderList> {
        self.facts.request.as_ref()
    }

    /// Replaces all fields of the request that some reader takes for this name by one.
    ///
    /// # Errors
    /// [`HostError::BadArgument`] if the name or the value [may not be sent](crate::headers::is_field_value); the host's
    /// refusal.
    pub fn set_request_header(&mut self, name: &str, value: &[u8]) -> Result<(), HostError> {
        check_field(name, value)?;
        self.keep_original(name);
        self.remove_other_spellings(name)?;
        self.platform.set_header(HeaderMap::RequestHeaders, name, value)?;
        if let Some(headers) = &mut self.facts.request {
            headers.set(name, value);
        }
        Ok(())
    }

    /// Removes all fields from the request that some reader takes for this name. Costs nothing when the request has none.
    ///
    /// # Errors
    /// The host's refusal.
    pub fn remove_request_header(&mut self, name: &str) -> Result<(), HostError> {
        self.keep_original(name);
        self.remove_request_headers(|field| spelling::is_same(field, name.as_bytes()))
    }

    fn remove_other_spellings(&mut self, name: &str) -> Result<(), HostError> {
        let name = name.as_bytes();
        self.remove_request_headers(|field| field != name && spelling::is_same(field, name))
    }

    /// Removes the fields of the request that are meant by their names.
    fn remove_request_headers(&mut self, is_meant: impl Fn(&[u8]) -> bool) -> Result<(), HostError> {
        for name in named(self.request_headers()?, is_meant)? {
            self.platform.remove_header(HeaderMap::RequestHeaders, &name)?;
            if let Some(headers) = &mut self.facts.request {
                headers.remove(&name);
            }
        }
        Ok(())
    }

    /// Replaces all fields of this name in a map by one; in a request, in all [spellings](crate::spelling).
    ///
    /// # Errors
    /// [`HostError::BadArgument`] if the name or the value [may not be sent](crate::headers::is_field_value); the host's
    /// refusal.
    pub fn set_header(&mut self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        match map {
            HeaderMap::RequestHeaders => self.set_request_header(name, value),
            _ => {
                check_field(name, value)?;
                self.platform.set_header(map, name, value)
            }
        }
    }

    /// Appends a field to a map, keeping those of the same name; in a request, not those in other
    /// [spellings](crate::spelling), for a reader that folds names might take such a field for this one.
    ///
    /// # Errors
    /// [`HostError::BadArgument`] if the name or the value [may not be sent](crate::headers::is_field_value); the host's
    /// refusal.
    pub fn add_header(&mut self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        check_field(name, value)?;
        if map == HeaderMap::RequestHeaders {
            self.keep_original(name);
            self.remove_other_spellings(name)?;
        }
        self.platform.add_header(map, name, value)?;
        if let (HeaderMap::RequestHeaders, Some(headers)) = (map, &mut self.facts.request) {
            headers.add(name, value);
        }
        Ok(())
    }

    /// Removes all fields of this name from a map; from a request, in all [spellings](crate::spelling).
    ///
    /// # Errors
    /// The host's refusal.
    pub fn remove_header(&mut self, map: HeaderMap, name: &str) -> Result<(), HostError> {
        match map {
            HeaderMap::RequestHeaders => self.remove_request_header(name),
            _ => self.platform.remove_header(map, name),
        }
    }

    /// Remembers what this request header is, if that is asked for later and a policy is about to change it.
    fn keep_original(&mut self, name: &str) {
        if !matches!(name, ":path" | "content-length") {
            return;
        }
        // Else what came would be lost.
        let _ = self.request_headers();
        let Some(headers) = &self.facts.request else { return };
        let original =
            if name == ":path" { &mut self.facts.original_path } else { &mut self.facts.original_length };
        original.keep(name, headers);
    }

    /// The request's `:path` as it came, query included, even if a policy has changed it since.
    pub fn original_path(&self) -> Option<&[u8]> {
        self.facts.original_path.of(":path", self.facts.request.as_ref())
    }

    /// The request's `content-length` as it came, even if a policy has put another body in the place of the one that came.
    /// If none has, it is that of `headers`, the request's headers as they are.
    pub fn original_length<'b>(&'b self, headers: Option<&'b HeaderList>) -> Option<&'b [u8]> {
        self.facts.original_length.of("content-length", headers)
    }

    /// Counts bytes that the policy is about to keep of this exchange until it is over, such as a part of a body.
    ///
    /// # Errors
    /// [`MemoryFull`] if the open exchanges of the worker would take more than they may: the policy must do without.
    pub fn keep(&mut self, bytes: usize) -> Result<(), MemoryFull> {
        let Memory { most, kept, .. } = &mut self.facts.memory;
        if ExchangeMemory::of_worker().saturating_add(bytes) > *most {
            return Err(if bytes > *most { MemoryFull::Message } else { MemoryFull::Worker });
        }
        *kept = kept.saturating_add(bytes);
        self.facts.count_memory();
        Ok(())
    }

    /// Who the caller is, if a policy has established it.
    pub fn identity(&self) -> Option<&Identity> {
        self.facts.identity.as_deref()
    }

    /// Tells later policies who the caller is.
    pub fn set_identity(&mut self, identity: Rc<Identity>) {
        self.facts.identity = Some(identity);
    }

    /// What policies have decided so far, in order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.facts.outcomes
    }

    /// Records what a policy decided.
    pub fn record(&mut self, outcome: Outcome) {
        self.facts.outcomes.push(outcome);
    }

    /// The quota that the response tells of in this field, if a policy has written it: of several policies that limit
    /// requests the tightest quota should be told, wherever in the chain it stands.
    pub fn quota_told(&self, field: &str) -> Option<QuotaLeft> {
        self.facts.quotas_told.iter().find(|(told_in, _)| *told_in == field).map(|(_, left)| *left)
    }

    /// Tells other policies that the response now tells of this quota in this field, in place of any other.
    pub fn tell_quota(&mut self, field: &'static str, left: QuotaLeft) {
        match self.facts.quotas_told.iter_mut().find(|(told_in, _)| *told_in == field) {
            Some((_, told)) => *told = left,
            None => self.facts.quotas_told.push((field, left)),
        }
    }

    /// Sends an HTTP request on behalf of the worker: it outlives this exchange.
    ///
    /// # Errors
    /// The host could not send it, and no reply will come.
    pub fn call_out(&mut self, request: &CallOut<'_>) -> Result<CallToken, HostError> {
        self.platform.focus(Focus::Worker)?;
        let token = self.platform.call_out(request);
        // The host restores the focus by itself when the callback ends; a refusal here shows in the calls after it.
        let _ = self.platform.focus(Focus::Exchange(self.id));
        token
    }

    /// Has another exchange, or this one, woken when this callback is over, if it [waits](crate::Flow::Wait) for
    /// this policy; nothing happens if it is gone or does not.
    pub fn wake(&mut self, id: ExchangeId) {
        self.wakes.push(Wake { id, link: self.link });
    }

    /// Headers of a response, trailers, and so on: whatever map is there in this phase, uncached.
    ///
    /// # Errors
    /// The host's refusal.
    pub fn headers(&self, map: HeaderMap) -> Result<HeaderList, HostError> {
        self.platform.headers(map)
    }

    /// Bytes of the body that is being held.
    ///
    /// # Errors
    /// The host's refusal.
    pub fn body(&self, direction: Direction, range: core::ops::Range<usize>) -> Result<Vec<u8>, HostError> {
        self.platform.body(direction, range)
    }

    /// Puts `with` in the place of all that is held of the body: the policies that see the message next see that as if
    /// it had come so. For a policy that has held the message since its headers came
    /// ([`Flow::NeedBody`](crate::Flow::NeedBody)), in its body and trailers callbacks, on the message that they are
    /// about. Headers that say something of the body, its length for one, are the policy's to put right.
    ///
    /// # Errors
    /// [`HostError::NotFound`] for any other policy or callback, and where there is no body; or the host's refusal.
    pub fn replace_body(&mut self, direction: Direction, with: &[u8]) -> Result<(), HostError> {
        let held = self.replaceable.filter(|held| *held > 0).ok_or(HostError::NotFound)?;
        self.platform.replace_body(direction, 0..held, with)?;
        self.replaceable = Some(with.len());
        self.facts.document = None;
        Ok(())
    }

    /// The limits within which a policy behind this one would read the request's body as XML
    /// ([`Policy::document_limits`](crate::Policy::document_limits)), if one would. A policy that reads it so itself, within
    /// limits that [read the same](Limits::read_the_same), makes a tree of it on the way, and
    /// [shares](Exchange::share_document) that.
    pub fn document_wanted(&self) -> Option<&Limits> {
        self.document_wanted.as_deref()
    }

    /// Leaves what has been read of the request's body to the policies behind this one.
    pub fn share_document(&mut self, document: SharedDocument) {
        self.facts.document = Some(document);
    }

    /// Takes what a policy before this one has read of the request's body within limits that
    /// [read the same](Limits::read_the_same), if it was sent in this encoding. The number of nodes may be beyond these
    /// limits.
    pub fn take_document(&mut self, limits: &Limits, charset: Option<Charset>) -> Option<SharedDocument> {
        self.facts.document.take_if(|shared| shared.limits.read_the_same(limits) && shared.charset == charset)
    }

    /// Leaves what has been read of the request's body to the policies behind this one that want it, and forgets it if none
    /// does.
    pub fn decline_document(&mut self) {
        if self.document_wanted.is_none() {
            self.facts.document = None;
        }
    }
}

/// The worker, in a callback that belongs to no exchange.
pub struct Worker<'a> {
    pub(crate) platform: &'a dyn Platform,
    pub(crate) wakes: &'a mut Vec<Wake>,
    /// The place in the chain of the policy that is being called.
    pub(crate) link: usize,
    pub(crate) instance: usize,
    pub(crate) secret_names: Vec<SecretName>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(platform: &'a dyn Platform, wakes: &'a mut Vec<Wake>) -> Self {
        Self { platform, wakes, link: 0, instance: 0, secret_names: Vec::new() }
    }
}

impl Worker<'_> {
    /// How many policies of the same kind stand before this one in the chain. Known in
    /// [`Policy::on_start`](crate::Policy::on_start) only.
    pub fn instance(&self) -> usize {
        self.instance
    }

    /// The names under which requests carry secrets, as the policies of the chain have them. Known in
    /// [`Policy::on_start`](crate::Policy::on_start) only.
    pub fn secret_names(&self) -> &[SecretName] {
        &self.secret_names
    }

    /// The host. Headers and bodies of exchanges cannot be had from here.
    pub fn host(&self) -> &dyn Host {
        self.platform.as_host()
    }

    /// Has an exchange that [waits](crate::Flow::Wait) for this policy woken when this callback is over; nothing
    /// happens if it is gone or does not wait for this policy.
    pub fn wake(&mut self, id: ExchangeId) {
        self.wakes.push(Wake { id, link: self.link });
    }
}

/// Lets nothing through that would end a header's line: what data says must not become another header.
fn check_field(name: &str, value: &[u8]) -> Result<(), HostError> {
    if is_field(name, value) { Ok(()) } else { Err(HostError::BadArgument) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_quota_refuses_for_longer_or_else_admits_less() {
        let left = |remaining, retry| QuotaLeft { remaining, retry: Duration::from_secs(retry) };
        for (tighter, other) in [
            (left(1, 0), left(2, 0)),
            (left(9, 1), left(0, 0)),
            (left(0, 2), left(0, 1)),
            (left(0, 1), left(9, 0)),
        ] {
            assert!(
                tighter.is_tighter_than(other) && !other.is_tighter_than(tighter),
                "{tighter:?} {other:?}"
            );
        }
        assert!(!left(1, 1).is_tighter_than(left(1, 1)));
    }
}
