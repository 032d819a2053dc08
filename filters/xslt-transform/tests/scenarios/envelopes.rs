//! Transformations of the first element in the Body of an envelope.

use portcullis_policy::Direction;
use serde_json::{Value, json};

use crate::support::*;

const SOAP_11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP_12: &str = "http://www.w3.org/2003/05/soap-envelope";

fn operation(stylesheet: &Value) -> Value {
    both(&json!({"stylesheet": stylesheet, "source": "operation"}))
}

fn transformed(config: &Value, at: Direction, body: &str) -> String {
    match send(&mut worker(config), at, XML, body) {
        Fared::Passed(result) => result,
        other => panic!("{other:?}"),
    }
}

/// The element's name becomes `done`, whatever it was, and the stylesheet sees no envelope.
fn done() -> Value {
    inline(
        "<xsl:template match='/*'><done parents='{count(ancestor::*)}'><xsl:copy-of select='*'/></done></xsl:template>",
    )
}

#[test]
fn the_result_takes_the_place_of_the_element_in_its_envelope() {
    for version in [SOAP_11, SOAP_12] {
        let envelope = |operation: &str| {
            format!(
                "<e:Envelope xmlns:e=\"{version}\" xmlns:x=\"urn:x\"><!--c--><e:Header><x:h at=\"&#9;&quot;&lt;\">\
                 1 &amp; 2</x:h></e:Header>\n<e:Body id=\"b\"> {operation}<x:more/><!--d--></e:Body>\n</e:Envelope>"
            )
        };
        for at in BOTH {
            let result = transformed(&operation(&done()), at, &envelope("<x:op><y/></x:op>"));
            let expected = envelope("<done parents=\"0\"><y xmlns:x=\"urn:x\"/></done>");
            assert_eq!(canonical(&result), canonical(&expected), "{result}");
            assert!(!result.contains("<?xml") && result.contains("<!--c-->") && result.contains("<!--d-->"));
        }
    }
}

#[test]
fn the_result_takes_the_place_of_the_message_where_that_is_configured() {
    let config = both(&json!({"stylesheet": done(), "source": "operation", "result": "message"}));
    let envelope = format!("<e:Envelope xmlns:e='{SOAP_11}'><e:Body><op/></e:Body></e:Envelope>");
    let result = transformed(&config, Direction::Request, &envelope);
    assert_eq!(result, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<done parents=\"0\"/>");
}

/// A result says by `xmlns` what namespace it is in, but not that it is in none.
#[test]
fn an_envelope_s_default_namespace_does_not_become_that_of_the_result() {
    let plain = inline("<xsl:template match='/*'><plain><xsl:copy-of select='*'/></plain></xsl:template>");
    for (body, expected) in [
        (
            format!(
                "<Envelope xmlns='{SOAP_11}'><Header><h/></Header><Body a='1'><op xmlns=''/><same><in/></same></Body></Envelope>"
            ),
            format!(
                "<e:Envelope xmlns:e='{SOAP_11}'><e:Header><e:h/></e:Header><e:Body a='1'><plain/><e:same><e:in/></e:same></e:Body></e:Envelope>"
            ),
        ),
        (
            format!(
                "<e:Envelope xmlns:e='{SOAP_12}' xmlns='urn:d'><e:Body><op><of-d/></op><of-d/><x xmlns=''/></e:Body></e:Envelope>"
            ),
            format!(
                "<e:Envelope xmlns:e='{SOAP_12}' xmlns:d='urn:d'><e:Body><plain><d:of-d/></plain><d:of-d/><x/></e:Body></e:Envelope>"
            ),
        ),
        (
            format!(
                "<e:Envelope xmlns:e='{SOAP_12}'><e:Body xmlns='urn:d' xmlns:soapenv='urn:s'><op/></e:Body></e:Envelope>"
            ),
            format!("<e:Envelope xmlns:e='{SOAP_12}'><e:Body><plain/></e:Body></e:Envelope>"),
        ),
        (
            format!("<Envelope xmlns='{SOAP_12}' xmlns:soapenv='urn:s'><Body><op/></Body></Envelope>"),
            format!("<e:Envelope xmlns:e='{SOAP_12}'><e:Body><plain/></e:Body></e:Envelope>"),
        ),
    ] {
        let result = transformed(&operation(&plain), Direction::Request, &body);
        assert_eq!(canonical(&result), canonical(&expected), "{result}");
    }
}

