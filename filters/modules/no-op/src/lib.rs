//! A policy that does nothing in each header and log callback: what the seam itself costs.

use portcullis_policy::{Callbacks, Chain, ConfigError, Policy};

struct NoOp;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoConfig {}

impl Policy for NoOp {
    const NAME: &'static str = "no-op";
    const CALLBACKS: Callbacks =
        Callbacks::REQUEST_HEADERS.and(Callbacks::RESPONSE_HEADERS).and(Callbacks::LOG);
    type Config = NoConfig;
    type State = ();

    fn from_config(_: NoConfig) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

portcullis_host::module! {
    name: "no-op",
    callbacks: [REQUEST_HEADERS, RESPONSE_HEADERS, LOG],
    needs: NoOp::CALLBACKS,
    chain: |document| Chain::new().then_configured::<NoOp>(document),
}
