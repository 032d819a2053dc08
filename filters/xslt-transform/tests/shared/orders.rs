//! The messages of a published benchmark, and its pair of stylesheets: the second one undoes what the first one does.

use portcullis_xml::{Document, Limits, NodeId, NodeKind};
use serde_json::{Value, json};

/// `buyStocks` becomes `skcotSyub` with `redro` elements, whose children's names are spelled backwards.
pub(crate) const REQUEST: &str = include_str!("../stylesheets/orders-request.xsl");
/// And back.
pub(crate) const RESPONSE: &str = include_str!("../stylesheets/orders-response.xsl");

/// Numbers of orders that make messages of 500 bytes, 1, 10 and 100 KB.
pub(crate) const ORDERS: [usize; 4] = [2, 7, 96, 989];

/// A message with so many orders.
pub(crate) fn orders(count: usize) -> String {
    let order = "<order><symbol>IBM</symbol><buyerID>asankha</buyerID><price>140.34</price><volume>2000</volume></order>";
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Header>\
         <routing xmlns=\"http://someuri\">xadmin;server1;community#1.0##</routing></soapenv:Header><soapenv:Body>\
         <m:buyStocks xmlns:m=\"http://services.samples/xsd\">{}</m:buyStocks></soapenv:Body></soapenv:Envelope>",
        order.repeat(count)
    )
}

/// Transforms orders on their way, and back.
pub(crate) fn order_transformations() -> Value {
    json!({
        "stylesheets": {"request.xsl": REQUEST, "response.xsl": RESPONSE},
        "request": {"stylesheet": {"named": "request.xsl"}},
        "response": {"stylesheet": {"named": "response.xsl"}},
    })
}

/// The expanded names, attributes and texts of a document, by which two documents are the same.
pub(crate) fn canonical(document: impl AsRef<[u8]>) -> Vec<String> {
    let document = Document::parse(document.as_ref(), &Limits::default()).unwrap();
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
