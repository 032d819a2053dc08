//! A request with a body while its client is being verified: nothing passes before the decision, all of it after.

use std::thread;
use std::time::Instant;

use portcullis_testkit::envoy::{
    Behaviour, EnvoyConfig, HostileServer, PATIENCE, Progress, Recorded, http_reply,
};
use serde_json::json;

use crate::support::{Begun, Body, Fields, Gateway, Http, Mark, admission, per_request, plugin};

/// What `allow_on_headers_stop_iteration` can be. Istio's WasmPlugin leaves it out.
const FLAGS: [Option<bool>; 3] = [None, Some(false), Some(true)];

const CREDENTIALS: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
const FIRST: &[u8] = b"the first half, ";
const SECOND: &[u8] = b"the second half";

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Length,
    Chunks,
    Trailers,
    TrailersOnly,
}

impl Shape {
    const ALL: [Self; 4] = [Self::Length, Self::Chunks, Self::Trailers, Self::TrailersOnly];

    fn body(self) -> Body {
        match self {
            Self::Length => Body::Length([FIRST, SECOND].concat().len()),
            Self::Chunks | Self::Trailers | Self::TrailersOnly => Body::Chunked,
        }
    }

    fn pieces(self) -> Vec<&'static [u8]> {
        if self == Self::TrailersOnly { Vec::new() } else { vec![FIRST, SECOND] }
    }

    fn trailers(self) -> Fields<'static> {
        match self {
            Self::Length | Self::Chunks => &[],
            Self::Trailers | Self::TrailersOnly => &[("x-check", b"\xe97"), ("x-sum", b"")],
        }
    }
}

/// A gateway that remembers no decision, so that each request waits for one.
fn gateway(
    auth: &HostileServer,
    allow: Option<bool>,
    change: impl Fn(EnvoyConfig) -> EnvoyConfig,
) -> Gateway {
    let mut plugin = plugin(&per_request(json!({"cache": {"entries": 0}})));
    if let Some(allow) = allow {
        plugin = plugin.allow_on_headers_stop_iteration(allow);
    }
    Gateway::start_with(auth.addr(), |config| change(config.http1_trailers().filter(plugin)))
}

/// Small buffers on both sides: what `buffer_limit` is to HTTP/1.1, the stream window is to HTTP/2.
fn with_small_buffers(config: EnvoyConfig) -> EnvoyConfig {
    config.buffer_limit(16 << 10).merge_connection_manager(json!({
        "http2_protocol_options": {"initial_stream_window_size": 65_535},
    }))
}

/// Begins a request and waits until the auth service is asked about it.
#[track_caller]
fn begin(gateway: &Gateway, auth: &HostileServer, http: Http, body: Body) -> Begun {
    let request = http.begin(gateway.addr(), "POST", "/", CREDENTIALS, body);
    auth.wait_for_held(1, PATIENCE);
    request
}

/// Sends the rest of a request, piece by piece, and sees that nothing of it passes.
#[track_caller]
fn send_to_the_end(gateway: &Gateway, request: &mut Begun, shape: Shape, before: &Mark) {
    for piece in shape.pieces() {
        let received = gateway.received();
        request.send(piece).unwrap();
        gateway.wait_for_received(received.saturating_add(piece.len() as u64));
        gateway.assert_backend_untouched_since(before);
    }
    let received = gateway.received();
    let sent = request.end(shape.trailers()).unwrap();
    gateway.wait_for_received(received.saturating_add(sent));
    gateway.assert_backend_untouched_since(before);
}

/// Asserts that a request came whole, and came after the decision.
#[track_caller]
fn assert_whole(request: &Recorded, shape: Shape, decided: Instant, case: &str) {
    assert!(request.arrived >= decided, "{case}: it came before the decision");
    assert_eq!(request.progress, Progress::Complete, "{case}");
    assert_eq!(request.body, shape.pieces().concat(), "{case}");
    let trailers: Vec<_> = request.trailers.iter().collect();
    assert_eq!(trailers, shape.trailers(), "{case}");
    assert_eq!(request.headers.text("x-portcullis-client-id").as_deref(), Some("acme"), "{case}");
    assert!(!request.headers.contains("client_secret"), "{case}");
    if shape == Shape::Length {
        let length = request.body.len().to_string();
        assert_eq!(request.headers.all("content-length"), [length.as_bytes()], "{case}");
    }
}

#[test]
fn nothing_of_a_body_passes_before_admission_and_all_of_it_after() {
    for allow in FLAGS {
        let auth = HostileServer::start(Behaviour::Hang);
        let gateway = gateway(&auth, allow, |config| config);
        for http in Http::BOTH {
            for shape in Shape::ALL {
                let case = format!("{http:?} {shape:?}, flag {allow:?}");
                auth.behave(Behaviour::Gate(admission()));
                gateway.backend.clear();
                let before = gateway.mark();

                let mut request = begin(&gateway, &auth, http, shape.body());
                send_to_the_end(&gateway, &mut request, shape, &before);
                let decided = Instant::now();
                auth.open_gate();

                assert_eq!(request.response().unwrap().status, 200, "{case}");
                let requests = gateway.backend.requests();
                assert_eq!(requests.len(), 1, "{case}");
                assert_whole(&requests[0], shape, decided, &case);
            }
        }
    }
}

