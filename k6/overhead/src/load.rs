//! What is sent, and what must come back.

use portcullis_transform_workloads::{Message, Sheet, message as published};

use crate::burst::{CONNECTIONS, Expected};
use crate::variants::Returns;

/// The header block, and the header, by which messages are routed.
const ROUTING: &str = "xadmin;server1;community#1.0##";

/// One kind of request, of which a burst consists.
#[derive(Debug, Clone)]
pub struct Load {
    /// What it is, for people.
    pub title: String,
    /// The request as it goes over the wire.
    pub bytes: Vec<u8>,
    reply: Reply,
}

/// What the upstream sends.
#[derive(Debug, Clone)]
enum Reply {
    /// Bytes of no meaning.
    Filler(usize),
    /// A document, which may be transformed on its way.
    Document { sent: String, transformed: String },
}

/// The least that a burst has, so that its CPU time is many times the error of reading it.
const MIN_REQUESTS: usize = 40;

/// Bytes of filler that the upstream sends.
pub const FILLER_BYTES: usize = 1024;

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Without white space between elements.
    Compact,
    /// With a line for each element.
    Indented,
}

impl Load {
    /// A GET with good credentials.
    pub fn get() -> Self {
        let bytes = b"GET /a HTTP/1.1\r\nhost: gateway.test\r\nuser-agent: overhead\r\naccept: */*\r\n\
            client_id: acme\r\nclient_secret: acme-secret-1\r\n\r\n";
        Self { title: "GET".to_owned(), bytes: bytes.to_vec(), reply: Reply::Filler(FILLER_BYTES) }
    }

    /// A POST of a SOAP message with as many orders as come nearest to so many bytes, with good credentials, and with
    /// what it is routed by both in the envelope's Header and in an HTTP header.
    pub fn post(size: usize, layout: Layout) -> Self {
        let (empty, one) = (message(0, layout).len(), message(1, layout).len());
        let each = one - empty;
        let body = message((size.saturating_sub(empty) + each / 2) / each, layout);
        let head = format!(
            "POST /a HTTP/1.1\r\nhost: gateway.test\r\nuser-agent: overhead\r\naccept: */*\r\n\
             client_id: acme\r\nclient_secret: acme-secret-1\r\ncontent-type: text/xml\r\n\
             soapaction: urn:buyStocks\r\nrouting: {ROUTING}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let words = match layout {
            Layout::Compact => "",
            Layout::Indented => ", indented",
        };
        Self {
            title: format!("POST of {} bytes{words}", body.len()),
            bytes: [head, body].concat().into_bytes(),
            reply: Reply::Filler(FILLER_BYTES),
        }
    }

    /// A GET of the upstream's document of this number, a message in this size that is for the stylesheet.
    pub fn reply(number: usize, size: Message, sheet: &Sheet) -> Result<Self, Box<dyn std::error::Error>> {
        let sent = published(size, sheet.names);
        let transformed = sheet.apply(sent.as_bytes())?.trim_ascii_end().to_owned();
        let bytes = format!(
            "GET /{number} HTTP/1.1\r\nhost: gateway.test\r\nuser-agent: overhead\r\naccept: */*\r\n\r\n"
        );
        Ok(Self {
            title: format!("reply of {} bytes, {}", sent.len(), sheet.title),
            bytes: bytes.into_bytes(),
            reply: Reply::Document { sent, transformed },
        })
    }

    /// The document that the upstream sends, if it is one.
    pub fn document(&self) -> Option<&str> {
        match &self.reply {
            Reply::Document { sent, .. } => Some(sent),
            Reply::Filler(_) => None,
        }
    }

    /// What must come back by way of a proxy.
    pub fn expected(&self, returns: Returns) -> Expected<'_> {
        match (&self.reply, returns) {
            (Reply::Filler(length), _) => Expected::Length(*length),
            (Reply::Document { sent, .. }, Returns::AsSent) => Expected::Document(sent.as_bytes()),
            (Reply::Document { transformed, .. }, Returns::Transformed) => {
                Expected::Document(transformed.as_bytes())
            }
        }
    }

    /// How many requests a burst has that would have so many of a kilobyte: large replies take longer.
    pub fn scaled(&self, requests: usize) -> usize {
        let kilobytes = self.document().map_or(0, str::len) / 1024;
        (requests * 2 / (kilobytes + 1).max(2)).next_multiple_of(CONNECTIONS).max(MIN_REQUESTS)
    }
}

/// A SOAP 1.1 message that buys stocks, the one that WSO2's benchmarks of routing and transformation send.
fn message(orders: usize, layout: Layout) -> String {
    let mut lines = vec![
        (0, "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\">".to_owned()),
        (1, "<soapenv:Header>".to_owned()),
        (2, format!("<routing xmlns=\"http://someuri\">{ROUTING}</routing>")),
        (1, "</soapenv:Header>".to_owned()),
        (1, "<soapenv:Body>".to_owned()),
        (2, "<m:buyStocks xmlns:m=\"http://services.samples/xsd\">".to_owned()),
    ];
    for _ in 0..orders {
        lines.push((3, "<order>".to_owned()));
        for (name, value) in
            [("symbol", "IBM"), ("buyerID", "asankha"), ("price", "140.34"), ("volume", "2000")]
        {
            lines.push((4, format!("<{name}>{value}</{name}>")));
        }
        lines.push((3, "</order>".to_owned()));
    }
    lines.extend([
        (2, "</m:buyStocks>".to_owned()),
        (1, "</soapenv:Body>".to_owned()),
        (0, "</soapenv:Envelope>".to_owned()),
    ]);
    let line = |(depth, text): (usize, String)| match layout {
        Layout::Compact => text,
        Layout::Indented => format!("{}{text}\n", "    ".repeat(depth)),
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_near_to_the_size_that_is_asked_for() {
        for (size, layout) in [500, 1024, 10_240, 102_400]
            .into_iter()
            .flat_map(|size| [(size, Layout::Compact), (size, Layout::Indented)])
        {
            let load = Load::post(size, layout);
            let text = String::from_utf8(load.bytes).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}", body.len())));
            assert!(body.len().abs_diff(size) < 200, "{} for {size}", body.len());
            assert_eq!(body.contains('\n'), layout == Layout::Indented);
        }
    }
}
