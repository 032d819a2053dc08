//! White space (XSLT 1.0, section 3.4).

use crate::support::{at_root, transform};

const INPUT: &str = "<a> <b> <c xml:space='preserve'> </c> x </b>\n<d xmlns='urn:d'> </d></a>";

#[test]
fn white_space_of_the_source_counts_unless_it_is_stripped() {
    let rest = "<xsl:template match='/'><xsl:for-each select='//text()'>[<xsl:value-of select='translate(., \"&#10;\", \"n\")'/>]</xsl:for-each></xsl:template>";
    for (rules, expected) in [
        ("", "[ ][ ][ ][ x ][n][ ]"),
        ("<xsl:strip-space elements='*'/>", "[ ][ x ]"),
        ("<xsl:strip-space elements='a'/>", "[ ][ ][ x ][ ]"),
        ("<xsl:strip-space elements='*'/><xsl:preserve-space elements='b'/>", "[ ][ ][ x ]"),
        ("<xsl:preserve-space elements='b'/><xsl:strip-space elements='*'/>", "[ ][ ][ x ]"),
        ("<xsl:strip-space elements='p:d' xmlns:p='urn:d'/>", "[ ][ ][ ][ x ][n]"),
        ("<xsl:strip-space elements='p:*' xmlns:p='urn:d'/>", "[ ][ ][ ][ x ][n]"),
        ("<xsl:strip-space elements='d'/>", "[ ][ ][ ][ x ][n][ ]"),
        ("<xsl:strip-space elements='a b'/><xsl:preserve-space elements='a'/>", "[ ][ ][ x ][n][ ]"),
    ] {
        assert_eq!(transform(&format!("{rules}{rest}"), INPUT), expected, "{rules}");
    }
}

#[test]
fn white_space_of_the_stylesheet_counts_where_it_is_text() {
    assert_eq!(at_root(" <e> </e> ", INPUT), "<e/>");
    assert_eq!(at_root("<e> x </e>", INPUT), "<e> x </e>");
    assert_eq!(at_root("<e><xsl:text> </xsl:text></e>", INPUT), "<e> </e>");
    assert_eq!(
        at_root("<e xml:space='preserve'> <f xml:space='default'> </f></e>", INPUT),
        "<e xml:space=\"preserve\"> <f xml:space=\"default\"/></e>"
    );
    assert_eq!(at_root("<e>x<!-- c --> y</e>", INPUT), "<e>x y</e>", "comments do not separate text");
}
