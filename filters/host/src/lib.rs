//! Runs policies in a proxy-wasm host (ABI 0.2.1): the only crate that touches the ABI.
//!
//! [`abi`] has the host calls as functions that return `Result` and bytes, whatever the host answers.
//! [`WasmHost`] offers them to policies. [`dispatch`] takes the host's callbacks to the engine of the plugin
//! that they are for, and [`module!`] exports those callbacks that a module needs, and no others.

pub mod abi;
pub mod dispatch;

mod buffers;
mod entry;
mod wasm_host;

pub use buffers::allocate;
pub use wasm_host::WasmHost;

#[doc(hidden)]
pub use portcullis_policy as policy;

/// The source revision that the module was built from, as the build gave it.
pub const REVISION: &str = match option_env!("PORTCULLIS_REVISION") {
    Some(revision) => revision,
    None => "unknown",
};
