//! The policy itself: its callbacks, and what each may answer.

use core::ops::Range;
use core::time::Duration;

use portcullis_xml::Limits;
use serde::de::DeserializeOwned;

use crate::config::ConfigError;
use crate::exchange::{Exchange, ExchangeId, Worker};
use crate::host::CallToken;
use crate::interface::{Dependency, Fact};
use crate::most_memory::MostMemory;
use crate::reply::Reply;

/// What shall happen to an exchange next.
#[derive(Debug)]
pub enum Flow {
    /// The policy is content; the next one has its turn.
    Continue,
    /// The policy is content, and so it is with whatever else of this message follows: no further callback of the
    /// message comes to it. What no policy of a chain has to see passes at almost no cost.
    PassRest,
    /// Everything stops, the body included, until the policy wakes the exchange
    /// ([`Worker::wake`], [`Exchange::wake`]) and answers [`Policy::on_wake`]. No callback of this policy comes
    /// in between, so that a policy cannot let a body through by having no body callback.
    Wait,
    /// The policy cannot decide before it has seen more of the body; everything so far is held. Its next body or
    /// trailers callback decides. Not an answer to the last of the body or to trailers, for nothing follows.
    ///
    /// Given to request headers, it needs a host that delivers bodies while headers are held: Envoy does so only if the
    /// plugin's configuration says `allow_on_headers_stop_iteration: true`. The engine notices if the host does not, and
    /// refuses the exchange; for that it needs the tick, so a policy that gives this answer lists
    /// [`Callbacks::TICK`] and has a [`tick_period`](Policy::tick_period).
    NeedBody,
    /// The exchange ends here with this response.
    Reply(Box<Reply>),
}

/// Whether a message ends with what has just been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndOfStream {
    /// Nothing follows: no (more) body and no trailers.
    Yes,
    /// More may follow: body, or trailers, or an empty end.
    No,
}

impl From<bool> for EndOfStream {
    fn from(end: bool) -> Self {
        if end { Self::Yes } else { Self::No }
    }
}

/// A piece of a body that a policy has not seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyEvent {
    /// Where the new bytes lie in the host's body buffer; what lies before was seen before and is still held.
    pub fresh: Range<usize>,
    /// Whether the message ends with it. A message with trailers ends with those.
    pub end: EndOfStream,
}

/// Whether a policy may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// It has nothing left to do.
    Done,
    /// It waits for a call-out reply or a tick.
    Pending,
}

/// A name under which requests carry a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretName {
    /// A header.
    Header(String),
    /// A query parameter, decoded.
    Parameter(String),
}

/// A set of callbacks. A module exports those that its policies need; the host does not enter the VM for others.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Callbacks(u16);

impl Callbacks {
    /// None at all.
    pub const NONE: Self = Self(0);
    /// [`Policy::on_request_headers`].
    pub const REQUEST_HEADERS: Self = Self(1);
    /// [`Policy::on_request_body`] and [`Policy::on_request_trailers`]. Needed too by a policy that answers
    /// [`Flow::Wait`] to request headers: the module must be there to hold back the body.
    pub const REQUEST_BODY: Self = Self(1 << 1);
    /// [`Policy::on_response_headers`].
    pub const RESPONSE_HEADERS: Self = Self(1 << 2);
    /// [`Policy::on_response_body`] and [`Policy::on_response_trailers`]. Needed too by a policy that answers
    /// [`Flow::Wait`] to response headers.
    pub const RESPONSE_BODY: Self = Self(1 << 3);
    /// [`Policy::on_call_out_reply`].
    pub const CALL_OUT: Self = Self(1 << 4);
    /// [`Policy::on_tick`].
    pub const TICK: Self = Self(1 << 5);
    /// [`Policy::on_log`].
    pub const LOG: Self = Self(1 << 6);
    /// [`Policy::on_shutdown`].
    pub const SHUTDOWN: Self = Self(1 << 7);

    /// The callbacks of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of `other` is in this set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of `other` are in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the sets are the same, in constant expressions.
    pub const fn same_as(self, other: Self) -> bool {
        self.0 == other.0
    }
}

