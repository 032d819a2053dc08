//! The rate limit service and its Redis as fixtures.
#![cfg(feature = "envoy")]

use std::net::SocketAddr;

use portcullis_testkit::envoy::{ClientError, PATIENCE, RateLimitService, Response, h2, wait_until};

/// A year, so that its end, at which counting begins anew, hardly ever falls into a test.
const CONFIG: &str = "
domain: test
descriptors:
- key: k
  rate_limit: { unit: year, requests_per_unit: 2 }
";

/// Asks about the descriptor `k=v`.
fn ask(addr: SocketAddr) -> Result<Response, ClientError> {
    let request = b"\x00\x00\x00\x00\x10\x0a\x04test\x12\x08\x0a\x06\x0a\x01k\x12\x01v";
    h2::Connection::try_open(addr)?.try_request(
        "POST",
        "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
        &[("content-type", b"application/grpc"), ("te", b"trailers"), ("grpc-timeout", b"500m")],
        &[request],
        &[],
    )
}

/// The overall code of an answer; none for an answer that is an error.
fn code(response: &Response) -> Option<u8> {
    let is_ok = response.trailers.text("grpc-status").as_deref() == Some("0");
    is_ok.then(|| match response.body.as_slice() {
        [0, _, _, _, _, 0x08, code, ..] => *code,
        body => panic!("{body:?}"),
    })
}

#[test]
fn counts_and_stops_counting_when_its_redis_is_gone() {
    let Some(mut service) = RateLimitService::start(CONFIG) else { return };
    let codes: Vec<_> = (0..3).map(|_| code(&ask(service.addr()).unwrap())).collect();
    assert_eq!(codes, [Some(1), Some(1), Some(2)]);

    service.redis().kill();
    assert_eq!(ask(service.addr()).ok().as_ref().and_then(code), None);

    service.redis().start_again();
    wait_until("the service counts again", PATIENCE, || {
        ask(service.addr()).ok().as_ref().and_then(code).is_some()
    });
}

#[test]
fn refuses_connections_while_it_is_stopped() {
    let Some(mut service) = RateLimitService::start(CONFIG) else { return };
    service.kill();
    assert!(ask(service.addr()).is_err());
    service.start_again();
    assert_eq!(code(&ask(service.addr()).unwrap()), Some(1));
}
