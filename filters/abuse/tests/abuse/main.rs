//! Hostile clients, hostile upstreams, and what the policies promise all the same.
#![cfg(test)]

mod compression;
mod contained;
mod flooding;
mod floods;
mod header_bytes;
mod header_sizes;
mod log_injection;
mod memory;
mod methods;
mod paths;
mod queries;
mod secrets;
mod smuggling;
mod spoofing;
mod worst_cases;
mod xml_attacks;
