//! The upstream, and Envoy's router in its name.

use super::{Course, Reply, Step, leaves_mid_body};
use crate::axes::{Dependency, Failure, Framing};
use crate::outcome::{Answer, Reached};

const RESET: &str = "upstream_reset_before_response_started";

pub(super) fn request(course: &mut Course) -> Step {
    let cell = course.cell;
    let failure = cell.failure_of(Dependency::Upstream);
    if failure == Some(Failure::Refused) {
        course.upstream = Reached::Tried;
        return Step::Answered(Reply { status: 503, details: RESET, answer: Answer::Gateway });
    }
    if leaves_mid_body(cell) {
        course.upstream = Reached::Part;
        return Step::Left;
    }
    course.upstream = Reached::Whole;
    let (status, details, answer) = match failure {
        None if cell.framing == Framing::Upgrade => (101, "via_upstream", Answer::Upstream),
        None | Some(Failure::Huge) => (200, "via_upstream", Answer::Upstream),
        Some(Failure::Error) => (500, "via_upstream", Answer::Upstream),
        Some(Failure::Slow) => (504, "response_timeout", Answer::Gateway),
        Some(Failure::Garbage) => (502, RESET, Answer::Gateway),
        Some(Failure::Reset | Failure::Refused) => (503, RESET, Answer::Gateway),
    };
    Step::Answered(Reply { status, details, answer })
}
