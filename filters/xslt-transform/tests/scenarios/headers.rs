//! What becomes of the headers of messages that are transformed, and of those that are not.

use portcullis_policy::{Direction, Next};
use serde_json::json;

use crate::support::*;

fn simple() -> portcullis_testkit::inprocess::Worker {
    worker(&both(&json!({"stylesheet": a_to_b()})))
}

#[test]
fn the_length_is_that_of_the_new_body_if_there_was_one() {
    let mut worker = simple();
    for at in BOTH {
        let headers = [XML, &[("content-length", "4")]].concat();
        let (fared, sent) = send_pieces(&mut worker, at, &headers, &[b"<a/>"], End::Body);
        assert_eq!(fared, passed("<b/>"));
        assert_eq!(field(&headers_of(&worker, &sent), "content-length").as_deref(), Some("4"));

        let headers = [XML, &[("content-length", "12")]].concat();
        let (fared, sent) = send_pieces(&mut worker, at, &headers, &[b"<a>", b"  x  </a>"], End::Body);
        assert_eq!(fared, passed("<b>  x  </b>"));
        assert_eq!(field(&headers_of(&worker, &sent), "content-length").as_deref(), Some("12"));

        let (_, sent) = send_pieces(&mut worker, at, XML, &[b"<a/>"], End::Trailers);
        assert_eq!(field(&headers_of(&worker, &sent), "content-length"), None);
    }
}

#[test]
fn the_new_length_differs_from_the_old_one() {
    let mut worker = worker(&both(&json!({"stylesheet": inline("<xsl:output omit-xml-declaration='yes'/>\
        <xsl:template match='/'><long-name><xsl:value-of select='count(//*)'/></long-name></xsl:template>")})));
    for at in BOTH {
        for (body, length) in [("<a/>", "4"), ("<a><b/><b/><b/><b/><b/><b/><b/><b/></a>", "39")] {
            let headers = [XML, &[("content-length", length)]].concat();
            let (fared, sent) = send_pieces(&mut worker, at, &headers, &[body.as_bytes()], End::Body);
            let Fared::Passed(result) = fared else { panic!("{fared:?}") };
            let expected = result.len().to_string();
            assert_eq!(field(&headers_of(&worker, &sent), "content-length").as_deref(), Some(&*expected));
        }
    }
}

#[test]
fn what_was_true_of_the_old_body_alone_goes() {
    let mut worker = simple();
    let stale = ["content-digest", "content-md5", "digest", "etag", "repr-digest", "accept-ranges"];
    let kept =
        [("want-content-digest", "sha-256=1"), ("content-language", "en"), ("cache-control", "max-age=9")];
    let headers: Vec<_> = XML.iter().copied().chain(stale.map(|name| (name, "x"))).chain(kept).collect();
    for at in BOTH {
        let sent = begin(&mut worker, at, &headers);
        worker.body(sent.id, at, b"<a/>", false);
        worker.trailers_of(sent.id, at, [("content-digest", "x"), ("x-checked", "1")]);
        assert_eq!(fared(&worker, &sent), passed("<b/>"));
        let headers = headers_of(&worker, &sent);
        for name in stale {
            assert_eq!(field(&headers, name), None, "{name}");
        }
        for (name, value) in kept {
            assert_eq!(field(&headers, name).as_deref(), Some(value));
        }
        if at == Direction::Request {
            let trailers = worker.host.upstream_trailers(sent.id).unwrap();
            assert_eq!(field(&trailers, "content-digest"), None);
            assert_eq!(field(&trailers, "x-checked").as_deref(), Some("1"));
        }
    }
}

#[test]
fn headers_of_messages_that_pass_are_not_touched() {
    let mut worker = worker(&both(&json!({"stylesheet": a_to_b(), "on_error": {"malformed": "pass"}})));
    for at in BOTH {
        let headers = [XML, &[("content-length", "3"), ("etag", "\"1\""), ("content-md5", "x")]].concat();
        let (fared, sent) = send_pieces(&mut worker, at, &headers, &[b"<a>"], End::Body);
        assert_eq!(fared, passed("<a>"));
        for (name, value) in headers {
            assert_eq!(field(&headers_of(&worker, &sent), name).as_deref(), Some(value));
        }
    }
}

