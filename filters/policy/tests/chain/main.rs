//! How a chain of policies treats an exchange, seen from the host's side and from the policies' side.
#![cfg(test)]

mod body;
mod faults;
mod interleaving;
mod lifecycle;
mod order;
mod probe;
mod reply;
mod waiting;
mod worker;
