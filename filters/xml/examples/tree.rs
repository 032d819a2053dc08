//! How long it takes to make a tree of a SOAP message, and to find a header in it: `cargo run --release -p
//! portcullis-xml --example tree`. The best of many rounds counts, for nothing makes a program faster than it is.
// A program for people to run.
#![allow(clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::cast_precision_loss)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use portcullis_xml::xpath::{Bindings, Budget, Context, Evaluation, NoEnvironment};
use portcullis_xml::{Control, Document, Limits, Namespaces, NodeId, Sink, Tokenizer, XPath};

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

struct Nothing;

impl Sink for Nothing {
    fn text(&mut self, _text: &str) -> Control {
        Control::Continue
    }
}

fn best(mut action: impl FnMut()) -> Duration {
    let rounds = (0..400).map(|_| {
        let start = Instant::now();
        action();
        start.elapsed()
    });
    rounds.min().unwrap()
}

fn main() {
    let limits = Limits { document_bytes: u64::MAX, text_bytes: usize::MAX, ..Limits::default() };
    for orders in [7, 96, 989] {
        let text = soap(orders);
        let tokens = best(|| {
            let mut tokenizer = Tokenizer::new(&limits);
            tokenizer.feed(black_box(text.as_bytes()), &mut Nothing).unwrap();
            tokenizer.finish(&mut Nothing).unwrap();
        });
        let tree = best(|| {
            black_box(Document::parse(black_box(text.as_bytes()), &limits).unwrap());
        });
        let document = Document::parse(text.as_bytes(), &limits).unwrap();
        println!(
            "{} bytes, {} nodes: tokens alone {tokens:?}, tree {tree:?}, {:.0} MB/s",
            text.len(),
            document.len(),
            text.len() as f64 / tree.as_secs_f64() / 1e6
        );

        let namespaces = Namespaces::from_iter([
            ("soapenv", "http://schemas.xmlsoap.org/soap/envelope/"),
            ("t", "http://someuri"),
            ("m", "http://services.samples/xsd"),
        ]);
        for expression in [
            "/soapenv:Envelope/soapenv:Header/t:routing",
            "string(/soapenv:Envelope/soapenv:Header/t:routing)",
            "count(//order)",
            "count(//order[symbol = 'IBM'])",
            "sum(//order/volume)",
            "count(//order[volume * price > 1000])",
        ] {
            let compiled = XPath::compile(expression, &namespaces).unwrap();
            let bindings = Bindings::new(compiled.names(), &document);
            let time = best(|| {
                for _ in 0..20 {
                    let mut budget = Budget::new(u64::MAX);
                    let mut evaluation = Evaluation::new(&document, &bindings, &NoEnvironment, &mut budget);
                    black_box(evaluation.value(compiled.expression(), Context::of(NodeId::ROOT)).unwrap());
                }
            });
            println!("    {expression}: {:?}", time / 20);
        }
    }
}
