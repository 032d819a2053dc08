//! access-log with a collector: see "Which exchanges get a line" of docs/access-log.md and "What is delivered" of
//! docs/access-log-otlp.md. Every exchange has its line, whatever becomes of it.

use super::Course;
use crate::axes::{Dependency, Failure};

pub(super) fn at_the_end(course: &mut Course) {
    course.lines = 1;
    match course.cell.failure_of(Dependency::Collector) {
        None => {
            course.count("access_log.otlp_sent");
            course.count("access_log.otlp_exported");
        }
        // It said that it will never take the record.
        Some(Failure::Error) => {
            course.count("access_log.otlp_sent");
            course.count("access_log.otlp_dropped_refused");
        }
        // The record is kept, and sent again until it is taken: the collector comes back when one attempt has failed.
        Some(Failure::Refused | Failure::Slow | Failure::Reset | Failure::Garbage | Failure::Huge) => {
            course.count_at_least("access_log.otlp_sent", 2);
            course.count_at_least("access_log.otlp_retried", 1);
            course.count_at_least("access_log.otlp_failed", 1);
            course.count("access_log.otlp_exported");
        }
    }
}
