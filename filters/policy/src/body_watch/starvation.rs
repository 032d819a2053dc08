//! What becomes of messages whose body does not come.

use crate::body_watch::{BodyWatch, Hold, LOOKS_PER_TICK, Supply};
use crate::chain::Chain;
use crate::engine::send;
use crate::exchange::{Exchange, Guard, Outcome, Verdict, Wake};
use crate::host::{Direction, Focus, Level, Platform};
use crate::metrics::Counter;
use crate::own_headers::{OwnHeaders, outcome_property};
use crate::policy::Flow;
use crate::reply::Reply;
use crate::slot::{Arrival, Replied, Slot};

/// Notes that the host delivers body, or trailers, of a message.
pub(crate) fn note_delivery(
    slot: &mut Slot,
    direction: Direction,
    arrival: Arrival,
    body_watch: &mut BodyWatch,
    platform: &dyn Platform,
) {
    let (supply, passage) = slot.supply_of(direction);
    if *supply != Supply::Some && !matches!(arrival, Arrival::Headers(_)) {
        *supply = Supply::Some;
        if passage.is_held_back() {
            body_watch.delivered(platform);
        }
    }
}

/// What becomes of a message on which the chain has decided so: a request whose headers could not be cleaned
/// does not go on, and one that would wait in vain for its body, which `policy` needs, is not held.
pub(crate) fn checked(
    flow: Flow,
    direction: Direction,
    policy: Option<&'static str>,
    (body_watch, supply): (&mut BodyWatch, &mut Supply),
    exchange: &mut Exchange<'_>,
) -> Flow {
    match (flow, direction) {
        (Flow::Continue, Direction::Request) if exchange.facts.guard == Guard::Due => {
            exchange.host().log(Level::Error, "headers could not be read or cleaned; the request is refused");
            Flow::Reply(Box::new(Reply::internal_error()))
        }
        (Flow::NeedBody, _) if *supply == Supply::Nothing => match body_watch.hold(exchange.platform) {
            Hold::Granted => {
                *supply = Supply::Awaited(None);
                Flow::NeedBody
            }
            refused => {
                let policy = policy.unwrap_or("engine");
                Flow::Reply(Box::new(refuse_for_want_of_body(refused, direction, policy, exchange)))
            }
        },
        (flow, _) => flow,
    }
}

/// Refuses exchanges that wait for a body that the host has and does not deliver.
pub(crate) fn refuse_the_starved(
    slots: &mut [Slot],
    body_watch: &mut BodyWatch,
    chain: &Chain,
    own_headers: &OwnHeaders,
    wakes: &mut Vec<Wake>,
    platform: &dyn Platform,
) {
    let mut looks = LOOKS_PER_TICK;
    for index in body_watch.round(slots.len()) {
        let Some(slot) = slots.get_mut(index) else {
            continue;
        };
        // A response that has begun is the one that is waited for, if any of the two is.
        let awaits = |supply: Supply| matches!(supply, Supply::Awaited(_) | Supply::Withheld(_));
        let Some(direction) = [Direction::Response, Direction::Request]
            .into_iter()
            .find(|direction| awaits(*slot.supply_of(*direction).0) && !slot.replied.ends(*direction))
        else {
            continue;
        };
        let Some(left) = looks.checked_sub(1) else {
            body_watch.go_on_at(index);
            break;
        };
        looks = left;
        let id = slot.id;
        let (supply, passage) = slot.supply_of(direction);
        // The host may have dropped it without a word.
        if platform.focus(Focus::Exchange(id)).is_err() {
            *supply = Supply::Nothing;
            continue;
        }
        let hold = body_watch.look(direction, supply, platform);
        if hold == Hold::Granted {
            continue;
        }
        let policy = chain.needing_body(passage).unwrap_or("engine");
        body_watch.missed(hold, policy, platform);
        *supply = Supply::Nothing;
        let Slot { facts, response, replied, .. } = slot;
        *replied = Replied::in_place_of(response);
        let mut exchange = Exchange::new(platform, id, facts, wakes, own_headers);
        let reply = refuse_for_want_of_body(hold, direction, policy, &mut exchange);
        send(platform, &mut exchange, &reply);
        slot.settle(chain);
    }
}

/// The reply in place of a message whose body cannot be had, written down as the outcome of the policy that needs it: for
/// the chain, and in filter state for native loggers, as that policy would write it down itself.
fn refuse_for_want_of_body(
    hold: Hold,
    direction: Direction,
    policy: &'static str,
    exchange: &mut Exchange<'_>,
) -> Reply {
    let (reason, reply) = refusal(hold, direction, policy, exchange.platform);
    let outcome = Outcome { policy, verdict: Verdict::FailedClosed, reason };
    exchange.record(outcome);
    // Loggers do without if the host has no such thing.
    let _ = exchange.host().set_property(&[&outcome_property(policy)], outcome.to_string().as_bytes());
    reply
}

/// What is said of a message that is not held any longer, or not at all: to the log in a word, and to the
/// client. It is counted for the policy that needs the body.
fn refusal(hold: Hold, direction: Direction, policy: &str, platform: &dyn Platform) -> (&'static str, Reply) {
    match (hold, direction) {
        (Hold::TimedOut, Direction::Request) => {
            let reply = Reply::new(408, "Request Timeout", "portcullis_body_timeout")
                .with_detail("The request's body did not come.");
            return ("body-timeout", reply);
        }
        (Hold::TimedOut, Direction::Response) => {
            let reply = Reply::new(504, "Gateway Timeout", "portcullis_body_timeout")
                .with_detail("The body of the upstream's response did not come.");
            return ("body-timeout", reply);
        }
        _ => {}
    }
    Counter::define(platform.as_host(), policy, "body_withheld").increment(platform.as_host());
    let message = match direction {
        Direction::Request => "request",
        Direction::Response => "response",
    };
    let reply = Reply::new(500, "Internal Server Error", "portcullis_body_withheld")
        .with_detail(format!("The gateway cannot read the {message}'s body."));
    ("body-withheld", reply)
}
