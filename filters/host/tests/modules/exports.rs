//! What a module offers to its host, and what it asks of it.

use crate::support::module;

#[test]
fn a_module_exports_the_callbacks_that_its_policies_need_and_no_others() {
    const ALWAYS: &[&str] = &[
        "_initialize",
        "memory",
        "proxy_abi_version_0_2_1",
        "proxy_on_configure",
        "proxy_on_context_create",
        "proxy_on_delete",
        "proxy_on_memory_allocate",
        "proxy_on_vm_start",
    ];
    /// What it takes to hold a request for a call-out.
    const CALLS_OUT: &[&str] = &[
        "proxy_on_http_call_response",
        "proxy_on_request_body",
        "proxy_on_request_headers",
        "proxy_on_request_trailers",
        "proxy_on_tick",
    ];
    /// What it takes to hold a request for its body.
    const READS_BODIES: &[&str] =
        &["proxy_on_request_body", "proxy_on_request_headers", "proxy_on_request_trailers", "proxy_on_tick"];
    const READS_RESPONSES: &[&str] =
        &["proxy_on_response_body", "proxy_on_response_headers", "proxy_on_response_trailers"];
    const RATE_LIMIT: &[&str] = &["proxy_on_response_headers"];
    const ACCESS_LOG: &[&str] = &[
        "proxy_on_done",
        "proxy_on_log",
        "proxy_on_response_body",
        "proxy_on_response_headers",
        "proxy_on_response_trailers",
    ];
    for (name, callbacks) in [
        ("no-op", &[&["proxy_on_log", "proxy_on_request_headers", "proxy_on_response_headers"][..]][..]),
        ("client-id", &[CALLS_OUT]),
        ("rate-limit", &[CALLS_OUT, RATE_LIMIT]),
        ("content-router", &[READS_BODIES]),
        ("xslt-transform", &[READS_BODIES, READS_RESPONSES]),
        ("access-log", &[CALLS_OUT, ACCESS_LOG]),
        ("gateway", &[CALLS_OUT, RATE_LIMIT, ACCESS_LOG]),
    ] {
        let mut expected: Vec<&str> = [ALWAYS, &callbacks.concat()].concat();
        expected.sort_unstable();
        expected.dedup();
        let mut exports = module(name).exports();
        exports.sort_unstable();
        assert_eq!(exports, expected, "{name}");
    }
}

#[test]
fn a_module_needs_no_more_of_wasi_than_a_panic_message_a_clock_and_randomness() {
    for name in
        ["no-op", "client-id", "rate-limit", "content-router", "xslt-transform", "access-log", "gateway"]
    {
        for (from, import) in module(name).imports() {
            let known = from == "env"
                || [
                    "clock_time_get",
                    "environ_get",
                    "environ_sizes_get",
                    "fd_write",
                    "proc_exit",
                    "random_get",
                ]
                .contains(&import.as_str());
            assert!(known, "{name} imports {from}.{import}");
        }
        assert!(module(name).foreign_wasi_imports().is_empty());
    }
}
