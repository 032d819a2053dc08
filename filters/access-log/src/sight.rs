//! An exchange as a line sees it: everything is read when it is asked for, and once.

use std::borrow::Cow;

use portcullis_policy::host::{Direction, HeaderMap, Host};
use portcullis_policy::{Exchange, HeaderList, Outcome, Verdict};

use crate::attribute::{Attribute, AttributeCache};
use crate::capture::CapturedBody;
use crate::config::{Answerer, Phase};
use crate::format::Map;
use crate::redact::Redaction;

/// What the policy remembers of an exchange.
#[derive(Clone, Copy)]
pub(crate) struct Remembered<'s> {
    pub(crate) request_body: &'s CapturedBody,
    pub(crate) response_body: &'s CapturedBody,
    /// The response's headers, if the host may have them no more.
    pub(crate) response_headers: Option<&'s HeaderList>,
}

/// An exchange as a line sees it.
pub(crate) struct Sight<'s, 'e> {
    pub(crate) attributes: AttributeCache<'s>,
    pub(crate) phase: Phase,
    pub(crate) redaction: &'s Redaction,
    remembered: Remembered<'s>,
    exchange: &'s Exchange<'e>,
    request: LazyMap<'s>,
    response: LazyMap<'s>,
    response_trailers: LazyMap<'s>,
    /// Bodies as they may be shown, once they have been asked for.
    request_body: Option<Option<Vec<u8>>>,
    response_body: Option<Option<Vec<u8>>>,
    /// What policies in filters of their own say that they have decided, joined by commas, once it has been asked for.
    reported: Option<Option<Vec<u8>>>,
}

/// A map that has been read or not, and was there or not.
type LazyMap<'s> = Option<Option<Cow<'s, HeaderList>>>;

impl<'s, 'e> Sight<'s, 'e> {
    pub(crate) fn new(
        exchange: &'s Exchange<'e>,
        phase: Phase,
        redaction: &'s Redaction,
        remembered: Remembered<'s>,
    ) -> Self {
        Self {
            attributes: AttributeCache::new(exchange.host()),
            phase,
            redaction,
            remembered,
            exchange,
            request: None,
            response: None,
            response_trailers: None,
            request_body: None,
            response_body: None,
            reported: None,
        }
    }

