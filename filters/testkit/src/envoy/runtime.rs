//! The async runtime behind the blocking API.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// The one runtime that all fixtures of a test process share; started on first use.
pub(super) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("testkit")
            .enable_all()
            .build()
            .expect("the fixture's runtime starts")
    })
}
