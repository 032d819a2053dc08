//! What the measurements of the suite share.
//!
//! All of them run what they compare side by side in one run, in short turns and random order, and compare round by
//! round: what the machine does meanwhile falls on all alike.

mod cpu;
mod machine;
mod statistics;

pub use cpu::{cpu_time, cpu_time_at_rest};
pub use machine::machine;
pub use statistics::{Interval, Quartiles, median};