    pub(crate) fn host(&self) -> &'s dyn Host {
        self.attributes.host()
    }

    pub(crate) fn exchange(&self) -> &'s Exchange<'e> {
        self.exchange
    }

    /// A map of headers, as it is now.
    ///
    /// In the phase `end` the host has the request's headers as they went out. Before that it has them only while the
    /// request is being passed on, and the chain's copy of them is as good.
    pub(crate) fn headers(&mut self, map: Map) -> Option<&HeaderList> {
        let Self { exchange, phase, remembered, request, response, response_trailers, .. } = self;
        let exchange: &'s Exchange<'e> = exchange;
        let read = |map| {
            let headers = exchange.headers(map).ok();
            headers.filter(|headers| !headers.is_empty()).map(Cow::Owned)
        };
        let known = || exchange.known_request_headers().map(Cow::Borrowed);
        match (map, *phase) {
            (Map::Request, Phase::End) => {
                request.get_or_insert_with(|| read(HeaderMap::RequestHeaders).or_else(known))
            }
            (Map::Request, Phase::Request) => request.get_or_insert_with(known),
            // The chain has none if this module may not look at requests when they come.
            (Map::Request, Phase::Response) => {
                request.get_or_insert_with(|| known().or_else(|| read(HeaderMap::RequestHeaders)))
            }
            (Map::Response, Phase::Request) | (Map::ResponseTrailers, Phase::Request | Phase::Response) => {
                return None;
            }
            (Map::Response, Phase::Response) => response.get_or_insert_with(|| {
                remembered.response_headers.map(Cow::Borrowed).or_else(|| read(HeaderMap::ResponseHeaders))
            }),
            (Map::Response, Phase::End) => response.get_or_insert_with(|| read(HeaderMap::ResponseHeaders)),
            (Map::ResponseTrailers, Phase::End) => {
                response_trailers.get_or_insert_with(|| read(HeaderMap::ResponseTrailers))
            }
        }
        .as_deref()
    }

    /// What has been kept of a body, as it may be shown; none if there is none.
    pub(crate) fn body(&mut self, direction: Direction) -> Option<&[u8]> {
        let (shown, body) = match direction {
            Direction::Request => (&mut self.request_body, self.remembered.request_body),
            Direction::Response => (&mut self.response_body, self.remembered.response_body),
        };
        shown.get_or_insert_with(|| body.shown(self.redaction)).as_deref()
    }

    /// What the policies of the chain have decided, or what those in filters of their own say that they have.
    pub(crate) fn outcomes(&mut self) -> Outcomes<'_> {
        let exchange: &'s Exchange<'e> = self.exchange;
        match exchange.outcomes() {
            [] => self.reported().map_or(Outcomes::None, Outcomes::Reported),
            outcomes => Outcomes::Known(outcomes),
        }
    }

    fn reported(&mut self) -> Option<&[u8]> {
        let Self { attributes, reported, .. } = self;
        let read = || {
            let mut all = Vec::new();
            for attribute in [Attribute::ReportedClientIdOutcome, Attribute::ReportedRateLimitOutcome] {
                if let Some(outcome) = attributes.text(attribute) {
                    if !all.is_empty() {
                        all.push(b',');
                    }
                    all.extend_from_slice(outcome);
                }
            }
            (!all.is_empty()).then_some(all)
        };
        reported.get_or_insert_with(read).as_deref()
    }

    /// Who called.
    pub(crate) fn client_id(&mut self) -> Option<&[u8]> {
        match self.exchange.identity() {
            Some(identity) => Some(identity.client_id.as_bytes()),
            None if self.exchange.outcomes().is_empty() => {
                // Whoever reports who called reports an outcome, too.
                self.attributes.text(Attribute::ReportedClientIdOutcome)?;
                self.attributes.text(Attribute::ReportedClientId)
            }
            None => None,
        }
    }

    /// The refusal of a policy: its name and its reason.
    pub(crate) fn violation(&mut self) -> Option<(&str, &str)> {
        match self.outcomes() {
            Outcomes::None => None,
            Outcomes::Known(outcomes) => outcomes
                .iter()
                .find(|outcome| matches!(outcome.verdict, Verdict::Rejected | Verdict::FailedClosed))
                .map(|outcome| (outcome.policy, outcome.reason)),
            Outcomes::Reported(text) => core::str::from_utf8(text).ok()?.split(',').find_map(|outcome| {
                let mut parts = outcome.splitn(3, ':');
                let (policy, verdict, reason) = (parts.next()?, parts.next()?, parts.next()?);
                let refused =
                    verdict == Verdict::Rejected.as_str() || verdict == Verdict::FailedClosed.as_str();
                refused.then_some((policy, reason))
            }),
        }
    }

    /// The response's status; none without a response. An interim one is none, but for that of an upgrade (RFC 9110,
    /// section 15.2).
    pub(crate) fn status(&mut self) -> Option<u64> {
        self.last_status().filter(|status| !matches!(status, 100 | 102..=199))
    }

    /// The same, or that of the interim response if the client got nothing else, as Envoy's loggers have it.
    pub(crate) fn last_status(&mut self) -> Option<u64> {
        match self.phase {
            Phase::Request => None,
            Phase::Response => {
                let status = self.headers(Map::Response)?.first(":status")?;
                core::str::from_utf8(status).ok()?.parse().ok()
            }
            // Envoy says 0 of an exchange without a response.
            Phase::End => self.attributes.number(Attribute::ResponseCode).filter(|status| *status != 0),
        }
    }

    /// The length of the request's body as its header tells it, which is what the host's attribute would say.
    pub(crate) fn announced_length(&mut self) -> Option<u64> {
        let exchange: &'s Exchange<'e> = self.exchange;
        let headers = match exchange.known_request_headers() {
            None => self.headers(Map::Request),
            known => known,
        };
        let length = exchange.original_length(headers)?;
        let length = core::str::from_utf8(length).ok()?;
        let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| length.parse().ok())?
    }

    /// Who answered.
    pub(crate) fn answerer(&mut self) -> Answerer {
        if self.violation().is_some() {
            Answerer::Policy
        } else if self.attributes.text(Attribute::ResponseCodeDetails) == Some(b"via_upstream") {
            Answerer::Upstream
        } else if self.status().is_some() {
            Answerer::Envoy
        } else {
            Answerer::Nobody
        }
    }

    /// From the request's beginning to the end of the exchange, or to now, in nanoseconds.
    pub(crate) fn duration(&mut self) -> Option<u64> {
        if let Some(duration) = self.attributes.number(Attribute::Duration) {
            return Some(duration);
        }
        let began = self.attributes.number(Attribute::StartTime)?;
        Some(self.host().now().as_nanos().saturating_sub(began))
    }
}

/// What policies have decided.
pub(crate) enum Outcomes<'a> {
    /// Nobody has said anything.
    None,
    /// Those of the same chain.
    Known(&'a [Outcome]),
    /// Those in filters of their own, as `policy:verdict:reason`, joined by commas.
    Reported(&'a [u8]),
}