#[test]
fn a_body_that_is_admitted_in_its_middle_goes_on_from_there() {
    for allow in FLAGS {
        let auth = HostileServer::start(Behaviour::Hang);
        let gateway = gateway(&auth, allow, |config| config);
        for http in Http::BOTH {
            for shape in [Shape::Length, Shape::Chunks, Shape::Trailers] {
                let case = format!("{http:?} {shape:?}, flag {allow:?}");
                auth.behave(Behaviour::Gate(admission()));
                gateway.backend.clear();
                let before = gateway.mark();

                let mut request = begin(&gateway, &auth, http, shape.body());
                let received = gateway.received();
                request.send(FIRST).unwrap();
                gateway.wait_for_received(received.saturating_add(FIRST.len() as u64));
                gateway.assert_backend_untouched_since(&before);
                let decided = Instant::now();
                auth.open_gate();
                gateway.backend.wait_for_headers(1, PATIENCE);
                request.send(SECOND).unwrap();
                request.end(shape.trailers()).unwrap();

                assert_eq!(request.response().unwrap().status, 200, "{case}");
                assert_whole(&gateway.backend.requests()[0], shape, decided, &case);
            }
        }
    }
}

#[test]
fn nothing_of_a_body_passes_when_the_client_is_refused() {
    for allow in FLAGS {
        let auth = HostileServer::start(Behaviour::Hang);
        let gateway = gateway(&auth, allow, |config| config);
        let before = gateway.mark();
        for http in Http::BOTH {
            for shape in Shape::ALL {
                let case = format!("{http:?} {shape:?}, flag {allow:?}");
                auth.behave(Behaviour::Gate(http_reply(401, &[], b"")));

                let mut request = begin(&gateway, &auth, http, shape.body());
                send_to_the_end(&gateway, &mut request, shape, &before);
                auth.open_gate();

                assert_eq!(request.response().unwrap().status, 401, "{case}");
            }
            // Refused in the middle of its body: the rest is not waited for.
            auth.behave(Behaviour::Gate(http_reply(401, &[], b"")));
            let mut request = begin(&gateway, &auth, http, Body::Length(1000));
            request.send(FIRST).unwrap();
            auth.open_gate();
            assert_eq!(request.response().unwrap().status, 401, "{http:?}, flag {allow:?}");
        }
        gateway.wait_for_active(0);
        gateway.assert_backend_untouched_since(&before);
    }
}

/// Without `allow_on_headers_stop_iteration` Envoy stops reading from the client when its buffer is full.
#[test]
fn a_body_longer_than_the_buffer_waits_in_the_client_and_passes_when_the_flag_is_not_set() {
    const LEN: usize = 1 << 20;
    for allow in [None, Some(false)] {
        let auth = HostileServer::start(Behaviour::Hang);
        let gateway = gateway(&auth, allow, with_small_buffers);
        for http in Http::BOTH {
            for body in [Body::Length(LEN), Body::Chunked] {
                let case = format!("{http:?} {body:?}, flag {allow:?}");
                const PAUSED: &str = "http.ingress.downstream_flow_control_paused_reading_total";
                auth.behave(Behaviour::Gate(admission()));
                gateway.backend.clear();
                let before = gateway.mark();
                let paused = gateway.envoy.counter(PAUSED);
                let data: Vec<u8> = (0..=250).cycle().take(LEN).collect();

                let mut request = begin(&gateway, &auth, http, body);
                let (decided, response) = thread::scope(|scope| {
                    let client = scope.spawn(|| {
                        request.send(&data).unwrap();
                        request.end(&[]).unwrap();
                        request.response().unwrap()
                    });
                    gateway.envoy.wait_for_counter(PAUSED, paused.saturating_add(1), PATIENCE);
                    gateway.assert_backend_untouched_since(&before);
                    let decided = Instant::now();
                    auth.open_gate();
                    (decided, client.join().unwrap())
                });

                assert_eq!(response.status, 200, "{case}");
                let request = &gateway.backend.requests()[0];
                assert!(request.arrived >= decided, "{case}");
                assert!(request.body == data, "{case}: the body is another");
            }
        }
    }
}

/// With it Envoy buffers the body for the filter, and gives up on one that is too long.
#[test]
fn a_body_longer_than_the_buffer_is_refused_with_413_when_the_flag_is_true() {
    const LEN: usize = 128 << 10;
    let auth = HostileServer::start(Behaviour::Hang);
    let gateway = gateway(&auth, Some(true), with_small_buffers);
    for http in Http::BOTH {
        for body in [Body::Length(2 * LEN), Body::Chunked] {
            auth.behave(Behaviour::Gate(admission()));
            gateway.backend.clear();
            let before = gateway.mark();

            let mut request = begin(&gateway, &auth, http, body);
            // The answer may come, and the connection close, before all is sent.
            let _ = request.send(&vec![b'x'; LEN]);
            assert_eq!(request.response().unwrap().status, 413, "{http:?} {body:?}");
            gateway.wait_for_active(0);
            // The decision comes too late for anybody.
            auth.open_gate();
            gateway.assert_backend_untouched_since(&before);

            assert_eq!(http.get(gateway.addr(), "/", CREDENTIALS).status, 200, "{http:?} {body:?}");
            assert_eq!(gateway.backend.requests()[0].method, "GET");
        }
    }
}
