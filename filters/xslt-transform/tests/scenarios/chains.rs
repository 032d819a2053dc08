//! The policy beside others in one chain.

use portcullis_access_log::AccessLog;
use portcullis_content_router::ContentRouter;
use portcullis_policy::host::Level;
use portcullis_policy::{Chain, Direction, HeldMemory};
use portcullis_testkit::inprocess::Worker;
use portcullis_xslt_transform::XsltTransform;
use serde_json::{Value, json};

use crate::support::*;

fn transform(chain: Chain, config: &Value) -> Chain {
    chain.then_configured::<XsltTransform>(config.to_string().as_bytes()).unwrap()
}

fn renaming(from: &str, to: &str) -> Value {
    inline(&format!(
        "<xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='{from}'><{to}><xsl:copy-of select='*'/></{to}></xsl:template>"
    ))
}

#[test]
fn requests_go_through_transformations_in_order_and_responses_in_reverse() {
    let first = json!({"request": {"stylesheet": renaming("a", "long-name-b")}, "response": {"stylesheet": renaming("y", "z")}});
    let second = json!({"request": {"stylesheet": renaming("long-name-b", "c")}, "response": {"stylesheet": renaming("x", "y")}});
    let mut worker = Worker::start(transform(transform(Chain::new(), &first), &second)).unwrap();
    for end in [End::Body, End::Trailers] {
        for pieces in [&[&b"<a><k/></a>"[..]][..], &[b"<a", b"><k", b"/></a>"]] {
            let (fared, sent) = send_pieces(&mut worker, Direction::Request, XML, pieces, end);
            assert_eq!(fared, passed("<c><k/></c>"));
            worker.response_headers(sent.id, [(":status", "200"), ("content-type", "text/xml")], false);
            worker.body(sent.id, Direction::Response, b"<x/>", true);
            assert_eq!(worker.host.passed_body(sent.id, Direction::Response), b"<z/>");
        }
    }
}

/// By the operation, with routes for what it was and for what it becomes.
fn router(chain: Chain) -> Chain {
    let rule = |name: &str| json!({"when": {"xpath": {"expression": format!("/{name}/k")}}, "then": {"route": name}});
    let config = json!({"rules": [rule("a"), rule("b")]});
    chain.then_configured::<ContentRouter>(config.to_string().as_bytes()).unwrap()
}

#[test]
fn a_router_sees_the_body_as_it_is_at_its_place() {
    let config = json!({"request": {"stylesheet": renaming("a", "b")}});
    for (chain, route) in
        [(transform(router(Chain::new()), &config), "a"), (router(transform(Chain::new(), &config)), "b")]
    {
        let mut worker = Worker::start(chain).unwrap();
        for pieces in [&[&b"<a><k/></a>"[..]][..], &[b"<a", b"><k/>", b"</a>"]] {
            let (fared, sent) = send_pieces(&mut worker, Direction::Request, XML, pieces, End::Body);
            assert_eq!(fared, passed("<b><k/></b>"));
            let headers = headers_of(&worker, &sent);
            assert_eq!(field(&headers, "x-portcullis-route").as_deref(), Some(route));
        }
    }
}

#[test]
fn a_condition_can_ask_for_the_route_that_a_router_before_it_has_named() {
    let by_route = json!({"header": {"name": "x-portcullis-route", "value": {"exact": "a"}}});
    let config = json!({"request": {"stylesheet": inline("<xsl:template match='/'><done/></xsl:template>"), "when": by_route}});
    let mut worker = Worker::start(transform(router(Chain::new()), &config)).unwrap();
    assert_eq!(send(&mut worker, Direction::Request, XML, "<b><k/></b>"), passed("<b><k/></b>"));
    let Fared::Passed(result) = send(&mut worker, Direction::Request, XML, "<a><k/></a>") else { panic!() };
    assert!(result.ends_with("<done/>"));
}

/// Routes by what takes the beginning of a message, or all of it as a stream, or all of it as a tree.
fn router_by(expression: &str, body: Value) -> Value {
    json!({"rules": [{"when": {"xpath": {"expression": expression}}, "then": {"route": "r"}}], "body": body})
}

