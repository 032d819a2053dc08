//! What each element and function of XSLT 1.0 does, and what is refused.
#![cfg(test)]

mod bounds;
mod constructors;
mod control;
mod documents;
mod functions;
mod memory;
mod output;
mod refusals;
mod rules;
mod space;
mod support;
mod trees;
mod variables;
mod versions;
mod work;
