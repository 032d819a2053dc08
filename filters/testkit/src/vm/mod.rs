//! A proxy-wasm host for tests: a module under wasmtime, driven as Envoy drives it, in a world that a test
//! scripts.
//!
//! ABI 0.2.1, one plugin in a VM, HTTP contexts. Nothing here needs a proxy, a network or a real clock, and a
//! VM starts in well under a millisecond, so a test may start thousands: one for each hostcall and each status
//! it may return. What Envoy does in detail was read from proxy-wasm-cpp-host and from Envoy's Wasm extension;
//! real Envoy remains the judge.
//!
//! ```no_run
//! use portcullis_testkit::vm::{EndOfStream, Exchange, Hostcall, MapType, Module, Script, Vm, status};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let module = Module::from_file("gateway.wasm")?;
//! let mut script = Script::configured(r#"{"policies": []}"#);
//! script.exchange = Exchange::default().with_map(MapType::RequestHeaders, [(":method", "GET")]);
//! script.fail(Hostcall::GetHeaderMapPairs, status::INTERNAL_FAILURE);
//! let mut vm = Vm::start(&module, script)?;
//! let id = vm.create_exchange()?;
//! vm.request_headers(id, EndOfStream::Yes)?;
//! vm.finish(id)?;
//! # Ok(())
//! # }
//! ```

mod drive;
mod exchange;
mod fault;
mod header_map;
mod host;
mod hostcall;
mod imports;
mod machine;
mod memory;
mod metrics;
mod module;
mod record;
mod script;
mod shared;
pub mod status;
mod trap;
mod wasi;

pub use drive::{Done, EndOfStream};
pub use exchange::{Body, Exchange, MapType, Properties, Side};
pub use fault::{Fault, Faults, Lie};
pub use header_map::HeaderMap;
pub use host::CallReply;
pub use hostcall::Hostcall;
pub use machine::{Action, Startup, Vm};
pub use metrics::{Metric, MetricKind, Metrics};
pub use module::{LoadError, Module};
pub use record::{
    ContextId, ForeignCall, GrpcAction, GrpcCall, GrpcKind, HttpCall, LocalResponse, LogLevel, LogLine,
    LogSource, Record, StreamAction, StreamKind,
};
pub use script::{Clusters, ForeignReply, Script};
pub use shared::SharedStore;
pub use status::STATUSES;
pub use trap::{Trap, TrapKind};
