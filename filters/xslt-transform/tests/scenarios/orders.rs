//! A published benchmark's pair of stylesheets: the second one undoes what the first one does.

use portcullis_policy::Direction;
use portcullis_xml::{Document, Limits, NodeId, NodeKind};
use serde_json::json;

use crate::support::*;

/// `buyStocks` becomes `skcotSyub` with `redro` elements, whose children's names are spelled backwards.
pub(crate) const REQUEST: &str = include_str!("../stylesheets/orders-request.xsl");
/// And back.
pub(crate) const RESPONSE: &str = include_str!("../stylesheets/orders-response.xsl");

/// A message with so many orders.
pub(crate) fn message(orders: usize) -> String {
    let order = "<order><symbol>IBM</symbol><buyerID>asankha</buyerID><price>140.34</price><volume>2000</volume></order>";
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Header>\
         <routing xmlns=\"http://someuri\">xadmin;server1;community#1.0##</routing></soapenv:Header><soapenv:Body>\
         <m:buyStocks xmlns:m=\"http://services.samples/xsd\">{}</m:buyStocks></soapenv:Body></soapenv:Envelope>",
        order.repeat(orders)
    )
}

/// The expanded names, values and texts of a document, by which two documents are the same.
pub(crate) fn canonical(document: &str) -> Vec<String> {
    let document = Document::parse(document.as_bytes(), &Limits::default()).unwrap();
    let mut parts = Vec::new();
    walk(&document, NodeId::ROOT, &mut parts);
    parts
}

fn walk(document: &Document, node: NodeId, parts: &mut Vec<String>) {
    let name = |node| format!("{{{}}}{}", document.namespace(node), document.local_name(node));
    if document.kind(node) == NodeKind::Text {
        parts.push(document.string_value(node).to_owned());
        return;
    }
    let attributes = document.attributes(node);
    let mut attributes: Vec<_> =
        attributes.map(|at| format!("{}={:?}", name(at), document.string_value(at))).collect();
    attributes.sort();
    parts.push(format!("<{} {}>", name(node), attributes.join(" ")));
    for child in document.children(node) {
        walk(document, child, parts);
    }
    parts.push("</>".to_owned());
}

fn config() -> serde_json::Value {
    json!({
        "stylesheets": {"request.xsl": REQUEST, "response.xsl": RESPONSE},
        "request": {"stylesheet": {"named": "request.xsl"}},
        "response": {"stylesheet": {"named": "response.xsl"}},
    })
}

#[test]
fn the_response_s_stylesheet_restores_what_the_request_s_has_made() {
    let mut worker = worker(&config());
    for orders in [2, 7, 96, 989] {
        let message = message(orders);
        let Fared::Passed(there) = send(&mut worker, Direction::Request, SOAP, &message) else {
            panic!("{orders}");
        };
        assert_eq!(there.matches("<lobmys>IBM</lobmys>").count(), orders);
        assert!(!there.contains("symbol"));
        let Fared::Passed(back) = send(&mut worker, Direction::Response, XML, &there) else {
            panic!("{orders}");
        };
        assert_eq!(canonical(&back), canonical(&message));
    }
}

#[test]
fn the_result_is_the_same_however_the_message_is_cut_and_ended() {
    let mut worker = worker(&config());
    let message = message(7);
    let at = Direction::Request;
    let whole = send(&mut worker, at, SOAP, &message);
    for end in [End::Body, End::Trailers] {
        for size in [1, 7, 100, 1000] {
            let pieces: Vec<_> = message.as_bytes().chunks(size).collect();
            let (fared, sent) = send_pieces(&mut worker, at, SOAP, &pieces, end);
            assert_eq!(fared, whole, "{size} {end:?}");
            worker.finish(sent.id);
        }
        let pieces = [message.as_bytes(), b""];
        assert_eq!(send_pieces(&mut worker, at, SOAP, &pieces, end).0, whole, "{end:?}");
    }
}
