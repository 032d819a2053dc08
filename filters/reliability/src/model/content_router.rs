//! content-router: see "What is decided when" and "Bodies that cannot be decided on" of docs/content-router.md. The rule's
//! element stands in the first half of the body, so that half of it decides. `no_body` is as `default` says: a route.

use super::{Course, Step};

pub(super) fn request(course: &mut Course) -> Step {
    if course.cell.framing.has_body() {
        course.count("content_router.blue.matched");
        course.decided("content-router:passed:rule");
    } else {
        course.count("content_router.no_body");
        course.decided("content-router:passed:no-body");
    }
    Step::On
}
