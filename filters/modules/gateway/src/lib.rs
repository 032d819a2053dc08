//! All policies as one chain in one proxy-wasm module.

portcullis_host::module! {
    name: "gateway",
    callbacks: [
        REQUEST_HEADERS, REQUEST_BODY, RESPONSE_HEADERS, RESPONSE_BODY, CALL_OUT, TICK, LOG, SHUTDOWN,
    ],
    needs: portcullis_gateway::CALLBACKS,
    chain: |document| portcullis_gateway::catalogue().chain(document),
}
