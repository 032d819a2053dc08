//! How a chain of policies treats an exchange, seen from the host's side and from the policies' side.
#![cfg(test)]

mod body;
mod exchange;
mod faults;
mod interleaving;
mod lifecycle;
mod memory;
mod order;
mod own_headers;
mod probe;
mod replacing;
mod reply;
mod waiting;
mod withheld_bodies;
mod worker;
