//! client-id: see "What it does", "The auth service" and "Outages" of docs/client-id.md. No two requests have the same
//! credentials, so that the cache decides on none, and no question is repeated (`retries: 0`).

use super::{Course, Reply, Step};
use crate::axes::{Dependency, Failure, Mode};

pub(super) fn request(course: &mut Course) -> Step {
    course.count("client_id.cache_miss");
    course.count("client_id.auth_calls");
    let left = course.cell.left_during() == Some(Dependency::Auth);
    let reason = match course.cell.failure_of(Dependency::Auth) {
        None => {
            // An answer for nobody is remembered, and so it counts.
            course.count("client_id.auth_admitted");
            if left {
                return Step::Left;
            }
            course.count("client_id.admitted");
            course.decided("client-id:passed:admitted");
            return Step::On;
        }
        // The answer broke off.
        Some(Failure::Huge) => {
            course.count("client_id.auth_reset");
            "auth-reset"
        }
        // The answer decides nothing; also Envoy's 503 for a connection that failed and 504 for time that is up.
        Some(Failure::Refused | Failure::Slow | Failure::Reset | Failure::Error | Failure::Garbage) => {
            course.count("client_id.auth_status");
            "auth-status"
        }
    };
    if left {
        return Step::Left;
    }
    if course.cell.mode == Mode::Open {
        course.count("client_id.outage_open");
        course.decided(format!("client-id:failed-open:{reason}"));
        return Step::On;
    }
    course.count("client_id.outage_closed");
    course.decided(format!("client-id:failed-closed:{reason}"));
    Step::Answered(Reply::of_policy(503, "client_id_outage"))
}
