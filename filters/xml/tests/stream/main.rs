//! Expressions that are decided while a document goes by.
#![cfg(test)]

mod agreement;
mod decisions;
mod documents;
mod limits;
mod refusals;
mod soap;
mod support;
mod work;
