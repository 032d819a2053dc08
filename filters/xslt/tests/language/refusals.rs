//! What is wrong with a stylesheet is said before it is used.

use portcullis_xslt::{CompileErrorKind, CompileOptions, Stylesheet};

use crate::support::refusal;

#[test]
fn what_is_not_supported_is_named_with_what_to_do_instead() {
    for (content, reason) in [
        ("<xsl:value-of select='document(\"a.xml\")'/>", "document() is not supported: nothing is fetched"),
        ("<xsl:value-of select='id(\"a\")'/>", "'id()' is not supported"),
        ("<xsl:value-of select='namespace::*'/>", "the axis 'namespace' is not supported"),
        (
            "<xsl:value-of select='a' disable-output-escaping='yes'/>",
            "disable-output-escaping=\"yes\" is not supported",
        ),
        (
            "<xsl:text disable-output-escaping='yes'>a</xsl:text>",
            "disable-output-escaping=\"yes\" is not supported",
        ),
    ] {
        let error = refusal(&format!("<xsl:template match='/'>{content}</xsl:template>"));
        assert!(error.to_string().contains(reason), "{content}: {error}");
    }
}

#[test]
fn mistakes_are_found_ahead() {
    for (content, reason) in [
        ("<xsl:template/>", "the attribute 'match' is missing"),
        ("<xsl:template match='a' priority='high'/>", "the value of 'priority' is not a number"),
        ("<xsl:template name='a'/><xsl:template name='a'/>", "more than one template 'a'"),
        ("<xsl:template name='a' mode='m'/>", "there is no attribute 'mode' without 'match' here"),
        ("<xsl:template match='$a'/>", "expected no variables"),
        ("<xsl:template match='..'/>", "expected neither '.' nor '..' as a step"),
        ("<xsl:template match='a/descendant::b'/>", "expected no axes but child and attribute"),
        ("<xsl:template match='a['/>", "match: column 3"),
        ("<xsl:template match='p:a'/>", "no namespace is bound to the prefix 'p'"),
        ("<xsl:template match='a[current()]'/>", "current"),
        ("<xsl:template match='a'><xsl:unknown/></xsl:template>", "found xsl:unknown"),
        (
            "<xsl:template match='a'><xsl:param name='p'/><e/><xsl:param name='q'/></xsl:template>",
            "at the beginning of a template",
        ),
        ("<xsl:template match='a'><xsl:if>x</xsl:if></xsl:template>", "the attribute 'test' is missing"),
        (
            "<xsl:template match='a'><xsl:if test='1' then='2'/></xsl:template>",
            "there is no attribute 'then' here",
        ),
        ("<xsl:template match='a'><xsl:choose/></xsl:template>", "at least one xsl:when"),
        (
            "<xsl:template match='a'><xsl:choose><xsl:otherwise/></xsl:choose></xsl:template>",
            "xsl:when, one or more times",
        ),
        (
            "<xsl:template match='a'><xsl:for-each select='1'/></xsl:template>",
            "the value of 'select' is not a node-set",
        ),
        (
            "<xsl:template match='a'><xsl:for-each select='a'>x<xsl:sort/></xsl:for-each></xsl:template>",
            "at the beginning of xsl:for-each",
        ),
        (
            "<xsl:template match='a'><xsl:apply-templates>x</xsl:apply-templates></xsl:template>",
            "xsl:sort and xsl:with-param alone",
        ),
        (
            "<xsl:template match='a'><xsl:value-of select='a'>x</xsl:value-of></xsl:template>",
            "expected an empty element",
        ),
        ("<xsl:template match='a'><xsl:text><b/></xsl:text></xsl:template>", "text alone in xsl:text"),
        (
            "<xsl:template match='a'><xsl:variable name='v' select='1'>x</xsl:variable></xsl:template>",
            "either 'select' or content",
        ),
        (
            "<xsl:template match='a'><xsl:element name='1'/></xsl:template>",
            "the value of 'name' is not a qualified name",
        ),
        (
            "<xsl:template match='a'><xsl:element name='p:a'/></xsl:template>",
            "no namespace is bound to the prefix 'p'",
        ),
        (
            "<xsl:template match='a'><e><xsl:attribute name='xmlns'/></e></xsl:template>",
            "it is one of a declaration",
        ),
        (
            "<xsl:template match='a'><xsl:processing-instruction name='xml'/></xsl:template>",
            "the name of a processing instruction",
        ),
        ("<xsl:template match='a'><e a='{b'/></xsl:template>", "'{' needs '}'"),
        ("<xsl:template match='a'><e a='b}'/></xsl:template>", "'}' is written '}}'"),
        ("<xsl:template match='a'><e a='{}'/></xsl:template>", "a: column 1"),
        (
            "<xsl:template match='a'><e xsl:unknown='1'/></xsl:template>",
            "there is no attribute 'xsl:unknown' here",
        ),
        (
            "<xsl:template match='a'><e xsl:use-attribute-sets='s'/></xsl:template>",
            "there is no attribute set 's'",
        ),
        ("<xsl:attribute-set name='s' use-attribute-sets='s'/>", "the attribute set 's' needs itself"),
        ("<xsl:attribute-set name='s'><e/></xsl:attribute-set>", "xsl:attribute alone"),
        ("<xsl:variable name='v'/><xsl:variable name='v'/>", "more than one global variable 'v'"),
        ("<xsl:key name='k' match='a'/>", "the attribute 'use' is missing"),
        ("<xsl:decimal-format digit='ab'/>", "the value of 'digit' is not one character"),
        (
            "<xsl:decimal-format digit='a'/><xsl:decimal-format digit='b'/>",
            "more than one xsl:decimal-format",
        ),
        ("<xsl:strip-space elements='p:*'/>", "no namespace is bound to the prefix 'p'"),
        ("<xsl:when test='1'/>", "a top-level element of XSLT 1.0"),
        ("text", "only elements at the top level"),
        ("<xsl:template match='a'/><xsl:import href='a'/>", "it before all other elements"),
        (
            "<xsl:template match='a'><xsl:call-template name='a'><e/></xsl:call-template>\
                </xsl:template><xsl:template name='a'/>",
            "xsl:with-param alone",
        ),
        (
            "<xsl:template name='a'><xsl:call-template name='a'><xsl:with-param name='p'/>\
                <xsl:with-param name='p'/></xsl:call-template></xsl:template>",
            "more than one xsl:with-param 'p'",
        ),
        (
            "<xsl:template match='a'><xsl:number level='some'/></xsl:template>",
            "'single', 'multiple' or 'any'",
        ),
        ("<xsl:template match='a'><xsl:sort/></xsl:template>", "xsl:sort"),
    ] {
        let error = refusal(content).to_string();
        assert!(error.contains(reason), "{content}: {error}");
        assert!(error.starts_with("1:"), "{error}");
    }
}

#[test]
fn what_is_no_stylesheet_is_told_apart() {
    for source in [
        "<e/>",
        "<stylesheet version='1.0'/>",
        "<xsl:template xmlns:xsl='http://www.w3.org/1999/XSL/Transform' match='/'/>",
        "<xsl:stylesheet xmlns:xsl='http://www.w3.org/TR/WD-xsl' version='1.0'/>",
    ] {
        let error = Stylesheet::compile(source.as_bytes(), &CompileOptions::default()).unwrap_err();
        assert_eq!(error.kind, CompileErrorKind::NotAStylesheet, "{source}");
    }
    let missing = "<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform'/>";
    let error = Stylesheet::compile(missing.as_bytes(), &CompileOptions::default()).unwrap_err();
    assert_eq!(error.kind, CompileErrorKind::MissingAttribute("version"));
}
