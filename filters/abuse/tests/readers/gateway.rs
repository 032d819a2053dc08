//! Envoy before all readers.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_abuse::gateway::plugin;
use portcullis_testkit::envoy::{Backend, Body, Cluster, Envoy, EnvoyConfig, Http, Reply, Response, h1};
use serde_json::{Value, json};

use crate::reader::{Reader, Seen};
use crate::rule::Mode;

/// A header that says which reader a request is for.
const READER: &str = "x-reader";

/// Fields of a request.
pub(crate) type Fields<'a> = &'a [(&'a str, &'a [u8])];

/// Envoy with client-id and content-router, and an auth service that knows `acme` with the secret `s3cret`; and the same
/// with one that is out, for the requests of [`Mode::Outage`].
pub(crate) struct Gateway {
    in_service: Envoy,
    in_outage: Envoy,
    _auth: [Backend; 2],
}

/// What became of a request.
pub(crate) struct Fate {
    pub(crate) status: u16,
    /// What the reader has seen, if it has answered.
    pub(crate) seen: Option<Seen>,
}

impl From<Response> for Fate {
    fn from(response: Response) -> Self {
        let seen = if response.status == 200 { Seen::parse(&response.body) } else { None };
        Self { status: response.status, seen }
    }
}

impl Gateway {
    /// Starts Envoy; `credentials` says whether the upstream gets them.
    #[track_caller]
    pub(crate) fn start(readers: &[Reader], credentials: &str) -> Self {
        let auth = Backend::start();
        auth.reply_with(|request| {
            let value = request.headers.text("authorization").unwrap_or_default();
            let pair = STANDARD.decode(value.strip_prefix("Basic ").unwrap_or_default()).unwrap_or_default();
            match &pair[..] {
                b"acme:s3cret" => {
                    Reply::status(200).header("x-client-name", "Acme Ltd").header("x-client-tier", "gold")
                }
                _ => Reply::status(401),
            }
        });
        let broken = Backend::start();
        broken.reply(Reply::status(500));
        let [in_service, in_outage] = [&auth, &broken].map(|auth| envoy(readers, credentials, auth.addr()));
        Self { in_service, in_outage, _auth: [auth, broken] }
    }

    fn envoy_for(&self, fields: Fields) -> &Envoy {
        let is_for_outage = fields.iter().any(|field| Mode::Outage.credentials().contains(field));
        if is_for_outage { &self.in_outage } else { &self.in_service }
    }

    /// Sends a GET.
    #[track_caller]
    pub(crate) fn get(&self, reader: &Reader, path: &str, fields: Fields) -> Fate {
        self.request(reader, "GET", path, fields, b"")
    }

    /// Sends a request. A name or a path that cannot be sent by a client's library is sent as it is.
    #[track_caller]
    pub(crate) fn request(
        &self,
        reader: &Reader,
        method: &str,
        path: &str,
        fields: Fields,
        body: &[u8],
    ) -> Fate {
        let fields = [&[(READER, reader.name.as_bytes())], fields].concat();
        h1::request(self.envoy_for(&fields).addr(), method, path, &fields, body).into()
    }

    /// Sends a request with a body and trailers.
    #[track_caller]
    pub(crate) fn with_trailers(
        &self,
        reader: &Reader,
        path: &str,
        fields: Fields,
        trailers: Fields,
    ) -> Fate {
        let fields = [&[(READER, reader.name.as_bytes())], fields].concat();
        let mut request =
            Http::One.begin(self.envoy_for(&fields).addr(), "POST", path, &fields, Body::Chunked);
        request.send(b"body").expect("the body is sent");
        request.end(trailers).expect("the trailers are sent");
        request.response().expect("a response").into()
    }

    /// Asserts that no VM has failed.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        for envoy in [&self.in_service, &self.in_outage] {
            let lines = envoy.log_lines();
            let failed = lines.iter().find(|line| {
                ["panic", "Function: proxy_on", "[critical]"].iter().any(|sign| line.contains(sign))
            });
            assert_eq!(failed, None);
        }
    }
}

#[track_caller]
fn envoy(readers: &[Reader], credentials: &str, auth: SocketAddr) -> Envoy {
    let mut config = EnvoyConfig::new()
        .cluster(Cluster::http1("auth", auth))
        .http1_trailers()
        .filter(plugin(&policies(credentials)))
        .merge_connection_manager(json!({"delayed_close_timeout": "0s"}));
    for reader in readers {
        config = config.cluster(Cluster::http1(reader.name, reader.addr)).route(json!({
            "match": {"prefix": "/", "headers": [{"name": READER, "string_match": {"exact": reader.name}}]},
            // A server may close a connection at the moment in which Envoy takes it for a request.
            "route": {"cluster": reader.name, "timeout": "60s", "retry_policy": {"retry_on": "reset,connect-failure"}},
        }));
    }
    Envoy::start(&config)
}

fn policies(credentials: &str) -> [Value; 2] {
    [
        json!({"client-id": {
            "auth": {"per-request": {
                "cluster": "auth", "timeout_ms": 60_000, "retries": 0,
                "identity": {"name": "x-client-name", "tier": "x-client-tier"},
            }},
            "on_outage": "open",
            "upstream_credentials": credentials,
            "scope": {"exempt": [{"path_prefix": "/public"}]},
        }}),
        json!({"content-router": {
            "rules": [task("admin"), task("user")],
            "default": {"route": "other"},
            "undecided": {"content_type": "default"},
        }}),
    ]
}

/// Routes a request whose JSON document has this task.
fn task(name: &str) -> Value {
    json!({
        "when": {"all": [{"method": ["POST"]}, {"json": {"pointer": "/task", "value": {"exact": name}}}]},
        "then": {"route": name},
    })
}
