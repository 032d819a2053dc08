//! Stylesheets of several documents (XSLT 1.0, sections 2.3, 2.6 and 5.6).

use portcullis_xml::Limits;
use portcullis_xslt::{
    CompileErrorKind, CompileLimits, CompileOptions, NoMessages, Parameters, Stylesheet, TransformLimits,
};

use crate::support::{stylesheet, with_documents};

fn transform(main: &str, documents: &[(&str, &str)], input: &str) -> String {
    let compiled = Stylesheet::compile(main.as_bytes(), &with_documents(documents));
    let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
    let input = compiled.parse(input.as_bytes(), &Limits::default()).unwrap();
    let output = compiled.transform(input, &Parameters::new(), &TransformLimits::default(), &mut NoMessages);
    String::from_utf8(output.unwrap().bytes).unwrap()
}

fn refusal(main: &str, documents: &[(&str, &str)]) -> CompileErrorKind {
    Stylesheet::compile(main.as_bytes(), &with_documents(documents)).unwrap_err().kind
}

#[test]
fn included_documents_are_part_of_the_stylesheet() {
    let part = stylesheet("<xsl:template match='b'>included</xsl:template>");
    let main = stylesheet("<xsl:template match='b'>before</xsl:template><xsl:include href='part.xsl'/>");
    assert_eq!(transform(&main, &[("part.xsl", &part)], "<b/>"), "included");
    let main = stylesheet("<xsl:include href='part.xsl'/><xsl:template match='b'>after</xsl:template>");
    assert_eq!(transform(&main, &[("part.xsl", &part)], "<b/>"), "after");
}

#[test]
fn what_is_imported_yields_and_can_be_applied() {
    let base = stylesheet(
        "<xsl:template match='b' priority='9'>base</xsl:template>\
            <xsl:template name='n'>n-base</xsl:template>\
                           <xsl:variable name='v' select='1'/><xsl:variable name='w' select='$v'/>",
    );
    let middle = stylesheet(
        "<xsl:import href='base.xsl'/><xsl:template match='b'>middle(<xsl:apply-imports/>)</xsl:template>",
    );
    let main = stylesheet(
        "<xsl:import href='middle.xsl'/><xsl:variable name='v' select='2'/>\
         <xsl:template match='b'>main(<xsl:apply-imports/>)<xsl:call-template name='n'/>\
         <xsl:value-of select='$w'/></xsl:template>",
    );
    let documents = [("base.xsl", &*base), ("middle.xsl", &*middle)];
    assert_eq!(transform(&main, &documents, "<b/>"), "main(middle(base))n-base2");
}

#[test]
fn apply_imports_sees_what_its_own_stylesheet_imports_alone() {
    let first = stylesheet("<xsl:template match='b'>first</xsl:template>");
    let second = stylesheet("<xsl:template match='b'>second(<xsl:apply-imports/>)</xsl:template>");
    let main = stylesheet("<xsl:import href='first.xsl'/><xsl:import href='second.xsl'/>");
    let documents = [("first.xsl", &*first), ("second.xsl", &*second)];
    assert_eq!(transform(&main, &documents, "<b>t</b>"), "second(t)", "the sibling is not imported by it");
}

#[test]
fn names_are_resolved_against_the_document_that_they_stand_in() {
    let inner = stylesheet("<xsl:template match='b'>inner</xsl:template>");
    let outer = stylesheet("<xsl:include href='../lib/inner.xsl'/>");
    let main = stylesheet("<xsl:include href='parts/outer.xsl'/>");
    assert_eq!(transform(&main, &[("parts/outer.xsl", &outer), ("lib/inner.xsl", &inner)], "<b/>"), "inner");
}

#[test]
fn nothing_is_fetched() {
    for href in ["http://example.com/a.xsl", "file:///etc/passwd", "/etc/passwd", "a.xsl#b"] {
        let kind = refusal(&stylesheet(&format!("<xsl:include href='{href}'/>")), &[]);
        assert!(matches!(kind, CompileErrorKind::Refused { .. }), "{href}: {kind}");
    }
    let kind = refusal(&stylesheet("<xsl:import href='a.xsl'/>"), &[]);
    assert!(matches!(kind, CompileErrorKind::NotFound { .. }), "{kind}");
}

#[test]
fn documents_that_include_themselves_or_each_other_are_refused() {
    let a = stylesheet("<xsl:include href='b.xsl'/>");
    let b = stylesheet("<xsl:import href='a.xsl'/>");
    let main = stylesheet("<xsl:include href='a.xsl'/>");
    assert!(matches!(refusal(&main, &[("a.xsl", &a), ("b.xsl", &b)]), CompileErrorKind::Circular { .. }));
}

#[test]
fn documents_that_double_at_each_level_are_counted() {
    let names: Vec<String> = (0..40).map(|level| format!("{level}.xsl")).collect();
    let texts: Vec<String> =
        (1..=40).map(|next| stylesheet(&format!("<xsl:include href='{next}.xsl'/>").repeat(2))).collect();
    let documents: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (&**name, &**text)).collect();
    let kind = refusal(&stylesheet("<xsl:include href='0.xsl'/>"), &documents);
    assert_eq!(kind, CompileErrorKind::TooMany { what: "included documents", limit: 64 });
}

#[test]
fn an_element_with_a_version_is_a_stylesheet() {
    let main = "<e xsl:version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' x='{*/@y}'>\
        <xsl:value-of select='.'/></e>";
    assert!(transform(main, &[], "<a y='1'>2</a>").ends_with("<e x=\"1\">2</e>"));
}

#[test]
fn errors_name_document_line_column_and_instruction() {
    let part = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n  \
                <xsl:template match='/'>\n    <xsl:value-of/>\n</xsl:template></xsl:stylesheet>";
    let main = stylesheet("<xsl:include href='part.xsl'/>");
    let error = Stylesheet::compile(main.as_bytes(), &with_documents(&[("part.xsl", part)])).unwrap_err();
    assert_eq!(error.to_string(), "part.xsl:3:5: <xsl:value-of>: the attribute 'select' is missing");
}

#[test]
fn stylesheets_have_bounds() {
    let deep = stylesheet(&format!(
        "<xsl:template match='/'>{}{}</xsl:template>",
        "<a>".repeat(200),
        "</a>".repeat(200)
    ));
    let error = Stylesheet::compile(deep.as_bytes(), &CompileOptions::default()).unwrap_err();
    assert!(matches!(error.kind, CompileErrorKind::Xml(_)), "{error}");
    let limits = CompileLimits { instructions: 100, ..CompileLimits::default() };
    let long = stylesheet(&format!("<xsl:template match='/'>{}</xsl:template>", "<a/>".repeat(100)));
    let options = CompileOptions { limits, ..CompileOptions::default() };
    let error = Stylesheet::compile(long.as_bytes(), &options).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::TooMany { what: "instructions", limit: 100 });
}
