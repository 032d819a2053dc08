//! Messages to be routed.

/// The namespace of the header block by which messages are routed.
pub(crate) const ROUTING: &str = "http://someuri";

/// A SOAP 1.1 envelope whose header block `routing` says where it goes, with a Body of so many bytes at least.
pub(crate) fn envelope(routing: &str, padding: usize) -> Vec<u8> {
    let orders = "<order><symbol>S</symbol></order>".repeat(padding.div_ceil(33));
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\">\
         <soapenv:Header><routing xmlns=\"{ROUTING}\">{routing}</routing></soapenv:Header>\
         <soapenv:Body><m:buyStocks xmlns:m=\"http://services.samples/xsd\">{orders}</m:buyStocks></soapenv:Body>\
         </soapenv:Envelope>"
    )
    .into_bytes()
}