/// Prefixes in values (`xsi:type`) mean what they meant.
#[test]
fn a_copy_keeps_the_namespaces_that_the_envelope_declares() {
    let copy = inline("<xsl:template match='/'><xsl:copy-of select='*'/></xsl:template>");
    let envelope = format!(
        "<e:Envelope xmlns:e='{SOAP_11}' xmlns:a='urn:a' xmlns:b='urn:outer'><e:Body xmlns:b='urn:inner'>\
         <op type='a:t b:t'/></e:Body></e:Envelope>"
    );
    let config = both(&json!({"stylesheet": copy, "source": "operation", "result": "message"}));
    let result = transformed(&config, Direction::Request, &envelope);
    for declaration in ["xmlns:a=\"urn:a\"", "xmlns:b=\"urn:inner\"", &format!("xmlns:e=\"{SOAP_11}\"")] {
        assert!(result.contains(declaration), "{result}");
    }
    assert!(!result.contains("urn:outer"), "{result}");
}

#[test]
fn an_empty_body_passes_and_what_is_no_envelope_is_malformed() {
    let mut worker = worker(&operation(&done()));
    let empty = format!("<e:Envelope xmlns:e='{SOAP_11}'><e:Body> </e:Body></e:Envelope>");
    for at in BOTH {
        assert_eq!(send(&mut worker, at, XML, &empty), passed(&empty));
        let refused = Fared::Refused(if at == Direction::Request { 400 } else { 502 });
        for body in [
            "<a/>".to_owned(),
            "<Envelope><Body><a/></Body></Envelope>".to_owned(),
            format!("<e:Envelope xmlns:e='{SOAP_11}'><e:Header/></e:Envelope>"),
            format!(
                "<e:Envelope xmlns:e='{SOAP_11}'><e:Body><a/></e:Body><e:Body><a/></e:Body></e:Envelope>"
            ),
            format!("<e:Envelope xmlns:e='{SOAP_11}'><e:Body>text<a/></e:Body></e:Envelope>"),
            format!("<e:Envelope xmlns:e='{SOAP_12}'><e:Body><a/></e:Body><x/></e:Envelope>"),
            format!("<e:Envelope xmlns:e='{SOAP_12}'><e:Body><a><?p i?></a></e:Body></e:Envelope>"),
            format!("<e:Envelope xmlns:e='{SOAP_12}'><e:Body><a/></e:Body>"),
        ] {
            assert_eq!(send(&mut worker, at, XML, &body), refused, "{body}");
        }
    }
}

#[test]
fn the_envelope_is_the_same_however_the_message_is_cut_and_encoded() {
    let text = format!(
        "<Envelope xmlns='{SOAP_11}'><Header><h a='\u{e9}&#10;'>\u{e9}<![CDATA[<]]></h></Header><Body><op>\u{e9}</op></Body></Envelope>"
    );
    let mut worker = worker(&operation(&done()));
    let at = Direction::Request;
    let whole = send(&mut worker, at, XML, &text);
    let Fared::Passed(result) = &whole else { panic!("{whole:?}") };
    assert!(result.contains("\u{e9}&#10;") && result.contains("\u{e9}&lt;"), "{result}");
    for size in [1, 3, 50] {
        let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
        assert_eq!(send_pieces(&mut worker, at, XML, &pieces, End::Body).0, whole);
    }
    let latin: Vec<u8> = text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect();
    let headers = [("content-type", "text/xml; charset=iso-8859-1")];
    assert_eq!(send_pieces(&mut worker, at, &headers, &[&latin], End::Body).0, whole);
}

#[test]
fn an_envelope_that_would_become_too_large_is_refused() {
    let config = with(operation(&done()), json!({"limits": {"max_output_bytes": 1024}}));
    let padding = "\"".repeat(300);
    let envelope = format!(
        "<e:Envelope xmlns:e='{SOAP_11}'><e:Header><h>{padding}</h></e:Header><e:Body><op/></e:Body></e:Envelope>"
    );
    let mut worker = worker(&config);
    assert_eq!(send(&mut worker, Direction::Request, XML, &envelope), Fared::Refused(500));
    assert_eq!(count(&worker, "request.stylesheet"), 1);
}
