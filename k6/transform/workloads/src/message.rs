//! The messages of WSO2's benchmarks of routing and transformation.

use std::fmt::Write as _;

/// A size in which the message was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The size by its published name, in bytes.
    pub name: usize,
    /// How many orders it holds.
    pub orders: usize,
    /// How many bytes it has, without white space between elements.
    pub bytes: usize,
}

/// The sizes, the smallest first.
pub const MESSAGES: [Message; 4] = [
    Message { name: 500, orders: 2, bytes: 502 },
    Message { name: 1024, orders: 7, bytes: 1005 },
    Message { name: 10_240, orders: 96, bytes: 10_019 },
    Message { name: 102_400, orders: 989, bytes: 100_908 },
];

/// How the elements of the Body are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// As clients send them.
    Forwards,
    /// Spelled backwards, as the transformation of the request leaves them.
    Backwards,
}

/// The names of the element in the Body, of those in it, and of those in these.
type Vocabulary = (&'static str, &'static str, [&'static str; 4]);

impl Names {
    fn vocabulary(self) -> Vocabulary {
        match self {
            Self::Forwards => ("buyStocks", "order", ["symbol", "buyerID", "price", "volume"]),
            Self::Backwards => ("skcotSyub", "redro", ["lobmys", "DIreyub", "ecirp", "emulov"]),
        }
    }
}

/// The message of a size, without white space between elements: a SOAP 1.1 envelope with a header block and a list of
/// orders, the same bytes as those of the load scripts (`k6/lib/orders.js`).
#[must_use]
pub fn message(size: Message, names: Names) -> String {
    // The names of the buyers make up the difference to the published size.
    let empty = envelope(names, "").len();
    let room = size.bytes.saturating_sub(empty);
    let without_buyer = order(names, 0, "").len();
    let mut orders = String::with_capacity(room);
    for n in 0..size.orders {
        let letters = (room * (n + 1) / size.orders - room * n / size.orders).saturating_sub(without_buyer);
        let from = n % 16;
        let buyer = &BUYERS[from..(from + letters).min(BUYERS.len())];
        orders.push_str(&order(names, n, buyer));
    }
    envelope(names, &orders)
}

const BUYERS: &str = "abcdefghijklmnopqrstuvwxyz";
const SYMBOLS: [&str; 3] = ["IBM", "SUN", "BEA"];

fn order(names: Names, n: usize, buyer: &str) -> String {
    let (_, order, children) = names.vocabulary();
    let values = [
        SYMBOLS[n % SYMBOLS.len()].to_owned(),
        buyer.to_owned(),
        format!("{}.25", 100 + n * 37 % 900),
        (1000 + n * 13 % 9000).to_string(),
    ];
    let mut text = format!("<{order}>");
    for (name, value) in children.iter().zip(values) {
        let _ = write!(text, "<{name}>{value}</{name}>");
    }
    text + &format!("</{order}>")
}

fn envelope(names: Names, orders: &str) -> String {
    let (list, ..) = names.vocabulary();
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Header>\
         <routing xmlns=\"http://someuri\">xadmin;server1;community#1.0##</routing></soapenv:Header><soapenv:Body>\
         <m:{list} xmlns:m=\"http://services.samples/xsd\">{orders}</m:{list}></soapenv:Body></soapenv:Envelope>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_published_sizes_and_orders() {
        for size in MESSAGES {
            let text = message(size, Names::Forwards);
            assert_eq!(text.len(), size.bytes);
            assert_eq!(text.matches("<order>").count(), size.orders);
            let there = message(size, Names::Backwards);
            assert_eq!(there.len(), text.len());
            assert_eq!(there.matches("<redro>").count(), size.orders);
        }
    }
}
