//! A filter that does nothing but add three constant response headers: what such headers cost any Wasm filter.

use proxy_wasm::hostcalls::add_map_value;
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::{Action, MapType};

struct Headers;

impl Context for Headers {}

impl HttpContext for Headers {
    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        for (name, value) in [
            ("x-ratelimit-limit", "1000000000"),
            ("x-ratelimit-remaining", "999999999"),
            ("x-ratelimit-reset", "5999"),
        ] {
            // A host that refuses would only make the figure smaller.
            let _ = add_map_value(MapType::HttpResponseHeaders, name, value);
        }
        Action::Continue
    }
}

proxy_wasm::main! {{
    proxy_wasm::set_http_context(|_, _| Box::new(Headers));
}}
