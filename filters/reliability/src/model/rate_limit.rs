//! rate-limit with a service: see "Counting for several gateways", "Reasons" and "Metrics" of docs/rate-limit.md. Each
//! request has a key of its own and quota for it, at the service and here.

use super::{Course, Reply, Step};
use crate::axes::{Dependency, Failure, Mode, Subject};

pub(super) fn request(course: &mut Course) -> Step {
    course.count("rate_limit.service_calls");
    if course.cell.subject == Subject::Gateway && course.cell.failure_of(Dependency::Auth).is_some() {
        // Nobody has established the client, and the key is the client: its requests are counted with all such.
        course.count("rate_limit.missing_key");
    }
    let left = course.cell.left_during() == Some(Dependency::Limits);
    let reason = match course.cell.failure_of(Dependency::Limits) {
        None => {
            course.count("rate_limit.service_ok");
            return if left { Step::Left } else { admitted(course) };
        }
        // When the client has left, the service that has not answered is taken away: its connection fails.
        Some(Failure::Slow) if left => "unavailable",
        Some(Failure::Refused | Failure::Reset | Failure::Garbage) => "unavailable",
        Some(Failure::Slow) => "timeout",
        Some(Failure::Error) => "error",
        // The answer broke off.
        Some(Failure::Huge) => "reset",
    };
    course.count(&format!("rate_limit.service_{reason}"));
    if left {
        return Step::Left;
    }
    match course.cell.mode {
        Mode::Local => admitted(course),
        Mode::Open => {
            course.count("rate_limit.failed_open");
            course.decided(format!("rate-limit:failed-open:service-{reason}"));
            Step::On
        }
        Mode::Closed | Mode::Fixed => {
            course.count("rate_limit.failed_closed");
            course.decided(format!("rate-limit:failed-closed:service-{reason}"));
            Step::Answered(Reply::of_policy(503, "rate_limit_failure"))
        }
    }
}

fn admitted(course: &mut Course) -> Step {
    course.count("rate_limit.admitted");
    course.decided("rate-limit:passed:admitted");
    Step::On
}
