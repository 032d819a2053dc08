//! Envelopes, well-formed and malformed, and other documents.

use portcullis_xml::soap::{Operation, Outline, Place, QName, Recognition, Version, Violation};
use portcullis_xml::{Limits, Tokenizer};

const V1_1: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const V1_2: &str = "http://www.w3.org/2003/05/soap-envelope";

/// The outline of a document, or of its beginning.
fn outline(document: &str) -> Outline {
    let mut outline = Outline::new();
    let mut tokenizer = Tokenizer::new(&Limits::default());
    tokenizer.feed(document.as_bytes(), &mut outline).unwrap();
    outline
}

/// The envelope with that content; prefix `s` stands for its namespace.
fn envelope(version: Version, content: &str) -> Outline {
    outline(&format!("<s:Envelope xmlns:s='{}'>{content}</s:Envelope>", version.namespace()))
}

fn element(namespace: &str, local: &str) -> Operation {
    Operation::Element(QName { namespace: namespace.to_owned(), local: local.to_owned() })
}

#[test]
fn knows_the_version_with_the_document_element_s_start_tag() {
    for (document, expected) in [
        ("<?xml version='1.0'?><!-- hi -->".to_owned(), Recognition::Pending),
        (format!("<s:Envelope xmlns:s='{V1_1}'>"), Recognition::Envelope(Version::V1_1)),
        (format!("<Envelope xmlns='{V1_2}'>"), Recognition::Envelope(Version::V1_2)),
        (format!("<Envelope xmlns='{V1_2}'/>"), Recognition::Envelope(Version::V1_2)),
        ("<Envelope>".to_owned(), Recognition::UnknownVersion),
        // A slash makes it another namespace.
        (format!("<Envelope xmlns='{V1_2}/'>"), Recognition::UnknownVersion),
        (format!("<envelope xmlns='{V1_2}'>"), Recognition::NotSoap),
        (format!("<Body xmlns='{V1_2}'>"), Recognition::NotSoap),
        ("<order/>".to_owned(), Recognition::NotSoap),
        (format!("<a><s:Envelope xmlns:s='{V1_1}'/></a>"), Recognition::NotSoap),
    ] {
        assert_eq!(outline(&document).recognition(), expected, "{document}");
    }
}

#[test]
fn follows_the_envelope_from_part_to_part() {
    let document = format!(
        "<s:Envelope xmlns:s='{V1_1}'>|<s:Header>|<a><s:Body/></a>|</s:Header>|<s:Body>|<b/>|</s:Body>|</s:Envelope>"
    );
    let mut places = Vec::new();
    let mut outline = Outline::new();
    let mut tokenizer = Tokenizer::new(&Limits::default());
    for piece in document.split('|') {
        tokenizer.feed(piece.as_bytes(), &mut outline).unwrap();
        places.push(outline.place());
    }
    assert_eq!(
        places,
        [
            Place::BeforeHeader,
            Place::Header,
            Place::Header,
            Place::BeforeBody,
            Place::Body,
            Place::Body,
            Place::AfterBody,
            Place::AfterEnvelope,
        ]
    );
    assert_eq!(outline.violation(), None);
}

#[test]
fn names_the_first_element_of_the_body_once_it_begins() {
    for version in Version::ALL {
        let namespace = version.namespace();
        for (content, expected) in [
            ("<s:Header><s:Body><a/></s:Body></s:Header>", Operation::Pending),
            ("<s:Header/><s:Body> <!-- c -->", Operation::Pending),
            ("<s:Body><a xmlns='urn:a'", Operation::Pending),
            ("<s:Body><a xmlns='urn:a'>", element("urn:a", "a")),
            ("<s:Body> <a/><b/>", element("", "a")),
            ("<s:Body><s:Fault>", element(namespace, "Fault")),
            ("<s:Body></s:Body>", Operation::None),
            ("<s:Body/>", Operation::None),
            ("<s:Body> </s:Body></s:Envelope>", Operation::None),
            ("<s:Header/></s:Envelope>", Operation::None),
        ] {
            let document = format!("<s:Envelope xmlns:s='{namespace}'>{content}");
            assert_eq!(*outline(&document).operation(), expected, "{document}");
        }
    }
    assert_eq!(*outline("<Body><a/></Body>").operation(), Operation::Pending);
}

