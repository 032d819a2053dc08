//! What `xsl:output` says (XSLT 1.0, section 16); the serializer has tests of its own.

use portcullis_xml::Limits;
use portcullis_xslt::{CompileOptions, NoMessages, Output, Parameters, Stylesheet, TransformLimits};

use crate::support::refusal;

fn output(content: &str) -> Output {
    let source = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{content}\
         <xsl:template match='/'><a><b>&lt;</b></a></xsl:template></xsl:stylesheet>"
    );
    let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default()).unwrap();
    let input = compiled.parse(b"<x/>", &Limits::default()).unwrap();
    compiled.transform(input, &Parameters::new(), &TransformLimits::default(), &mut NoMessages).unwrap()
}

#[test]
fn attributes_of_output_are_followed() {
    let declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    for (content, expected, media_type) in [
        ("", format!("{declaration}<a><b>&lt;</b></a>"), "text/xml"),
        ("<xsl:output method='xml' omit-xml-declaration='yes'/>", "<a><b>&lt;</b></a>".into(), "text/xml"),
        ("<xsl:output method='text'/>", "<".into(), "text/plain"),
        ("<xsl:output method='text' media-type='text/csv'/>", "<".into(), "text/csv"),
        (
            "<xsl:output method='text' media-type=' text/csv; header=\"present\"&#10;'/>",
            "<".into(),
            "text/csv; header=\"present\"",
        ),
        (
            "<xsl:output omit-xml-declaration='yes'/><xsl:output cdata-section-elements='b'/>",
            "<a><b><![CDATA[<]]></b></a>".into(),
            "text/xml",
        ),
        (
            "<xsl:output standalone='yes'/>",
            format!("{}<a><b>&lt;</b></a>", declaration.replace("?>", " standalone=\"yes\"?>")),
            "text/xml",
        ),
    ] {
        let output = output(content);
        assert_eq!(String::from_utf8(output.bytes).unwrap(), expected, "{content}");
        assert_eq!(&*output.media_type, media_type, "{content}");
    }
    assert!(output("<xsl:output indent='yes'/>").bytes.ends_with(b"<a>\n  <b>&lt;</b>\n</a>"));
}

#[test]
fn what_cannot_be_written_is_refused() {
    for (content, reason) in [
        ("<xsl:output method='html'/>", "method=\"html\" is not supported"),
        ("<xsl:output method='x:y' xmlns:x='urn:x'/>", "output method of an extension"),
        ("<xsl:output method='json'/>", "'xml' or 'text'"),
        ("<xsl:output encoding='ISO-8859-1'/>", "the encoding 'ISO-8859-1' is not supported"),
        ("<xsl:output version='1.1'/>", "XML version"),
        ("<xsl:output indent='maybe'/>", "'yes' or 'no'"),
        ("<xsl:output media-type='xml'/>", "a media type without a charset"),
        ("<xsl:output media-type=''/>", "a media type without a charset"),
        ("<xsl:output media-type='text/xml; charset=utf-8'/>", "a media type without a charset"),
        ("<xsl:output media-type='text/html&#13;&#10;set-cookie: a=b'/>", "a media type without a charset"),
        ("<xsl:output media-type='text/html; a=&quot;&#10;&quot;'/>", "a media type without a charset"),
        ("<xsl:output media-type='text/html, text/xml'/>", "a media type without a charset"),
    ] {
        let error = refusal(content).to_string();
        assert!(error.contains(reason), "{content}: {error}");
    }
}
