//! What `xsl:output` decides (XSLT 1.0, section 16).

use super::*;

fn with(change: impl FnOnce(&mut OutputFormat)) -> Script {
    let mut format = plain();
    change(&mut format);
    Script::new(&format)
}

#[test]
fn writes_the_declaration_that_is_asked_for() {
    for (declaration, standalone, expected) in [
        (XmlDeclaration::Omitted, Standalone::Yes, ""),
        (XmlDeclaration::Written, Standalone::Unspecified, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"),
        (
            XmlDeclaration::Written,
            Standalone::Yes,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n",
        ),
        (
            XmlDeclaration::Written,
            Standalone::No,
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n",
        ),
    ] {
        let mut script = with(|format| (format.declaration, format.standalone) = (declaration, standalone));
        assert_eq!(script.start("a").end().output(), format!("{expected}<a/>"));
    }
    assert_eq!(
        Script::new(&OutputFormat::default()).output(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    );
}

#[test]
fn writes_a_document_type_before_the_document_element() {
    let system = |system: &str| DocumentType { system: system.into(), public: None };
    let public = DocumentType { system: "a\"b".into(), public: Some("-//x//EN".into()) };
    for (document_type, expected) in [
        (system("a.dtd"), "<!--c--><!DOCTYPE p:a SYSTEM \"a.dtd\">\n<p:a xmlns:p=\"u\"/><b/>"),
        (public, "<!--c--><!DOCTYPE p:a PUBLIC \"-//x//EN\" 'a\"b'>\n<p:a xmlns:p=\"u\"/><b/>"),
    ] {
        let mut script = with(|format| format.document_type = Some(document_type));
        script.comment("c").start("{u}p:a").end().start("b").end();
        assert_eq!(script.output(), expected);
    }
}

#[test]
fn writes_the_text_of_listed_elements_as_cdata() {
    let listed = [("", "a"), ("u", "b")].map(|(uri, local)| (uri.into(), local.into()));
    let mut script = with(|format| format.cdata_elements = CdataElements(listed.to_vec()));
    script.start("a").text("1<").text("2]]").text(">").comment("c").text("3");
    // Of its children, only those that are listed themselves.
    script.start("c").text("<").end().text("4").start("{u}p:b").text("&").end().start("b").text("&").end();
    script.start("a").end().end();
    assert_eq!(
        script.output(),
        "<a><![CDATA[1<2]]]]><![CDATA[>]]><!--c--><![CDATA[3]]><c>&lt;</c><![CDATA[4]]>\
         <p:b xmlns:p=\"u\"><![CDATA[&]]></p:b><b>&amp;</b><a/></a>"
    );
}

#[test]
fn indents_elements_without_text() {
    let mut script = with(|format| {
        (format.indent, format.declaration) = (Indent::TwoSpaces, XmlDeclaration::Written);
    });
    script.comment("c").start("a").start("b").attribute("x", "1").attribute("x", "2").start("c").end();
    script.comment("d").instruction("p", "").end().start("e").text("t").end().start("f").end().end();
    assert_eq!(
        script.output(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--c-->\n<a>\n  <b x=\"2\">\n    <c/>\n    <!--d-->\n    \
         <?p?>\n  </b>\n  <e>t</e>\n  <f/>\n</a>"
    );
}

#[test]
fn adds_no_white_space_to_mixed_content_wherever_its_text_is() {
    type Content = fn(&mut Script) -> &mut Script;
    let cases: [(Content, &str); 4] = [
        (|script| script.text("t").start("b").end(), "<a>t<b/></a>"),
        (|script| script.start("b").end().text("t"), "<a><b/>t</a>"),
        (|script| script.start("b").start("c").end().end().text(" "), "<a><b><c/></b> </a>"),
        (
            |script| script.start("b").start("c").end().start("c").text("t").end().end(),
            "<a>\n  <b>\n    <c/>\n    <c>t</c>\n  </b>\n</a>",
        ),
    ];
    for (content, expected) in cases {
        let mut script = with(|format| format.indent = Indent::TwoSpaces);
        script.start("a");
        content(&mut script);
        assert_eq!(script.end().output(), expected);
    }
}

#[test]
fn indents_elements_beside_text_outside_of_all() {
    let mut script = with(|format| format.indent = Indent::TwoSpaces);
    script.text("\n").start("a").start("b").end().end().start("c").end();
    assert_eq!(script.output(), "\n<a>\n  <b/>\n</a><c/>");
}

#[test]
fn takes_what_begins_with_text_for_xml() {
    for (text, refused) in [("text", false), (" \n", true)] {
        let mut script = with(|format| format.method = Method::Unspecified);
        script.text(text);
        let name = script.name("html");
        let started = script.writer.start_element(&script.names, name);
        assert_eq!(started == Err(ResultError::HtmlByDefault), refused, "{text:?}");
    }
}

#[test]
fn keeps_the_white_space_of_elements_that_say_so() {
    let space = "{http://www.w3.org/XML/1998/namespace}xml:space";
    let mut script = with(|format| format.indent = Indent::TwoSpaces);
    script.start("a").start("b").attribute(space, "preserve").start("c").start("d").end().end().end();
    script.start("b").attribute(space, "default").start("c").end().end().end();
    assert_eq!(
        script.output(),
        "<a>\n  <b xml:space=\"preserve\"><c><d/></c></b>\n  <b xml:space=\"default\">\n    <c/>\n  </b>\n</a>"
    );
}

#[test]
fn writes_a_document_type_on_a_line_of_its_own_when_indenting() {
    let document_type = DocumentType { system: "a".into(), public: None };
    let mut script = with(|format| {
        (format.indent, format.document_type) = (Indent::TwoSpaces, Some(document_type));
    });
    assert_eq!(script.start("a").end().output(), "<!DOCTYPE a SYSTEM \"a\">\n<a/>");
}

#[test]
fn writes_text_alone_for_the_text_method() {
    let mut script = with(|format| format.method = Method::Text);
    script.text("a<").start("b").attribute("c", "x").namespace("p", "u").text("&\u{1}").comment("c");
    script.instruction("p", "q").text("]]>").end().text("\r\n");
    assert_eq!(script.output(), "a<&\u{1}]]>\r\n");
}

#[test]
fn refuses_to_write_html_when_no_method_is_named() {
    for (method, name, refused) in [
        (Method::Unspecified, "html", true),
        (Method::Unspecified, "HtmL", true),
        (Method::Unspecified, "{u}html", false),
        (Method::Unspecified, "body", false),
        (Method::Xml, "html", false),
    ] {
        let mut script = with(|format| format.method = method);
        script.comment("c");
        let name = script.name(name);
        let started = script.writer.start_element(&script.names, name);
        assert_eq!(started == Err(ResultError::HtmlByDefault), refused, "{method:?}");
        if !refused {
            // It is the first element that decides.
            script.end().start("html").end();
        }
    }
}
