//! xslt-transform: see "What it does", "Which messages" and "Messages that cannot be transformed" of
//! docs/xslt-transform.md.

use super::{Course, Reply, Step, leaves_mid_body};
use crate::axes::{Dependency, Failure, Framing};
use crate::outcome::Answer;

pub(super) fn request(course: &mut Course) -> Step {
    if !course.cell.framing.has_body() {
        course.count("xslt_transform.request.exempt");
        course.decided("xslt-transform:skipped:request-exempt");
        return Step::On;
    }
    // Nothing of a message goes on before all of it has been transformed.
    if leaves_mid_body(course.cell) {
        return Step::Left;
    }
    course.count("xslt_transform.request.transformed");
    course.decided("xslt-transform:passed:request-transformed");
    Step::On
}

pub(super) fn response(course: &mut Course, reply: Reply) -> Reply {
    let has_body = course.cell.framing != Framing::Head && reply.status != 101;
    if !reply.is_the_upstreams() || !has_body {
        course.count("xslt_transform.response.exempt");
        course.decided("xslt-transform:skipped:response-exempt");
        return reply;
    }
    if course.cell.failure_of(Dependency::Upstream) == Some(Failure::Huge) {
        course.count("xslt_transform.response.too_large");
        course.decided("xslt-transform:failed-closed:response-too-large");
        return Reply::of_policy(502, "xslt_transform_response_too_large");
    }
    course.count("xslt_transform.response.transformed");
    course.decided("xslt-transform:passed:response-transformed");
    Reply { answer: Answer::Transformed, ..reply }
}
