//! A chain that may have a policy `trap`, which panics where a request's header `x-trap` says, and so ends the VM.
//!
//! It stands apart from the modules of `filters/modules`, which is all that is built into `dist`, packed into images and
//! published; it cannot be configured in any of them.

use portcullis_access_log::AccessLog;
use portcullis_client_id::ClientId;
use portcullis_policy::{
    BodyEvent, Callbacks, Catalogue, ConfigError, EndOfStream, Exchange, Flow, Policy, Worker,
};
use portcullis_rate_limit::RateLimit;

/// See the crate.
struct Trap {
    config: Config,
}

/// Where it traps apart from requests.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// When the plugin starts.
    #[serde(default)]
    at_start: bool,
}

/// Where this request traps.
#[derive(Default)]
struct Place(Option<String>);

impl Place {
    fn trap(&self, here: &str) {
        assert!(self.0.as_deref() != Some(here), "a trap in {here}");
    }
}

impl Policy for Trap {
    const NAME: &'static str = "trap";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::LOG);
    type Config = Config;
    type State = Place;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        Ok(Self { config })
    }

    fn on_start(&mut self, _worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        assert!(!self.config.at_start, "a trap at the start");
        Ok(())
    }

    fn on_request_headers(
        &mut self,
        place: &mut Place,
        exchange: &mut Exchange<'_>,
        _end: EndOfStream,
    ) -> Flow {
        if let Ok(headers) = exchange.request_headers() {
            let name = headers.first("x-trap");
            place.0 = name.map(|name| String::from_utf8_lossy(name).into_owned());
        }
        place.trap("request-headers");
        Flow::Continue
    }

    fn on_request_body(&mut self, place: &mut Place, _exchange: &mut Exchange<'_>, _body: BodyEvent) -> Flow {
        place.trap("request-body");
        Flow::Continue
    }

    fn on_response_headers(
        &mut self,
        place: &mut Place,
        _exchange: &mut Exchange<'_>,
        _end: EndOfStream,
    ) -> Flow {
        place.trap("response-headers");
        Flow::Continue
    }

    fn on_log(&mut self, place: &mut Place, _exchange: &mut Exchange<'_>) {
        place.trap("log");
    }
}

portcullis_host::module! {
    name: "trapping",
    callbacks: [
        REQUEST_HEADERS, REQUEST_BODY, RESPONSE_HEADERS, RESPONSE_BODY, CALL_OUT, TICK, LOG, SHUTDOWN,
    ],
    needs: ClientId::CALLBACKS
        .and(RateLimit::CALLBACKS)
        .and(AccessLog::CALLBACKS)
        .and(Trap::CALLBACKS),
    chain: |document| {
        Catalogue::new().offer::<ClientId>().offer::<RateLimit>().offer::<AccessLog>().offer::<Trap>().chain(document)
    },
}
