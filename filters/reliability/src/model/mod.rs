//! What must become of a request, derived from what the policies' pages promise, and never from what has been seen.
//!
//! Each policy is a small function of the cell: what it decides, what it counts, and whether the request goes on. The
//! gateway's expectation is that of its policies, one after the other.

mod access_log;
mod client_id;
mod content_router;
mod rate_limit;
mod upstream;
mod xslt_transform;

use std::collections::BTreeMap;

use crate::axes::{Framing, Pace, Protocol, Subject};
use crate::cells::Cell;
use crate::outcome::{Answer, Count, Expected, Reached};

/// What becomes of a request at one place of its way.
enum Step {
    /// It goes on.
    On,
    /// It is answered here.
    Answered(Reply),
    /// Its client leaves while it is held here.
    Left,
}

/// A response on its way to the client.
struct Reply {
    status: u16,
    /// What `%RESPONSE_CODE_DETAILS%` begins with.
    details: &'static str,
    answer: Answer,
}

impl Reply {
    /// A reply of a policy's.
    fn of_policy(status: u16, details: &'static str) -> Self {
        Self { status, details, answer: Answer::Gateway }
    }

    fn is_the_upstreams(&self) -> bool {
        self.answer == Answer::Upstream
    }
}

/// A request on its way, and what has been written and counted of it.
struct Course<'a> {
    cell: &'a Cell,
    outcomes: Vec<String>,
    counters: BTreeMap<String, Count>,
    upstream: Reached,
    lines: usize,
}

impl Course<'_> {
    fn count(&mut self, counter: &str) {
        self.counters.insert(counter.to_owned(), Count::Exactly(1));
    }

    fn count_at_least(&mut self, counter: &str, n: u64) {
        self.counters.insert(counter.to_owned(), Count::AtLeast(n));
    }

    fn decided(&mut self, outcome: impl Into<String>) {
        self.outcomes.push(outcome.into());
    }
}

/// What must become of the request of this cell.
pub fn expect(cell: &Cell) -> Expected {
    let mut course =
        Course { cell, outcomes: Vec::new(), counters: BTreeMap::new(), upstream: Reached::No, lines: 0 };
    let reply = travel(&mut course);
    if cell.subject.has(Subject::AccessLog) {
        access_log::at_the_end(&mut course);
    }
    expected(course, reply)
}

/// To the upstream and back: the response, unless the client has left.
fn travel(course: &mut Course) -> Option<Reply> {
    let policies = course.cell.subject.policies();
    for policy in policies {
        match request_at(*policy, course) {
            Step::On => {}
            // Those that have not seen the request do not see the response, and those that have leave a reply of the
            // gateway's own as it is.
            Step::Answered(reply) => return Some(reply),
            Step::Left => return None,
        }
    }
    match upstream::request(course) {
        Step::Answered(reply) if policies.contains(&Subject::XsltTransform) => {
            Some(xslt_transform::response(course, reply))
        }
        Step::Answered(reply) => Some(reply),
        Step::On | Step::Left => None,
    }
}

fn request_at(policy: Subject, course: &mut Course) -> Step {
    match policy {
        Subject::ClientId => client_id::request(course),
        Subject::RateLimit => rate_limit::request(course),
        Subject::ContentRouter => content_router::request(course),
        Subject::XsltTransform => xslt_transform::request(course),
        Subject::AccessLog | Subject::Gateway => Step::On,
    }
}

fn expected(course: Course, reply: Option<Reply>) -> Expected {
    let Course { cell, mut outcomes, counters, upstream, lines } = course;
    if cell.subject == Subject::XsltTransform {
        // In filter state, where the last one stands that is not about an exempt message.
        outcomes.retain(|outcome| !outcome.contains(":skipped:"));
        outcomes = outcomes.pop().into_iter().collect();
    }
    let Some(reply) = reply else {
        return Expected {
            status: None,
            answer: Answer::Nothing,
            upstream,
            // To Envoy's log, what it has told a client that expects 100 is the response, as long as no other follows.
            logged_status: (cell.framing == Framing::Expect && !cell.subject.has(Subject::AccessLog))
                .then_some(100),
            details: String::new(),
            outcomes,
            lines,
            counters,
        };
    };
    // How a tunnel ends is no matter between gateway and client.
    let details = if reply.status == 101 { "" } else { reply.details };
    let bodiless = cell.framing == Framing::Head || reply.status == 101;
    // To take up an extended CONNECT is to answer 200 (RFC 8441, section 5); to policies and logs it is an upgrade.
    let status = if reply.status == 101 && cell.protocol == Protocol::Two { 200 } else { reply.status };
    Expected {
        status: Some(status),
        answer: if bodiless { Answer::Bodiless } else { reply.answer },
        upstream,
        logged_status: Some(reply.status),
        details: details.to_owned(),
        outcomes,
        lines,
        counters,
    }
}

/// Whether the client leaves in the middle of the body.
fn leaves_mid_body(cell: &Cell) -> bool {
    cell.pace == Pace::AbortedMidBody
}
