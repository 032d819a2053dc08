//! The exports of a module.

/// Makes the crate that it stands in a proxy-wasm module.
///
/// A host enters the VM for every callback that the module exports, needed or not, so this exports exactly those
/// in `callbacks`; that they are the ones that the policies need is checked when the module is compiled.
///
/// ```ignore
/// portcullis_host::module! {
///     name: "client-id",
///     callbacks: [REQUEST_HEADERS, REQUEST_BODY, CALL_OUT, TICK],
///     needs: ClientId::CALLBACKS,
///     chain: |document| Chain::new().then_configured::<ClientId>(document),
/// }
/// ```
#[macro_export]
macro_rules! module {
    (
        name: $name:literal,
        callbacks: [$($callback:ident),* $(,)?],
        needs: $needs:expr,
        chain: $chain:expr $(,)?
    ) => {
        const DEFINITION: $crate::dispatch::Definition = $crate::dispatch::Definition {
            name: $name,
            version: env!("CARGO_PKG_VERSION"),
            chain: $chain,
        };

        const _: () = assert!(
            $crate::policy::Callbacks::NONE
                $(.and($crate::policy::Callbacks::$callback))*
                .same_as($needs),
            "the module must export exactly the callbacks that its policies need",
        );

        $crate::__export! { _initialize() {
            #[cfg(target_os = "wasi")]
            {
                unsafe extern "C" {
                    fn __wasm_call_ctors();
                }
                // SAFETY: the linker makes this function; a reactor must call it once, first of all.
                unsafe { __wasm_call_ctors() }
            }
        } }
        $crate::__export! { proxy_abi_version_0_2_1() {} }
        $crate::__export! { proxy_on_memory_allocate(size: usize) -> *mut u8 { $crate::allocate(size) } }
        $crate::__export! { proxy_on_context_create(context: u32, parent: u32) {
            $crate::dispatch::on_context_create(context, parent);
        } }
        $crate::__export! { proxy_on_vm_start(_root: u32, _size: usize) -> u32 {
            $crate::dispatch::on_vm_start(DEFINITION)
        } }
        $crate::__export! { proxy_on_configure(root: u32, size: usize) -> u32 {
            $crate::dispatch::on_configure(DEFINITION, root, size)
        } }
        $crate::__export! { proxy_on_delete(context: u32) { $crate::dispatch::on_delete(context); } }
        $($crate::__export_callback! { $callback })*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_callback {
    (REQUEST_HEADERS) => {
        $crate::__export! { proxy_on_request_headers(context: u32, _count: usize, end: u32) -> u32 {
            $crate::dispatch::on_headers(context, $crate::policy::Direction::Request, end)
        } }
    };
    (REQUEST_BODY) => {
        $crate::__export! { proxy_on_request_body(context: u32, size: usize, end: u32) -> u32 {
            $crate::dispatch::on_body(context, $crate::policy::Direction::Request, size, end)
        } }
        $crate::__export! { proxy_on_request_trailers(context: u32, _count: usize) -> u32 {
            $crate::dispatch::on_trailers(context, $crate::policy::Direction::Request)
        } }
    };
    (RESPONSE_HEADERS) => {
        $crate::__export! { proxy_on_response_headers(context: u32, _count: usize, end: u32) -> u32 {
            $crate::dispatch::on_headers(context, $crate::policy::Direction::Response, end)
        } }
    };
    (RESPONSE_BODY) => {
        $crate::__export! { proxy_on_response_body(context: u32, size: usize, end: u32) -> u32 {
            $crate::dispatch::on_body(context, $crate::policy::Direction::Response, size, end)
        } }
        $crate::__export! { proxy_on_response_trailers(context: u32, _count: usize) -> u32 {
            $crate::dispatch::on_trailers(context, $crate::policy::Direction::Response)
        } }
    };
    (CALL_OUT) => {
        $crate::__export! { proxy_on_http_call_response(
            context: u32, token: u32, headers: usize, body: usize, _trailers: usize
        ) {
            $crate::dispatch::on_http_call_response(context, token, headers, body);
        } }
    };
    (TICK) => {
        $crate::__export! { proxy_on_tick(root: u32) { $crate::dispatch::on_tick(root); } }
    };
    (SHUTDOWN) => {
        $crate::__export! { proxy_on_done(context: u32) -> u32 { $crate::dispatch::on_done(context) } }
    };
    (LOG) => {
        $crate::__export! { proxy_on_log(context: u32) { $crate::dispatch::on_log(context); } }
    };
}
