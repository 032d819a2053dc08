//! What is kept while a transformation runs is bounded, wherever it is kept.

use portcullis_xslt::{Bound, TransformErrorKind, TransformLimits};

use crate::support::within;

const BYTES: usize = 1 << 16;

/// The transformation would have to keep more than it may.
#[track_caller]
fn keeps_too_much(rules: &str, input: &str) {
    let limits = TransformLimits { temporary_bytes: BYTES, ..TransformLimits::default() };
    let kind = within(rules, input, &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::TemporaryBytes, 1 << 16), "{rules}");
}

/// The text of each of the hundred elements is that of all within it: together, 200 KB.
fn nested() -> String {
    format!("{}{}{}", "<a>".repeat(100), "x".repeat(2000), "</a>".repeat(100))
}

#[test]
fn in_sort_keys() {
    keeps_too_much(
        "<xsl:template match='/'><xsl:for-each select='//a'><xsl:sort/></xsl:for-each></xsl:template>",
        &nested(),
    );
}

#[test]
fn in_keys_even_those_of_one_node() {
    for (nodes, value) in [("a", "."), ("/", "//a"), ("*", "string()")] {
        keeps_too_much(
            &format!(
                "<xsl:key name='k' match='{nodes}' use='{value}'/>\
                 <xsl:template match='/'><xsl:copy-of select='key(\"k\", 1)'/></xsl:template>"
            ),
            &nested(),
        );
    }
}

#[test]
fn in_texts_that_expressions_make() {
    let ten = "concat(/, /, /, /, /, /, /, /, /, /)";
    for text in [
        format!("concat({})", ["/"; 40].join(", ")),
        format!("concat({ten}, {ten}, {ten}, {ten})"),
        format!("translate({ten}, 'x', '\u{10000}')"),
    ] {
        keeps_too_much(
            &format!(
                "<xsl:template match='/'><xsl:value-of select=\"string-length({text})\"/></xsl:template>"
            ),
            &nested(),
        );
    }
}

#[test]
fn in_names_that_are_computed() {
    for name in [
        "<xsl:element name='{concat(\"e\", $n, \"-\", /a/@long)}'/>",
        "<xsl:element name='e' namespace='{$n}{/a/@long}'/>",
        "<xsl:element name='p{$n}{/a/@long}:e' namespace='urn:n'/>",
    ] {
        let rules = format!(
            "<xsl:template match='/' name='t'><xsl:param name='n' select='0'/>\
             <xsl:variable name='v'>{name}</xsl:variable><xsl:call-template name='t'>\
             <xsl:with-param name='n' select='$n + 1'/></xsl:call-template></xsl:template>"
        );
        keeps_too_much(&rules, &format!("<a long='{}'/>", "n".repeat(1000)));
    }
}

#[test]
fn in_variables_of_templates_that_are_open() {
    let variables: String =
        (0..100).map(|number| format!("<xsl:variable name='v{number}' select='1'/>")).collect();
    keeps_too_much(
        &format!("<xsl:template match='/' name='t'><xsl:call-template name='t'/>.{variables}</xsl:template>"),
        "<a/>",
    );
}

#[test]
fn in_node_lists_that_are_being_gone_through() {
    let input = format!("<a>{}</a>", "<b/>".repeat(1000));
    for content in [
        "<xsl:for-each select='//b'><xsl:call-template name='t'/>.</xsl:for-each>",
        "<xsl:apply-templates select='//b'/>.",
    ] {
        keeps_too_much(&format!("<xsl:template match='/|b' name='t'>{content}</xsl:template>"), &input);
    }
}

#[test]
fn in_numbers_that_are_being_written() {
    keeps_too_much(
        "<xsl:template match='/'><xsl:number value='1' format='{a/@format}' grouping-size='1' \
         grouping-separator='{a/@separator}'/></xsl:template>",
        &format!("<a format='{}1' separator='{}'/>", "0".repeat(1000), "-".repeat(1000)),
    );
}

#[test]
fn node_lists_count_while_they_are_there() {
    let input = format!("<a>{}</a>", "<b/>".repeat(1000));
    let rules = "<xsl:template match='/'><xsl:for-each select='//b'><xsl:for-each select='/a/b[1]'>\
                 <xsl:apply-templates select='../b[position() &lt; 3]'/></xsl:for-each></xsl:for-each>\
                 </xsl:template><xsl:template match='b'>.</xsl:template>";
    let limits = TransformLimits { temporary_bytes: BYTES, ..TransformLimits::default() };
    assert_eq!(within(rules, &input, &limits).unwrap().len(), 2000);
}