/// One gateway policy.
///
/// It is built once for each worker and owns what the worker's exchanges share (caches, compiled rules). What it
/// remembers of one exchange between callbacks is its [`State`](Policy::State). Callbacks that a policy does not
/// implement let everything pass.
///
/// Request callbacks run from the first policy of a chain to the last, response callbacks from the last to the
/// first. Policies that have not seen the request, because one before them replied, do not see the response either; a
/// response to a request that no policy has seen is seen by all.
pub trait Policy: Sized + 'static {
    /// The policy's name in configuration, metrics and logs: lower-case words joined by `-`.
    const NAME: &'static str;
    /// The callbacks that it needs, whatever its configuration.
    const CALLBACKS: Callbacks;
    /// Its configuration document.
    type Config: DeserializeOwned;
    /// What it remembers of one exchange.
    type State: Default;

    /// Compiles the configuration.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    fn from_config(config: Self::Config) -> Result<Self, ConfigError>;

    /// The callbacks that it needs as it is configured: some of [`CALLBACKS`](Policy::CALLBACKS). Bodies and trailers
    /// are not shown to a policy that does not name them here. What no policy of a chain needs costs an exchange next to
    /// nothing.
    fn callbacks(&self) -> Callbacks {
        Self::CALLBACKS
    }

    /// Names under which requests carry secrets that this policy, as it is configured, looks for. They are told to all
    /// policies of the chain when they [start](Policy::on_start), so that none shows them. Trailers under the names of such
    /// headers are removed in a chain with [own headers](Policy::own_headers): nobody checks what is in them.
    fn secret_names(&self) -> Vec<SecretName> {
        Vec::new()
    }

    /// Request headers that nobody but this policy sets, as it is configured, in lower case. What clients send under
    /// these names in any [spelling](crate::spelling), and under those that are
    /// [reserved](crate::headers::is_reserved), is removed from headers and trailers before any policy of the chain sees
    /// them; and `connection` keeps nothing but an upgrade, so that no proxy behind takes them away. A policy with such headers must look at
    /// [`Exchange::request_headers`] in [`on_request_headers`](Policy::on_request_headers), and refuse the request if
    /// they cannot be read: then they could not be removed either.
    fn own_headers(&self) -> Vec<String> {
        Vec::new()
    }

    /// What this policy, as it is configured, tells policies behind it in the chain of a request, besides its
    /// [own headers](Policy::own_headers). A chain in which two policies tell the same is refused.
    fn provides(&self) -> Vec<Fact> {
        Vec::new()
    }

    /// What this policy, as it is configured, decides by that another policy may have set. A chain is refused in which it
    /// is read when the request comes, and only a policy behind this one sets it. A chain that reads a
    /// [reserved](crate::headers::is_reserved) header removes what clients send under such names, as one with
    /// [own headers](Policy::own_headers) does. What is only logged is not named here.
    fn reads(&self) -> Vec<Dependency> {
        Vec::new()
    }

    /// The limits within which this policy, as it is configured, makes a tree of requests' bodies that are XML. A policy
    /// before it in the chain that reads them as XML too can spare it that.
    fn document_limits(&self) -> Option<Limits> {
        None
    }

    /// What this policy, as it is configured, may take of a VM's memory at most. A chain that may take more than a VM has is
    /// refused.
    fn most_memory(&self) -> MostMemory {
        MostMemory::default()
    }

    /// Called once, before any exchange. An error refuses the configuration.
    ///
    /// # Errors
    /// What the host lacks that the configuration needs.
    fn on_start(&mut self, _worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// How often [`on_tick`](Policy::on_tick) is wanted, at the least.
    fn tick_period(&self) -> Option<Duration> {
        None
    }

    /// Called at intervals, apart from any exchange.
    fn on_tick(&mut self, _worker: &mut Worker<'_>) {}

    /// Called when the plugin is about to end, and after every later tick and call-out reply until the answer is
    /// [`Shutdown::Done`]. A host that is in a hurry does not wait.
    fn on_shutdown(&mut self, _worker: &mut Worker<'_>) -> Shutdown {
        Shutdown::Done
    }

    /// Called with the reply to a call-out of this policy.
    fn on_call_out_reply(&mut self, _reply: CallOutReply, _worker: &mut Worker<'_>) {}

    /// Called with the request's headers.
    fn on_request_headers(
        &mut self,
        _state: &mut Self::State,
        _exchange: &mut Exchange<'_>,
        _end: EndOfStream,
    ) -> Flow {
        Flow::Continue
    }

    /// Called with a piece of the request's body.
    fn on_request_body(
        &mut self,
        _state: &mut Self::State,
        _exchange: &mut Exchange<'_>,
        _body: BodyEvent,
    ) -> Flow {
        Flow::Continue
    }

    /// Called with the request's trailers, which end it.
    fn on_request_trailers(&mut self, _state: &mut Self::State, _exchange: &mut Exchange<'_>) -> Flow {
        Flow::Continue
    }

    /// Called with the response's headers.
    fn on_response_headers(
        &mut self,
        _state: &mut Self::State,
        _exchange: &mut Exchange<'_>,
        _end: EndOfStream,
    ) -> Flow {
        Flow::Continue
    }

    /// Called with a piece of the response's body.
    fn on_response_body(
        &mut self,
        _state: &mut Self::State,
        _exchange: &mut Exchange<'_>,
        _body: BodyEvent,
    ) -> Flow {
        Flow::Continue
    }

    /// Called with the response's trailers, which end it.
    fn on_response_trailers(&mut self, _state: &mut Self::State, _exchange: &mut Exchange<'_>) -> Flow {
        Flow::Continue
    }

    /// Called when an exchange that this policy let [wait](Flow::Wait) has been woken.
    fn on_wake(&mut self, _state: &mut Self::State, _exchange: &mut Exchange<'_>) -> Flow {
        Flow::Continue
    }

    /// Called when the exchange is over, whatever became of it; perhaps without any callback before, for a request
    /// that the host itself refused.
    fn on_log(&mut self, _state: &mut Self::State, _exchange: &mut Exchange<'_>) {}

    /// Called when the host forgets the exchange, at its end or when it is aborted: let go of what waits for it.
    fn on_close(&mut self, _state: &mut Self::State, _id: ExchangeId) {}
}

/// The reply to a call-out, or the news that there is none. Read it through
/// [`Worker::host`](crate::Worker::host) while the callback lasts.
#[derive(Debug, Clone, Copy)]
pub struct CallOutReply {
    /// Which call-out it answers.
    pub token: CallToken,
    /// How many headers it has; none when the call failed: refused, reset, or gone.
    pub headers: usize,
    /// The body's length in bytes.
    pub body: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: [Callbacks; 8] = [
        Callbacks::REQUEST_HEADERS,
        Callbacks::REQUEST_BODY,
        Callbacks::RESPONSE_HEADERS,
        Callbacks::RESPONSE_BODY,
        Callbacks::CALL_OUT,
        Callbacks::TICK,
        Callbacks::LOG,
        Callbacks::SHUTDOWN,
    ];

    #[test]
    fn no_callback_stands_for_another() {
        for (at, one) in EACH.into_iter().enumerate() {
            assert!(!one.intersects(Callbacks::NONE) && !Callbacks::NONE.contains(one), "{at}");
            for (other_at, other) in EACH.into_iter().enumerate() {
                assert_eq!(one.intersects(other), at == other_at, "{at} {other_at}");
                assert_eq!(one.contains(other), at == other_at, "{at} {other_at}");
                assert_eq!(one.same_as(other), at == other_at, "{at} {other_at}");
            }
        }
    }

    #[test]
    fn a_set_of_callbacks_has_those_of_the_sets_that_it_was_made_of() {
        let [one, other, third, ..] = EACH;
        let two = one.and(other);
        assert!(two.contains(one) && two.contains(other) && two.contains(two) && !two.contains(third));
        assert!(two.intersects(other.and(third)) && !two.contains(other.and(third)));
        assert!(two.and(one).same_as(two) && two.and(Callbacks::NONE).same_as(two) && !two.same_as(one));
    }

    #[test]
    fn a_policy_that_says_no_more_claims_nothing_of_its_chain() {
        struct Plain;
        impl Policy for Plain {
            const NAME: &'static str = "plain";
            const CALLBACKS: Callbacks = Callbacks::LOG;
            type Config = ();
            type State = ();
            fn from_config((): ()) -> Result<Self, ConfigError> {
                Ok(Self)
            }
        }
        assert_eq!(Plain.callbacks(), Callbacks::LOG);
        assert_eq!(Plain.secret_names(), []);
        assert_eq!(Plain.own_headers(), [""; 0]);
        assert_eq!(Plain.provides(), []);
        assert_eq!(Plain.reads(), []);
        assert_eq!(Plain.document_limits(), None);
        assert_eq!(Plain.most_memory(), MostMemory::default());
        assert_eq!(Plain.tick_period(), None);
    }
}
