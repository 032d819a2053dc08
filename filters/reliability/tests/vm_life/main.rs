//! The life of the VMs that policies run in: traps, new configurations, refused ones, and Envoy's own restart, all of them
//! under load.

mod bad_pushes;
mod filter_pushes;
mod hot_restart;
mod pushes;
mod support;
mod traps;
