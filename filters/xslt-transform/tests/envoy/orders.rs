//! Orders are transformed on their way to the upstream, and back: the client gets what it has sent.

use portcullis_testkit::envoy::{Recorded, Reply, Response};

use crate::support::*;

/// How a message is framed on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Length,
    Chunked,
    Trailers,
}

/// Answers with what came, framed as this says.
fn echo_as(request: &Recorded, shape: Shape) -> Reply {
    let reply = Reply::status(200).header("content-type", "text/xml").header("etag", "\"1\"");
    match shape {
        Shape::Length => reply.body(request.body.clone()),
        Shape::Chunked => reply.chunks(request.body.chunks(10_000).map(<[u8]>::to_vec)),
        Shape::Trailers => reply
            .chunks(request.body.chunks(10_000).map(<[u8]>::to_vec))
            .trailer("content-digest", "sha-256=:x:")
            .trailer("x-checked", "1"),
    }
}

fn send(gateway: &Gateway, http: Http, shape: Shape, message: &[u8]) -> Response {
    let body = if shape == Shape::Length { Body::Length(message.len()) } else { Body::Chunked };
    let headers = [SOAP, &[("te", b"trailers")]].concat();
    let mut request = http.begin(gateway.addr(), "POST", "/", &headers, body);
    for piece in message.chunks(10_000) {
        request.send(piece).unwrap();
    }
    match shape {
        Shape::Trailers => {
            request.end(&[("x-checked", b"1"), ("content-digest", b"sha-256=:x:")]).unwrap();
        }
        Shape::Length | Shape::Chunked => request.finish(),
    }
    request.response().unwrap()
}

#[test]
fn a_message_comes_back_as_it_was_sent_however_it_is_framed() {
    for upstream in Http::BOTH {
        let gateway =
            Gateway::to(upstream, |config| config.filter(plugin(&order_transformations(), Flag::True)));
        for http in Http::BOTH {
            for shape in [Shape::Length, Shape::Chunked, Shape::Trailers] {
                gateway.backend.reply_with(move |request| echo_as(request, shape));
                for count in ORDERS {
                    let message = orders(count);
                    let response = send(&gateway, http, shape, message.as_bytes());
                    let what = format!("{upstream:?} {http:?} {shape:?} {count}");
                    assert_eq!(response.status, 200, "{what} {response:?}");
                    assert!(canonical(&response.body) == canonical(message.as_bytes()), "{what}");
                    assert!(!response.headers.contains("etag"), "{what}");

                    let received = gateway.received();
                    let text = String::from_utf8(received.body.clone()).unwrap();
                    assert_eq!(text.matches("<lobmys>IBM</lobmys>").count(), count, "{what}");
                    assert!(!text.contains("symbol"), "{what}");
                    // A length is announced where one was before, and is that of the new body.
                    let announced = received.headers.text("content-length");
                    assert_eq!(announced.is_some(), shape == Shape::Length, "{what}");
                    for (length, body) in [
                        (announced, &received.body),
                        (response.headers.text("content-length"), &response.body),
                    ] {
                        assert!(length.is_none_or(|length| length == body.len().to_string()), "{what}");
                    }
                    if shape == Shape::Trailers {
                        for trailers in [&received.trailers, &response.trailers] {
                            assert_eq!(trailers.text("x-checked").as_deref(), Some("1"), "{what}");
                            assert!(!trailers.contains("content-digest"), "{what}");
                        }
                    }
                }
            }
        }
        gateway.assert_sound();
    }
}

#[test]
fn many_at_once_over_two_workers_do_not_mix() {
    let gateway =
        Gateway::start_with(|config| config.workers(2).filter(plugin(&order_transformations(), Flag::True)));
    let addr = gateway.addr();
    let clients: Vec<_> = (0..16)
        .map(|client| {
            std::thread::spawn(move || {
                for round in 0..20 {
                    let message = orders(1 + (client * 7 + round) % 40)
                        .replace("asankha", &format!("buyer{client}-{round}"));
                    let http = Http::BOTH[(client + round) % 2];
                    let response = http.request(addr, "POST", "/", SOAP, message.as_bytes());
                    assert_eq!(response.status, 200);
                    assert!(canonical(&response.body) == canonical(message.as_bytes()));
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    assert_eq!((gateway.count("request.transformed"), gateway.count("response.transformed")), (320, 320));
    gateway.assert_sound();
}
