//! Elements that make nodes (XSLT 1.0, section 7).

use crate::support::{at_root, failure, transform};
use portcullis_xslt::TransformErrorKind;

#[test]
fn elements_and_attributes_are_named_by_templates() {
    for (content, expected) in [
        ("<xsl:element name='{name(*)}' xmlns:p='urn:p'/>", "<p:a xmlns:p=\"urn:p\"/>"),
        ("<xsl:element name='x{1 + 1}'/>", "<x2/>"),
        ("<xsl:element name='x' namespace='urn:n'/>", "<x xmlns=\"urn:n\"/>"),
        ("<xsl:element name='n:x' namespace='urn:n'/>", "<n:x xmlns:n=\"urn:n\"/>"),
        ("<e><xsl:attribute name='x'>1</xsl:attribute></e>", "<e x=\"1\"/>"),
        (
            "<e><xsl:attribute name='{local-name(*)}'><xsl:value-of select='*/@i'/>!</xsl:attribute></e>",
            "<e a=\"5!\"/>",
        ),
        (
            "<e><xsl:attribute name='n:x' namespace='urn:n'>1</xsl:attribute></e>",
            "<e xmlns:n=\"urn:n\" n:x=\"1\"/>",
        ),
        ("<e x='0'><xsl:attribute name='x'>1</xsl:attribute></e>", "<e x=\"1\"/>"),
        (
            "<e><xsl:attribute name='x'><xsl:for-each select='//@*'>\
                <xsl:value-of select='.'/>,</xsl:for-each></xsl:attribute></e>",
            "<e x=\"5,6,\"/>",
        ),
        ("<e x='{*/@i}{{{*/@j}}}'/>", "<e x=\"5{6}\"/>"),
        ("<xsl:comment>a<xsl:value-of select='*/@i'/></xsl:comment>", "<!--a5-->"),
        ("<e><xsl:processing-instruction name='p'> a</xsl:processing-instruction></e>", "<e><?p a?></e>"),
        ("<xsl:text>a&amp;b</xsl:text>", "a&amp;b"),
        ("<e><xsl:text> </xsl:text> <xsl:text/></e>", "<e> </e>"),
    ] {
        assert_eq!(at_root(content, "<p:a xmlns:p='urn:p' i='5' j='6'/>"), expected, "{content}");
    }
}

#[test]
fn attributes_that_come_too_late_are_left_out() {
    assert_eq!(at_root("<e>t<xsl:attribute name='x'>1</xsl:attribute></e>", "<a/>"), "<e>t</e>");
    assert_eq!(at_root("<xsl:attribute name='x'>1</xsl:attribute><e/>", "<a/>"), "<e/>");
}

#[test]
fn names_that_cannot_be_written_end_the_transformation() {
    for content in [
        "<xsl:element name='{*/@no}'/>",
        "<xsl:element name='{*/@bad}'/>",
        "<xsl:element name='{*/@prefixed}'/>",
        "<e><xsl:attribute name='{*/@declaration}'>1</xsl:attribute></e>",
        "<e><xsl:attribute name=' {*/@declaration}'>1</xsl:attribute></e>",
        "<e><xsl:attribute name='{*/@declaration}' namespace=''>1</xsl:attribute></e>",
        "<e><xsl:attribute name='p:{*/@declaration}' namespace=''>1</xsl:attribute></e>",
        "<xsl:processing-instruction name='{*/@xml}'/>",
    ] {
        let kind = failure(content, "<a bad='1x' prefixed='q:x' declaration='xmlns' xml='XML'/>");
        assert!(matches!(kind, TransformErrorKind::Name(_)), "{content}: {kind}");
    }
}

