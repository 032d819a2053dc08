//! A filter that does nothing, as the proxy-wasm SDK builds it: the yardstick for ours.

use proxy_wasm::traits::{Context, HttpContext};

struct NoOp;

impl Context for NoOp {}
impl HttpContext for NoOp {}

proxy_wasm::main! {{
    proxy_wasm::set_http_context(|_, _| Box::new(NoOp));
}}
