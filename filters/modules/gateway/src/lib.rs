//! All policies as one chain in one proxy-wasm module.

portcullis_host::module! {
    name: "gateway",
    callbacks: [REQUEST_HEADERS, REQUEST_BODY, CALL_OUT, TICK, LOG],
    needs: portcullis_gateway::CALLBACKS,
    chain: |document| portcullis_gateway::catalogue().chain(document),
}