#[test]
fn a_body_that_a_router_has_read_is_not_read_again() {
    let message = format!("<a><first/>{}<last/></a>", "<k>text</k>".repeat(3000));
    let expected = message.replace("<a>", "<b>").replace("</a>", "</b>");
    let transformation = json!({"request": {"stylesheet": a_to_b()}});
    let stripping = inline(
        "<xsl:output omit-xml-declaration='yes'/><xsl:strip-space elements='*'/>\
         <xsl:template match='/a'><b><xsl:copy-of select='*'/></b></xsl:template>",
    );
    for (expression, xpath) in
        [("/a/first", "streamed"), ("/a/last", "streamed"), ("count(//k) = 3000", "buffered")]
    {
        for (transformation, max_depth, is_read_once) in [
            (&transformation, 256, true),
            // What they make of it differs.
            (&transformation, 100, false),
            (&json!({"request": {"stylesheet": stripping}}), 256, false),
        ] {
            let router = router_by(expression, json!({"xpath": xpath, "max_depth": max_depth}));
            let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
            let mut worker = Worker::start(transform(chain, transformation)).unwrap();
            for (pieces, end) in [(1, End::Body), (7, End::Body), (7, End::Trailers)] {
                let size = message.len().div_ceil(pieces);
                let pieces: Vec<_> = message.as_bytes().chunks(size).collect();
                let (fared, sent) = send_pieces(&mut worker, Direction::Request, XML, &pieces, end);
                assert_eq!(fared, passed(&expected), "{expression}");
                assert_eq!(field(&headers_of(&worker, &sent), "x-portcullis-route").as_deref(), Some("r"));
                let read = worker.host.take_body_bytes_read();
                assert_eq!(read == message.len(), is_read_once, "{expression} {max_depth} {read}");
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_shared_body_is_found_as_in_one_s_own() {
    let transformation = json!({"request": {"stylesheet": a_to_b()}, "limits": {"max_bytes": 2048}});
    let router = with(
        router_by("/a/first", json!({"max_bytes": 2048})),
        json!({"default": "pass", "undecided": {"malformed": "pass", "too_large": "pass"}}),
    );
    let shared = || {
        let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
        Worker::start(transform(chain, &transformation)).unwrap()
    };
    for body in [
        "<a><first/></b>".to_owned(),
        "<a></b><first/></a>".to_owned(),
        "<a><first/>".to_owned(),
        format!("<a><first/>{}</a>", "x".repeat(3000)),
        format!("<a>{}<first/></a>", "x".repeat(3000)),
        "<a/>".to_owned(),
        "<a><first/></a>".to_owned(),
    ] {
        for size in [1, 5, 4000] {
            let pieces: Vec<_> = body.as_bytes().chunks(size).collect();
            let alone =
                send_pieces(&mut worker(&transformation), Direction::Request, XML, &pieces, End::Body).0;
            let behind = send_pieces(&mut shared(), Direction::Request, XML, &pieces, End::Body).0;
            assert_eq!(alone, behind, "{size} {}", body.chars().take(20).collect::<String>());
        }
    }
}

/// Another policy's new body is not what a router before that has read.
#[test]
fn a_shared_body_is_forgotten_when_it_is_replaced() {
    let first = json!({"request": {"stylesheet": renaming("a", "b")}});
    let second = json!({"request": {"stylesheet": renaming("b", "c")}});
    let router = router_by("count(/a/k) = 1", json!({"xpath": "buffered"}));
    let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(transform(transform(chain, &first), &second)).unwrap();
    assert_eq!(send(&mut worker, Direction::Request, XML, "<a><k/></a>"), passed("<c><k/></c>"));
}

#[test]
fn the_log_tells_the_length_of_what_the_client_has_sent() {
    let config = json!({"request": {"stylesheet": renaming("a", "much-longer")}});
    let chain = transform(Chain::new(), &config).then_configured::<AccessLog>(b"{}").unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let headers = [XML, &[("content-length", "4")]].concat();
    let (fared, sent) = send_pieces(&mut worker, Direction::Request, &headers, &[b"<a/>"], End::Body);
    assert_eq!(fared, passed("<much-longer/>"));
    assert_eq!(field(&headers_of(&worker, &sent), "content-length").as_deref(), Some("14"));
    worker.finish(sent.id);
    let lines = worker.log_lines(Level::Info);
    assert!(lines.iter().any(|line| line.contains("\"bytes_in\":4,")), "{lines:?}");
}

/// The limits that both must have alike are those that have the same names.
#[test]
fn a_body_is_read_once_whatever_the_other_limits_are() {
    let message = format!("<a><first/>{}</a>", "<k>text</k>".repeat(1000));
    for (max_bytes, max_nodes) in [(1 << 20, 5000), (2 << 20, 5000), (5 << 20, 1 << 20)] {
        for (expression, xpath) in [("/a/first", "streamed"), ("count(//k) = 1000", "buffered")] {
            let router = router_by(expression, json!({"xpath": xpath, "max_bytes": max_bytes}));
            let transformation = json!({"request": {"stylesheet": a_to_b()},
                "limits": {"max_bytes": max_bytes, "max_nodes": max_nodes}});
            let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
            let mut worker = Worker::start(transform(chain, &transformation)).unwrap();
            let sent = send(&mut worker, Direction::Request, XML, &message);
            assert_eq!(sent, passed(&message.replace("<a>", "<b>").replace("</a>", "</b>")));
            assert_eq!(
                worker.host.take_body_bytes_read(),
                message.len(),
                "{max_bytes} {max_nodes} {expression}"
            );
        }
    }
}

/// Each looks after its own number of nodes.
#[test]
fn a_shared_tree_of_more_nodes_than_one_allows_is_malformed_for_that_one() {
    let message = format!("<a><first/>{}</a>", "<k>text</k>".repeat(1000));
    for (expression, xpath) in [("/a/first", "streamed"), ("count(//k) = 1000", "buffered")] {
        for pieces in [1, 20] {
            let router = router_by(expression, json!({"xpath": xpath}));
            let transformation = json!({"request": {"stylesheet": a_to_b()}, "limits": {"max_nodes": 1000}});
            let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
            let mut worker = Worker::start(transform(chain, &transformation)).unwrap();
            let pieces: Vec<_> = message.as_bytes().chunks(message.len().div_ceil(pieces)).collect();
            let (fared, sent) = send_pieces(&mut worker, Direction::Request, XML, &pieces, End::Body);
            assert_eq!(fared, Fared::Refused(400), "{expression}");
            assert_eq!(worker.reply(sent.id).code_details, "xslt_transform_malformed");
        }
    }
}

/// A transformation that does not want a message leaves what has been read of it to the next one, and the last one leaves
/// it to nobody.
#[test]
fn what_a_router_has_read_is_for_the_first_that_transforms() {
    let message = format!("<a><first/>{}</a>", "<k>text</k>".repeat(1000));
    let when = |path: &str| json!({"request": {"stylesheet": a_to_b(), "when": {"path": {"exact": path}}}});
    for (second, is_transformed) in [("/", true), ("/other", false)] {
        let router = router_by("/a/first", json!({}));
        let chain = Chain::new().then_configured::<ContentRouter>(router.to_string().as_bytes()).unwrap();
        let chain = transform(transform(chain, &when("/other")), &when(second));
        let mut worker = Worker::start(chain).unwrap();
        let (fared, sent) =
            send_pieces(&mut worker, Direction::Request, XML, &[message.as_bytes()], End::Body);
        assert!(matches!(&fared, Fared::Passed(body) if body.starts_with("<b>") == is_transformed));
        let read = worker.host.take_body_bytes_read();
        // If nobody wants it, no more is read than it takes to route.
        assert!(if is_transformed { read == message.len() } else { read < message.len() }, "{read}");
        assert_eq!(HeldMemory::of_messages(), 0, "the response may take its time");
        worker.finish(sent.id);
    }
}
