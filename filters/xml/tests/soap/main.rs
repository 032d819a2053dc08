//! SOAP as it is recognised in documents.
#![cfg(test)]

mod outline;