#[test]
fn the_content_type_is_what_is_configured_or_what_the_stylesheet_says_or_stays() {
    let text = inline("<xsl:output method='text'/><xsl:template match='/'>text</xsl:template>");
    let declared = inline(
        "<xsl:output media-type='application/vnd.x+xml' omit-xml-declaration='yes'/>\
         <xsl:template match='/'><x/></xsl:template>",
    );
    let html = "text/html; charset=UTF-8";
    for (transformation, before, after) in [
        (json!({"stylesheet": a_to_b()}), "text/xml", "text/xml"),
        (
            json!({"stylesheet": a_to_b()}),
            "application/soap+xml;charset=us-ascii;action=\"urn:a\"",
            "application/soap+xml; charset=utf-8;action=\"urn:a\"",
        ),
        (json!({"stylesheet": text.clone()}), "text/xml", "text/plain; charset=utf-8"),
        (json!({"stylesheet": declared}), "text/xml", "application/vnd.x+xml; charset=utf-8"),
        (json!({"stylesheet": text, "content_type": html}), "text/xml", html),
    ] {
        let mut worker = worker(&both(&transformation));
        for at in BOTH {
            let (fared, sent) =
                send_pieces(&mut worker, at, &[("content-type", before)], &[b"<a/>"], End::Body);
            assert!(matches!(fared, Fared::Passed(_)), "{fared:?}");
            assert_eq!(field(&headers_of(&worker, &sent), "content-type").as_deref(), Some(after));
        }
    }
}

#[test]
fn other_encodings_are_read_and_results_are_in_utf_8() {
    let mut worker = simple();
    let utf_16: Vec<u8> = "\u{feff}<a>\u{e9}</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for at in BOTH {
        for (content_type, body, after) in [
            ("text/xml; charset=iso-8859-1", &b"<a>\xe9</a>"[..], "text/xml; charset=utf-8"),
            ("text/xml", b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>", "text/xml"),
            ("text/xml; charset=utf-16", &utf_16, "text/xml; charset=utf-8"),
        ] {
            let headers = [("content-type", content_type)];
            let (fared, sent) = send_pieces(&mut worker, at, &headers, &[body], End::Body);
            assert_eq!(fared, passed("<b>\u{e9}</b>"), "{content_type}");
            assert_eq!(field(&headers_of(&worker, &sent), "content-type").as_deref(), Some(after));
        }
    }
}

/// What clients and upstreams say of a message is no reason to let it pass untransformed.
#[test]
fn messages_that_call_themselves_something_else_are_refused() {
    let mut worker = simple();
    for headers in [
        &[("content-type", "application/grpc")][..],
        &[("content-type", "application/grpc"), ("te", "trailers")],
        &[("content-type", "Application/GRPC+proto; charset=utf-8"), ("te", "trailers")],
        &[("content-type", "application/grpc-web")],
        &[("content-type", "application/grpc-web-text+proto")],
        &[("content-type", "application/grpc"), ("content-type", "text/xml")],
        &[("content-type", "text/xml"), ("content-type", "application/grpc")],
        &[("content-type", "application/grpc, text/xml")],
        &[("content-type", "multipart/related; type=\"text/xml\"")],
        &[("content-type", "")],
        &[("content-type", " ")],
        &[],
        &[
            ("upgrade", "h2c"),
            ("connection", "upgrade"),
            ("content-length", "4"),
            ("content-type", "text/xml"),
        ],
        &[("upgrade", "x"), ("connection", "upgrade"), ("transfer-encoding", "chunked")],
        &[("content-type", "text/xml"), ("content-encoding", "gzip")],
        &[("content-type", "text/xml"), ("content-encoding", "identity"), ("content-encoding", "br")],
    ] {
        for end in [End::Body, End::Trailers] {
            let (fared, _) = send_pieces(&mut worker, Direction::Request, headers, &[b"<a/>"], end);
            assert_eq!(fared, Fared::Refused(415), "{headers:?}");
            if !headers.iter().any(|(name, _)| *name == "upgrade") {
                let (fared, _) = send_pieces(&mut worker, Direction::Response, headers, &[b"<a/>"], end);
                assert_eq!(fared, Fared::Refused(502), "{headers:?}");
            }
        }
    }
}

