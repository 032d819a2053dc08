//! How fast the tokenizer is, on SOAP messages of several sizes and on text: `cargo run --release -p portcullis-xml
//! --example throughput`. The best of many rounds counts, for nothing makes a program faster than it is.
// A program for people to run.
#![allow(clippy::arithmetic_side_effects, clippy::cast_precision_loss)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use portcullis_xml::{Control, Limits, Sink, StartTag, Tokenizer};

/// Looks at every name and value, as a sink that does something would.
#[derive(Default)]
struct Sum(usize);

impl Sink for Sum {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.0 += tag.name().local.len() + tag.name().namespace.len();
        for attribute in tag.attributes().iter() {
            self.0 += attribute.name.local.len() + attribute.value.len();
        }
        Control::Continue
    }

    fn text(&mut self, text: &str) -> Control {
        self.0 += text.len();
        Control::Continue
    }
}

/// A message that buys stocks, with so many orders.
fn soap(orders: usize) -> String {
    let order = "<order><symbol>IBM</symbol><buyerID>asankha</buyerID><price>140.34</price>\
                 <volume>2000</volume></order>";
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Header>\
         <routing xmlns=\"http://someuri\">xadmin;server1;community#1.0##</routing></soapenv:Header><soapenv:Body>\
         <m:buyStocks xmlns:m=\"http://services.samples/xsd\">{}</m:buyStocks></soapenv:Body></soapenv:Envelope>",
        order.repeat(orders)
    )
}

fn read(document: &str) -> usize {
    let limits = Limits { document_bytes: u64::MAX, text_bytes: usize::MAX, ..Limits::default() };
    let mut tokenizer = Tokenizer::new(&limits);
    let mut sum = Sum::default();
    let read = tokenizer.feed(document.as_bytes(), &mut sum).and_then(|_| tokenizer.finish(&mut sum));
    assert_eq!(read, Ok(()));
    sum.0
}

fn main() {
    let attributes =
        format!("<a>{}</a>", "<p:item xmlns:p='urn:x' id='17' p:price='140.34' name=\"IBM\"/>".repeat(2000));
    let prose = format!("<a>{}</a>", "The quick brown fox jumps over the lazy dog.\n".repeat(4000));
    for (what, document) in [
        ("SOAP, 7 orders", soap(7)),
        ("SOAP, 989 orders", soap(989)),
        ("SOAP, 989 orders, indented", soap(989).replace("><", ">\n        <")),
        ("attributes", attributes),
        ("text", prose),
    ] {
        let rounds = 20_000_000 / document.len();
        let best = (0..rounds).fold(Duration::MAX, |best, _| {
            let start = Instant::now();
            black_box(read(black_box(&document)));
            best.min(start.elapsed())
        });
        let speed = document.len() as f64 / best.as_secs_f64() / 1e6;
        println!("{what:28} {:7} bytes {speed:7.0} MB/s", document.len());
    }
}
