//! Functions that XSLT adds (XSLT 1.0, sections 12 and 15).

use crate::support::{at_root, refusal, result, transform};
use portcullis_xslt::CompileErrorKind;

const INPUT: &str = "<l><i k='a' v='1'/><i k='b' v='2'/><i k='a' v='3'/><r>a</r><r>b</r></l>";

#[test]
fn keys_find_nodes_by_value() {
    let keys = "<xsl:key name='k' match='i' use='@k'/><xsl:key name='all' match='@v' use='.'/>\
                <xsl:key name='n' match='i' use='@v + 1'/>\
                <xsl:key name='second' match='i[key(\"k\", \"a\")/@v = @v]' use='@v'/>";
    for (select, expected) in [
        ("count(key('k', 'a'))", "2"),
        ("key('k', 'a')[2]/@v", "3"),
        ("count(key('k', //r))", "3"),
        ("count(key('k', 'none'))", "0"),
        ("key('all', 2)/../@k", "b"),
        ("key('n', 4)/@v", "3"),
        ("count(key('second', '1')) + count(key('second', '2'))", "1"),
        ("count(key(concat('k', ''), 'a'))", "2"),
    ] {
        let rules =
            format!("{keys}<xsl:template match='/'><xsl:value-of select=\"{select}\"/></xsl:template>");
        assert_eq!(transform(&rules, INPUT), expected, "{select}");
    }
}

#[test]
fn keys_that_do_not_exist_or_need_themselves_are_refused() {
    let error = refusal("<xsl:template match='/'><xsl:value-of select='key(\"k\", 1)'/></xsl:template>");
    assert!(error.to_string().contains("there is no key 'k'"), "{error}");
    let error = refusal("<xsl:key name='k' match='*' use='key(\"k\", 1)'/>");
    assert!(matches!(error.kind, CompileErrorKind::Circular { .. }), "{error}");
    let computed = "<xsl:template match='/'><xsl:value-of select='key(name(*), 1)'/></xsl:template>";
    let error = result(computed, INPUT).unwrap_err();
    assert!(error.to_string().contains("no key"), "{error}");
}

#[test]
fn current_is_the_node_of_the_instruction() {
    let content =
        "<xsl:for-each select='//r'><xsl:value-of select='count(//i[@k = current()])'/></xsl:for-each>";
    assert_eq!(at_root(content, INPUT), "21");
}

#[test]
fn numbers_are_formatted_by_patterns() {
    let formats = "<xsl:decimal-format name='de' decimal-separator=',' grouping-separator='.'/>\
                   <xsl:decimal-format NaN='none'/>";
    for (select, expected) in [
        ("format-number(1234.5, '#,##0.00')", "1,234.50"),
        ("format-number(1234.5, '#.##0,00', 'de')", "1.234,50"),
        ("format-number('x', '0')", "none"),
        ("format-number(/l/i[2]/@v, '00')", "02"),
        ("format-number(-1, '0;(0)')", "(1)"),
    ] {
        let rules =
            format!("{formats}<xsl:template match='/'><xsl:value-of select=\"{select}\"/></xsl:template>");
        assert_eq!(transform(&rules, INPUT), expected, "{select}");
    }
}

#[test]
fn identifiers_are_those_of_nodes() {
    let content = "<xsl:if test='generate-id(//i[1]) = generate-id(/l/*)'>1</xsl:if>\
                   <xsl:if test='generate-id(//i[1]) != generate-id(//i[2])'>2</xsl:if>\
                   <xsl:if test='generate-id(//none) = \"\"'>3</xsl:if>\
                   <xsl:if test='generate-id() = generate-id(/)'>4</xsl:if>\
                   <xsl:element name='{generate-id()}'/>";
    assert_eq!(at_root(content, INPUT), "1234<n0/>");
}

#[test]
fn the_processor_tells_what_it_is() {
    for (select, expected) in [
        ("system-property('xsl:version')", "1"),
        ("system-property('xsl:vendor')", "Portcullis"),
        ("system-property('x')", ""),
        ("element-available('xsl:value-of')", "true"),
        ("element-available('xsl:for-each-group')", "false"),
        ("element-available('value-of')", "false"),
        ("function-available('key')", "true"),
        ("function-available('document')", "false"),
        ("function-available('concat')", "true"),
        ("unparsed-entity-uri('x')", ""),
    ] {
        assert_eq!(at_root(&format!("<xsl:value-of select=\"{select}\"/>"), INPUT), expected, "{select}");
    }
}