/// gRPC passes where the configuration says so.
#[test]
fn grpc_is_excepted_by_the_condition() {
    let is_grpc = json!({"all": [{"media-type": {"matches": "application/grpc(\\+proto)?"}},
        {"header": {"name": "te", "value": {"exact": "trailers"}}}]});
    let mut worker = worker(&json!({"request": {"stylesheet": a_to_b(), "when": {"not": is_grpc}}}));
    let grpc = [("content-type", "application/grpc")];
    let with_te = [grpc[0], ("te", "trailers")];
    let at = Direction::Request;
    assert_eq!(send_pieces(&mut worker, at, &with_te, &[b"<a/>"], End::Body).0, passed("<a/>"));
    assert_eq!(send_pieces(&mut worker, at, &grpc, &[b"<a/>"], End::Body).0, Fared::Refused(415));
}

/// Over HTTP/2 an upstream can send a body with what must not have one.
#[test]
fn responses_that_must_not_have_a_body_are_refused_with_one() {
    let mut worker = simple();
    for (method, status) in [("HEAD", "200"), ("GET", "204"), ("GET", "304")] {
        for body in [&b""[..], b"<a/>"] {
            let id = worker.request([(":method", method), (":path", "/")]);
            let headers = [&[(":status", status)][..], XML].concat();
            worker.response_headers(id, headers, false);
            let sent = Sent { at: Direction::Response, id };
            assert_eq!(fared(&worker, &sent), Fared::Held, "{method} {status}");
            worker.body(id, Direction::Response, body, true);
            let expected = if body.is_empty() { passed("") } else { Fared::Refused(502) };
            assert_eq!(fared(&worker, &sent), expected, "{method} {status}");
        }
    }
}

#[test]
fn messages_without_a_body_to_transform_pass_as_they_are() {
    let mut worker = simple();
    for headers in [
        &[("upgrade", "websocket"), ("connection", "upgrade"), ("content-type", "text/xml")][..],
        &[(":method", "CONNECT"), ("content-type", "text/xml")],
    ] {
        let sent = begin(&mut worker, Direction::Request, headers);
        assert_eq!(fared(&worker, &sent), passed(""), "{headers:?}");
        assert_eq!(worker.body(sent.id, Direction::Request, b"<a/>", false), Next::Continue);
        assert_eq!(fared(&worker, &sent), passed("<a/>"));
    }
    for (method, response) in [
        ("HEAD", &[(":status", "200")][..]),
        ("GET", &[(":status", "204")]),
        ("GET", &[(":status", "304")]),
        ("GET", &[(":status", "101")]),
        ("CONNECT", &[(":status", "200")]),
    ] {
        let id = worker.request([(":method", method), (":path", "/")]);
        let headers: Vec<_> = [&[("content-length", "7"), ("etag", "\"1\"")], response].concat();
        let headers = if headers.iter().any(|(name, _)| *name == "content-type") {
            headers
        } else {
            [&headers[..], XML].concat()
        };
        // Some that must not have a body do not say so by their end.
        let ends = [("HEAD", "200"), ("GET", "204"), ("GET", "304")].contains(&(method, response[0].1));
        assert_eq!(
            worker.response_headers(id, headers.clone(), ends),
            Next::Continue,
            "{method} {response:?}"
        );
        for (name, value) in headers {
            assert_eq!(field(&worker.host.downstream_headers(id), name).as_deref(), Some(value));
        }
    }
    // A request that ends with its headers, and a body that turns out to be empty.
    let id = worker.request([(":method", "POST"), (":path", "/"), ("content-type", "text/xml")]);
    assert!(worker.host.has_gone_on(id, Direction::Request));
    for at in BOTH {
        for end in [End::Body, End::Trailers] {
            assert_eq!(send_pieces(&mut worker, at, XML, &[b""], end).0, passed(""));
            assert_eq!(send_pieces(&mut worker, at, XML, &[b"", b""], end).0, passed(""));
        }
    }
    assert_eq!(count(&worker, "request.transformed") + count(&worker, "response.transformed"), 0);
    assert_eq!(count(&worker, "request.exempt"), 2 + 5 + 1 + 4 + 4, "plain requests are counted too");
}

