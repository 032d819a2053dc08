//! Fixtures that the suite's tests share: an in-process host with a virtual clock, the modules themselves
//! under wasmtime with a scriptable proxy-wasm ABI, and a real Envoy process with recording peers.

#[cfg(feature = "envoy")]
pub mod envoy;
pub mod inprocess;
#[cfg(feature = "vm")]
pub mod vm;
