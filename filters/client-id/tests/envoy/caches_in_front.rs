//! A shared cache in front of the gateway serves no client's response to others.

use portcullis_testkit::envoy::{Backend, Envoy, EnvoyConfig, Reply, Response};

use crate::support::nginx::Nginx;
use crate::support::{Fields, Http, basic};

const BY_HEADERS: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
const BY_OTHER_SPELLING: Fields = &[("client-id", b"acme"), ("client-secret", b"s3cret")];
const NOBODY: Fields = &[];
const STRANGER: Fields = &[("client_id", b"acme"), ("client_secret", b"guessed")];
const OTHER_STRANGER: Fields = &[("client-id", b"acme"), ("client-secret", b"guessed")];

/// The shipped example, which knows the client `acme`, in front of an upstream whose responses may be kept for a minute.
struct Example {
    envoy: Envoy,
    _upstream: Backend,
    _auth: Backend,
}

impl Example {
    fn start(name: &str) -> Self {
        let may_be_kept = Reply::status(200)
            .header("cache-control", "max-age=60")
            .header("vary", "accept-language")
            .body(b"for acme alone".to_vec());
        let (upstream, auth) = (Backend::replying(may_be_kept), Backend::start());
        let known = basic("acme", "s3cret");
        auth.reply_with(move |request| {
            let is_known =
                request.headers.text("authorization").is_some_and(|value| value.as_bytes() == known);
            Reply::status(if is_known { 200 } else { 401 })
        });
        let text = EnvoyConfig::example(name, &[(8081, upstream.addr()), (8082, auth.addr())]);
        Self { envoy: Envoy::start(&EnvoyConfig::of_text(&text)), _upstream: upstream, _auth: auth }
    }
}

/// All values of `Vary`, of all its lines.
fn vary(response: &Response) -> Vec<String> {
    let lines =
        response.headers.all("vary").into_iter().map(|line| String::from_utf8_lossy(line).into_owned());
    lines.flat_map(|line| line.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn no_cache_in_front_serves_one_clients_response_to_others() {
    let by_basic = basic("acme", "s3cret");
    let by_basic: Fields = &[("authorization", &by_basic)];
    for (number, example) in ["client-id", "gateway"].into_iter().enumerate() {
        let gateway = Example::start(example);
        let Some(cache) = Nginx::cache(&format!("cache-{number}"), gateway.envoy.addr()) else { return };
        for (path, credentials) in
            [("/headers", BY_HEADERS), ("/spelled", BY_OTHER_SPELLING), ("/basic", by_basic)]
        {
            let get = |headers| Http::One.get(cache.addr(), path, headers);
            assert_eq!(get(credentials).status, 200, "{example} {path}");

            // Kept it is, for the one whose it is.
            let again = get(credentials);
            assert_eq!(again.headers.text("x-cache").as_deref(), Some("HIT"), "{example} {path}");
            assert_eq!(again.text(), "for acme alone", "{example} {path}");
            for others in [NOBODY, STRANGER, OTHER_STRANGER] {
                assert_eq!(get(others).status, 401, "{example} {path} {others:?}");
            }
        }
    }
}

#[test]
fn responses_say_what_they_depend_on_beside_what_the_upstream_says() {
    let credentials = ["authorization", "client_id", "client_secret", "client-id", "client-secret"];
    for example in ["client-id", "gateway"] {
        let gateway = Example::start(example);
        for http in Http::BOTH {
            let admitted = http.get(gateway.envoy.addr(), "/", BY_HEADERS);
            assert_eq!(admitted.status, 200, "{example} {http:?}");
            assert_eq!(
                vary(&admitted),
                [&["accept-language"], &credentials[..]].concat(),
                "{example} {http:?}"
            );
            let refused = http.get(gateway.envoy.addr(), "/", NOBODY);
            assert_eq!(refused.status, 401, "{example} {http:?}");
            assert_eq!(vary(&refused), credentials, "{example} {http:?}");
        }
    }
}