#[test]
fn accepts_what_either_version_allows() {
    for content in [
        "<s:Body/>",
        " <s:Header/>\r\n<!-- c --><s:Body/>\t",
        "<s:Header><a/><b>text</b></s:Header><s:Body><a>text</a><b/></s:Body>",
        "<s:Header><s:Header/><s:Body/></s:Header><s:Body><s:Body/><s:Header/></s:Body>",
    ] {
        for version in Version::ALL {
            assert_eq!(envelope(version, content).violation(), None, "{version}: {content}");
        }
    }
}

#[test]
fn reports_malformed_envelopes() {
    use Violation::{
        ElementAfterBody, ElementBeforeBody, HeaderAfterBody, NoBody, ProcessingInstruction, RepeatedBody,
        RepeatedHeader, Text,
    };
    for (content, in_1_1, in_1_2) in [
        ("", Some(NoBody), Some(NoBody)),
        ("<s:Header/>", Some(NoBody), Some(NoBody)),
        ("<s:Header/><s:Header/><s:Body/>", Some(RepeatedHeader), Some(RepeatedHeader)),
        ("<s:Body/><s:Header/>", Some(HeaderAfterBody), Some(HeaderAfterBody)),
        ("<s:Header/><s:Body/><s:Header/>", Some(HeaderAfterBody), Some(HeaderAfterBody)),
        ("<s:Body/><s:Body/>", Some(RepeatedBody), Some(RepeatedBody)),
        ("<a/><s:Body/>", Some(ElementBeforeBody), Some(ElementBeforeBody)),
        ("<Header/><s:Body/>", Some(ElementBeforeBody), Some(ElementBeforeBody)),
        ("<s:Head/><s:Body/>", Some(ElementBeforeBody), Some(ElementBeforeBody)),
        ("<Body/>", Some(ElementBeforeBody), Some(ElementBeforeBody)),
        ("<s:Header/><a/><s:Body/>", Some(ElementBeforeBody), Some(ElementBeforeBody)),
        ("<s:Body/><a/>", Some(ElementAfterBody), Some(ElementAfterBody)),
        ("<s:Body/><a xmlns='urn:a'/>", None, Some(ElementAfterBody)),
        ("x<s:Body/>", Some(Text), Some(Text)),
        ("<s:Body/>&#160;", Some(Text), Some(Text)),
        ("<s:Header>x</s:Header><s:Body/>", Some(Text), Some(Text)),
        ("<s:Body>x</s:Body>", Some(Text), Some(Text)),
        ("<s:Body><a/><![CDATA[x]]></s:Body>", Some(Text), Some(Text)),
        ("<?p?><s:Body/>", Some(ProcessingInstruction), Some(ProcessingInstruction)),
        ("<s:Body><a><?p d?></a></s:Body>", Some(ProcessingInstruction), Some(ProcessingInstruction)),
        // Only the first is reported.
        ("x<s:Body/><s:Body/>", Some(Text), Some(Text)),
    ] {
        assert_eq!(envelope(Version::V1_1, content).violation(), in_1_1, "SOAP 1.1: {content}");
        assert_eq!(envelope(Version::V1_2, content).violation(), in_1_2, "SOAP 1.2: {content}");
    }
    let before = format!("<?p?><s:Envelope xmlns:s='{V1_1}'><s:Body/></s:Envelope>");
    assert_eq!(outline(&before).violation(), Some(ProcessingInstruction));
}

#[test]
fn finds_no_fault_with_documents_that_are_no_envelopes() {
    for document in ["<?p?><a>x<?p?><b/></a>", "<Envelope>x<Body/><Body/></Envelope>"] {
        assert_eq!(outline(document).violation(), None, "{document}");
    }
}
