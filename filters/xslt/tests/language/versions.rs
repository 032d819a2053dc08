//! Other versions and extensions (XSLT 1.0, sections 2.5, 14 and 15).

use portcullis_xml::Limits;
use portcullis_xslt::{
    CompileOptions, NoMessages, Parameters, Stylesheet, TransformErrorKind, TransformLimits,
};

fn run(version: &str, content: &str) -> Result<String, String> {
    let source = format!(
        "<xsl:stylesheet version='{version}' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:x='urn:x' \
         extension-element-prefixes='x'><xsl:output omit-xml-declaration='yes'/>{content}</xsl:stylesheet>"
    );
    let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default())
        .map_err(|error| error.to_string())?;
    let input = compiled.parse(b"<a/>", &Limits::default()).unwrap();
    let output = compiled.transform(input, &Parameters::new(), &TransformLimits::default(), &mut NoMessages);
    output.map(|output| String::from_utf8(output.bytes).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn a_stylesheet_of_version_2_that_keeps_to_1_is_taken() {
    assert_eq!(run("2.0", "<xsl:template match='a'>1</xsl:template>").unwrap(), "1");
}

#[test]
fn later_instructions_need_a_fallback() {
    let with = "<xsl:template match='a'><xsl:for-each-group select='*'><xsl:fallback>f</xsl:fallback>\
        </xsl:for-each-group></xsl:template>";
    assert_eq!(run("2.0", with).unwrap(), "f");
    let without = "<xsl:template match='a'><xsl:for-each-group select='*'/></xsl:template>";
    assert!(run("2.0", without).unwrap_err().contains("xsl:for-each-group is not supported"));
    assert!(run("1.0", without).unwrap_err().contains("xsl:for-each-group"));
    assert!(run("2.0", "<xsl:function name='x:f'/>").unwrap_err().contains("xsl:function is not supported"));
}

#[test]
fn instructions_of_unknown_versions_fail_when_they_are_reached() {
    let guarded = "<xsl:template match='a'><xsl:choose>\
        <xsl:when test='system-property(\"xsl:version\") >= 9'><xsl:new/></xsl:when>\
                   <xsl:otherwise>old</xsl:otherwise></xsl:choose></xsl:template>";
    assert_eq!(run("9.0", guarded).unwrap(), "old");
    let reached = "<xsl:template match='a'><xsl:new/></xsl:template>";
    assert!(run("9.0", reached).unwrap_err().contains(&TransformErrorKind::UnknownInstruction.to_string()));
    assert!(run("1.0", guarded).unwrap_err().contains("xsl:new"), "in version 1.0 it is an error");
}

#[test]
fn extension_elements_need_a_fallback() {
    let with = "<xsl:template match='a'><x:do><xsl:fallback>f</xsl:fallback></x:do></xsl:template>";
    assert_eq!(run("1.0", with).unwrap(), "f");
    let without = "<xsl:template match='a'><x:do/></xsl:template>";
    assert!(run("1.0", without).unwrap_err().contains("an extension element is not supported"));
}

#[test]
fn extension_functions_are_refused() {
    let error =
        run("1.0", "<xsl:template match='a'><xsl:value-of select='x:f()'/></xsl:template>").unwrap_err();
    assert!(error.contains("an extension function"), "{error}");
}

#[test]
fn elements_of_the_author_at_the_top_level_mean_nothing() {
    assert_eq!(run("1.0", "<x:data><y/></x:data><xsl:template match='a'>1</xsl:template>").unwrap(), "1");
    assert!(run("1.0", "<data/>").unwrap_err().contains("no namespace"));
}
