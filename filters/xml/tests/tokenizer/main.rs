//! The tokenizer, through its public interface.
#![cfg(test)]

mod chunks;
mod documents;
mod encodings;
mod errors;
mod events;
mod limits;
mod work;