#[test]
fn upstreams_are_asked_for_the_whole_and_nothing_compressed_where_the_response_is_to_be_transformed() {
    let asked = |config: &serde_json::Value, path: &str, accept: &str| {
        let mut worker = worker(config);
        let headers = [
            (":method", "GET"),
            (":path", path),
            ("range", "bytes=0-9"),
            ("if-range", "\"1\""),
            ("accept-encoding", accept),
        ];
        let id = worker.request(headers);
        let headers = worker.host.upstream_headers(id);
        (
            headers.contains("range") || headers.contains("if-range"),
            field(&headers, "accept-encoding").unwrap(),
        )
    };
    let plain = json!({"stylesheet": a_to_b()});
    let response = json!({"response": plain});
    assert_eq!(asked(&response, "/", "gzip, br"), (false, "identity".to_owned()));
    assert_eq!(asked(&response, "/", "identity"), (false, "identity".to_owned()));
    assert_eq!(asked(&json!({"request": plain}), "/", "gzip"), (true, "gzip".to_owned()));
    let mut reader_of_others = worker(&response);
    let others = [
        ("accept-encoding", "identity"),
        ("accept_encoding", "gzip"),
        ("if_none_match", "*"),
        ("if.range", "1"),
    ];
    let id = reader_of_others.request([&[(":method", "GET"), (":path", "/")][..], &others].concat());
    let headers = reader_of_others.host.upstream_headers(id);
    assert_eq!(field(&headers, "accept-encoding").as_deref(), Some("identity"));
    assert_eq!(headers.len(), 3, "no other spelling stays: {headers:?}");
    let some = json!({"response": with(plain, json!({"when": {"all": [
        {"status": ["200"]}, {"path": {"prefix": "/orders"}},
    ]}}))});
    assert_eq!(asked(&some, "/orders/7", "gzip"), (false, "identity".to_owned()));
    assert_eq!(asked(&some, "/", "gzip"), (true, "gzip".to_owned()));
    // Headers and queries may be others when the response comes.
    for may_change in [
        json!({"request-header": {"name": "x-portcullis-route", "value": {"exact": "legacy"}}}),
        json!({"not": {"request-header": {"name": "range"}}}),
        json!({"query": {"name": "format"}}),
    ] {
        let some = json!({"response": {"stylesheet": a_to_b(), "when": may_change}});
        assert_eq!(asked(&some, "/", "gzip"), (false, "identity".to_owned()), "{may_change}");
    }
}

/// Stylesheets change; the upstream, which knows nothing of them, would go on saying that what a client has is still true.
#[test]
fn a_date_of_the_upstream_s_goes_and_upstreams_are_not_asked_whether_it_is_the_same() {
    let mut worker = simple();
    let headers = [XML, &[("last-modified", "Sun, 01 Nov 2026 00:00:00 GMT")]].concat();
    let (fared, sent) = send_pieces(&mut worker, Direction::Response, &headers, &[b"<a/>"], End::Body);
    assert_eq!(fared, passed("<b/>"));
    assert_eq!(field(&headers_of(&worker, &sent), "last-modified"), None);

    let conditional = ["if-none-match", "if-modified-since"];
    for (method, is_kept) in [("GET", false), ("HEAD", false), ("PUT", true), ("POST", true)] {
        let mut headers = vec![(":method", method), (":path", "/"), ("if-match", "\"1\"")];
        headers.extend(conditional.map(|name| (name, "x")));
        let id = worker.request(headers);
        let headers = worker.host.upstream_headers(id);
        for name in conditional {
            assert_eq!(headers.contains(name), is_kept, "{method} {name}");
        }
        assert!(headers.contains("if-match"), "it is about what is changed");
    }
}