#[test]
fn copies_are_shallow_or_deep() {
    let input = "<a xmlns:p='urn:p' i='1'><b>t<!--c--></b><?q r?></a>";
    let identity = "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/>\
        </xsl:copy></xsl:template>";
    let same = "<a xmlns:p=\"urn:p\" i=\"1\"><b>t<!--c--></b><?q r?></a>";
    assert_eq!(transform(identity, input), same);
    assert_eq!(at_root("<xsl:copy-of select='/'/>", input), same);
    assert_eq!(
        at_root("<e><xsl:copy-of select='a/@i'/><xsl:copy-of select='1 + 1'/></e>", input),
        "<e i=\"1\">2</e>"
    );
    assert_eq!(
        at_root("<xsl:for-each select='a'><xsl:copy/></xsl:for-each>", input),
        "<a xmlns:p=\"urn:p\"/>"
    );
    assert_eq!(at_root("<xsl:copy-of select='//b'/>", input), "<b xmlns:p=\"urn:p\">t<!--c--></b>");
    assert_eq!(at_root("<xsl:copy><e/></xsl:copy>", input), "<e/>", "of the root, the content alone");
}

#[test]
fn attribute_sets_yield_to_what_uses_them() {
    let sets = "<xsl:attribute-set name='s' use-attribute-sets='t'>\
        <xsl:attribute name='x'>s</xsl:attribute></xsl:attribute-set>\
                <xsl:attribute-set name='t'><xsl:attribute name='x'>t</xsl:attribute>\
                <xsl:attribute name='y'>t</xsl:attribute></xsl:attribute-set>\
                <xsl:attribute-set name='s'><xsl:attribute name='z'><xsl:value-of select='name(*)'/>\
                </xsl:attribute></xsl:attribute-set>";
    for (content, expected) in [
        ("<e xsl:use-attribute-sets='s'/>", "<e y=\"t\" x=\"s\" z=\"a\"/>"),
        ("<e xsl:use-attribute-sets='s' x='own'/>", "<e y=\"t\" z=\"a\" x=\"own\"/>"),
        ("<xsl:element name='e' use-attribute-sets='t s'/>", "<e y=\"t\" x=\"s\" z=\"a\"/>"),
        (
            "<xsl:for-each select='a'><xsl:copy use-attribute-sets='t'/></xsl:for-each>",
            "<a x=\"t\" y=\"t\"/>",
        ),
    ] {
        let found = transform(&format!("{sets}<xsl:template match='/'>{content}</xsl:template>"), "<a/>");
        assert_eq!(found, expected, "{content}");
    }
}

#[test]
fn namespaces_of_the_stylesheet_come_along_unless_excluded() {
    let of = |attributes: &str| {
        at_root(&format!("<e xmlns:p='urn:p' xmlns:q='urn:q' {attributes}><f/><p:g/></e>"), "<a/>")
    };
    assert_eq!(of(""), "<e xmlns:p=\"urn:p\" xmlns:q=\"urn:q\"><f/><p:g/></e>");
    assert_eq!(of("xsl:exclude-result-prefixes='q'"), "<e xmlns:p=\"urn:p\"><f/><p:g/></e>");
    assert_eq!(of("xsl:exclude-result-prefixes='p q'"), "<e><f/><p:g xmlns:p=\"urn:p\"/></e>");
    assert_eq!(
        at_root("<e xmlns='urn:d'><f xmlns=''><g xmlns='urn:d'/></f></e>", "<a/>"),
        "<e xmlns=\"urn:d\"><f xmlns=\"\"><g xmlns=\"urn:d\"/></f></e>"
    );
}

#[test]
fn content_of_variables_and_computed_elements_has_its_own_namespaces() {
    let content = "<e xmlns:p='urn:p'><xsl:element name='x' namespace='urn:x'><f/></xsl:element>\
                   <xsl:variable name='v'><g/></xsl:variable><xsl:copy-of select='$v'/></e>";
    assert_eq!(
        at_root(content, "<a/>"),
        "<e xmlns:p=\"urn:p\"><x xmlns=\"urn:x\"><f xmlns=\"\"/></x><g/></e>"
    );
}

#[test]
fn aliases_stand_for_other_namespaces() {
    let content = "<xsl:namespace-alias stylesheet-prefix='o' result-prefix='xsl' xmlns:o='urn:o'/>\
                   <xsl:template match='/'><o:if xmlns:o='urn:o' test='1' o:x='2'/></xsl:template>";
    assert_eq!(
        transform(content, "<a/>"),
        "<o:if xmlns:o=\"http://www.w3.org/1999/XSL/Transform\" test=\"1\" o:x=\"2\"/>"
    );
}
