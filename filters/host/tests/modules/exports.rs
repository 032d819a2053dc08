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
    const CLIENT_ID: &[&str] = &[
        "proxy_on_http_call_response",
        "proxy_on_request_body",
        "proxy_on_request_headers",
        "proxy_on_request_trailers",
        "proxy_on_tick",
    ];
    for (name, callbacks) in [
        ("no-op", &[&["proxy_on_log", "proxy_on_request_headers", "proxy_on_response_headers"][..]][..]),
        ("client-id", &[CLIENT_ID]),
        ("access-log", &[&["proxy_on_log"]]),
        ("gateway", &[CLIENT_ID, &["proxy_on_log"]]),
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
    for name in ["no-op", "client-id", "access-log", "gateway"] {
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