#[test]
fn caches_are_told_which_fields_of_the_request_a_response_depends_on() {
    let condition = json!({"any": [
        {"request-header": {"name": "Accept", "value": {"exact": "application/json"}}},
        {"all": [{"not": {"request-header": {"name": "x-kind"}}}, {"status": ["200"]}]},
    ]});
    let by_condition = json!({"stylesheet": a_to_b(), "when": condition});
    let sheet = inline("<xsl:param name='p'/><xsl:template match='/'><b/></xsl:template>");
    let by = |value: serde_json::Value| json!({"stylesheet": sheet, "parameters": {"p": value}});
    let by_path = json!({"all": [{"path": {"exact": "/other"}}, {"request-header": {"name": "accept"}}]});
    for (transformation, request, response, expected) in [
        // It is so whether the condition turns out to be true or not.
        (by_condition.clone(), &[("accept", "application/json")][..], &[][..], &["accept, x-kind"][..]),
        (by_condition.clone(), &[("x-kind", "1")], &[], &["accept, x-kind"]),
        (by_condition.clone(), &[], &[("vary", "Origin, Accept")], &["Origin, Accept", "x-kind"]),
        (by_condition, &[], &[("vary", "*")], &["*"]),
        (by(json!({"request-header": "X-Trace"})), &[], &[], &["x-trace"]),
        // No cache would know.
        (by(json!({"request-header": "X-Trace"})), &[("x_trace", "1")], &[], &["*"]),
        (by(json!("client-id")), &[], &[], &["*"]),
        (by(json!({"query": "q"})), &[], &[], &[]),
        (by(json!({"header": "x"})), &[], &[], &[]),
        (json!({"stylesheet": a_to_b(), "when": by_path}), &[], &[], &[]),
        (json!({"stylesheet": a_to_b()}), &[], &[], &[]),
    ] {
        let mut worker = worker(&json!({"response": transformation}));
        let answer = |worker: &mut portcullis_testkit::inprocess::Worker, details: &str| {
            let id = worker.open();
            let request = [&[(":method", "GET"), (":path", "/")], request].concat();
            worker.request_headers(id, request, true);
            worker.host.give_property(id, &["response", "code_details"], details.as_bytes());
            let headers = [&[(":status", "200")], response, XML].concat();
            worker.response_headers(id, headers, false);
            worker.body(id, Direction::Response, b"<a/>", true);
            let all = worker.host.downstream_headers(id);
            let vary = all.all("vary").map(|value| String::from_utf8(value.to_vec()).unwrap());
            vary.collect::<Vec<_>>()
        };
        assert_eq!(answer(&mut worker, "via_upstream"), expected, "{transformation} {request:?}");
        let own = answer(&mut worker, "direct_response");
        assert_eq!(own.len(), usize::from(response.iter().any(|(name, _)| *name == "vary")), "{own:?}");
    }
}

/// A response of 205 has no content; what is there all the same must not slip through.
#[test]
fn what_follows_a_response_that_has_no_content_is_a_body() {
    let refused = Fared::Refused(502);
    for (content_type, body, expected) in [
        (Some("text/xml"), &b"<a/>"[..], passed("<b/>")),
        (Some("text/xml"), b"", passed("")),
        (None, b"", passed("")),
        (None, b"<a/>", refused.clone()),
        (Some("text/plain"), b"<a/>", refused),
    ] {
        let mut worker = simple();
        let mut headers = vec![(":status", "205")];
        headers.extend(content_type.map(|it| ("content-type", it)));
        for end in [End::Body, End::Trailers] {
            let (fared, _) = send_pieces(&mut worker, Direction::Response, &headers, &[body], end);
            assert_eq!(fared, expected, "{content_type:?} {end:?}");
        }
    }
}

/// Over HTTP/2 the field means nothing, and a body needs no announcement.
#[test]
fn an_upgrade_that_connection_does_not_name_is_none() {
    let mut worker = simple();
    let headers = [XML, &[("upgrade", "websocket")]].concat();
    assert_eq!(send(&mut worker, Direction::Request, &headers, "<a/>"), passed("<b/>"));
}
