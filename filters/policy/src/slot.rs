//! What the engine keeps of one exchange.

use crate::body_watch::Supply;
use crate::chain::Chain;
use crate::exchange::{ExchangeId, Facts};
use crate::host::Direction;
use crate::passage::Passage;
use crate::policy::EndOfStream;

/// What has come of a message.
#[derive(Clone, Copy)]
pub(crate) enum Arrival {
    Headers(EndOfStream),
    Body { held: usize, end: EndOfStream },
    Trailers,
}

/// An exchange: what is known of it, and how far its messages have come.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) id: ExchangeId,
    pub(crate) facts: Facts,
    pub(crate) request: Passage,
    pub(crate) response: Passage,
    pub(crate) replied: Replied,
    /// What has come of the request behind its headers, and of the response.
    pub(crate) request_supply: Supply,
    pub(crate) response_supply: Supply,
}

/// Whether a policy has replied.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replied {
    #[default]
    No,
    /// The host sends the reply, or one of its own, through the response callbacks, as it would an upstream's response.
    BeforeResponse,
    /// The reply takes the place of a response that had begun, and the host sends it past all policies.
    DuringResponse,
}

impl Replied {
    pub(crate) fn in_place_of(response: &Passage) -> Self {
        if response.has_begun() { Self::DuringResponse } else { Self::BeforeResponse }
    }

    /// Whether nothing more of this message may go on.
    pub(crate) fn ends(self, direction: Direction) -> bool {
        match self {
            Self::No => false,
            Self::BeforeResponse => direction == Direction::Request,
            Self::DuringResponse => true,
        }
    }
}

impl Slot {
    /// Makes ready for another exchange.
    pub(crate) fn reset(&mut self) {
        self.facts.reset();
        self.request.reset();
        self.response.reset();
        self.replied = Replied::No;
        self.request_supply = Supply::Nothing;
        self.response_supply = Supply::Nothing;
    }

    /// Forgets what no later callback needs, and counts the rest. To be called when policies have been.
    ///
    /// The copy of the request's headers goes after a reply: a client can keep refused exchanges open, and the log callback
    /// has the host's own. It also goes when no policy may look back at a request that has passed all of them.
    pub(crate) fn settle(&mut self, chain: &Chain) {
        if self.replied != Replied::No || (self.request.is_unwatched() && !chain.looks_back()) {
            self.facts.forget_request_headers();
        }
        self.facts.count_memory();
    }

    /// Writes down what has come.
    pub(crate) fn take_in(&mut self, direction: Direction, arrival: Arrival, chain: &Chain) {
        let Self { request, response, replied, .. } = self;
        match (direction, arrival) {
            (Direction::Request, Arrival::Headers(end)) => chain.begin(request, end, None),
            (Direction::Response, Arrival::Headers(end)) => {
                chain.begin(response, end, Some(request));
                if request.is_held_back() {
                    // No upstream has seen the request, so the host has replied by itself. Nobody needs to decide
                    // any more.
                    *replied = Replied::BeforeResponse;
                }
            }
            (_, Arrival::Body { held, end }) => self.passage(direction).body_came(held, end),
            (_, Arrival::Trailers) => self.passage(direction).trailers_came(),
        }
    }

    /// Whether the rest of this message's body goes on, whatever is in it.
    pub(crate) fn lets_rest_pass(&self, direction: Direction) -> bool {
        let passage = match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        };
        passage.is_unwatched() && !self.replied.ends(direction)
    }

    /// What has come of the message of this direction behind its headers, and how far it has come.
    pub(crate) fn supply_of(&mut self, direction: Direction) -> (&mut Supply, &mut Passage) {
        match direction {
            Direction::Request => (&mut self.request_supply, &mut self.request),
            Direction::Response => (&mut self.response_supply, &mut self.response),
        }
    }

    /// How far the message of this direction has come.
    pub(crate) fn passage(&mut self, direction: Direction) -> &mut Passage {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}
