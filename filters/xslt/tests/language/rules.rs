//! Templates and how they are chosen (XSLT 1.0, section 5).

use crate::support::{failure, transform};
use portcullis_xslt::TransformErrorKind;

const INPUT: &str = "<a x='1'>t<b>u</b><!--c--><?p q?><c><b>v</b></c></a>";

#[test]
fn built_in_rules_give_the_text_and_nothing_else() {
    assert_eq!(transform("", INPUT), "tuv");
}

#[test]
fn built_in_rules_keep_the_mode() {
    let rules = "<xsl:template match='/'><xsl:apply-templates mode='m'/></xsl:template>\
                 <xsl:template match='b' mode='m'>[<xsl:value-of select='.'/>]</xsl:template>\
                 <xsl:template match='b'>no</xsl:template>";
    assert_eq!(transform(rules, INPUT), "t[u][v]");
}

#[test]
fn the_more_special_pattern_wins_and_then_the_later_one() {
    for (rules, expected) in [
        (
            "<xsl:template match='b'>1</xsl:template><xsl:template match='*'><xsl:apply-templates/>\
                </xsl:template>",
            "t11",
        ),
        ("<xsl:template match='c/b'>2</xsl:template><xsl:template match='b'>1</xsl:template>", "t12"),
        ("<xsl:template match='b'>1</xsl:template><xsl:template match='b'>2</xsl:template>", "t22"),
        (
            "<xsl:template match='b' priority='1'>1</xsl:template>\
                <xsl:template match='c/b'>2</xsl:template>",
            "t11",
        ),
        (
            "<xsl:template match='b' priority='-1'>1</xsl:template><xsl:template match='*'>\
                <xsl:apply-templates/>!</xsl:template>",
            "tu!v!!!",
        ),
        // Each alternative of a union has a priority of its own.
        ("<xsl:template match='b|c/b'>1</xsl:template><xsl:template match='b'>2</xsl:template>", "t21"),
    ] {
        assert_eq!(transform(rules, INPUT), expected, "{rules}");
    }
}

#[test]
fn patterns_match_what_they_say() {
    let input = "<a xmlns:n='urn:n' i='1'><b k='1'><c/><c/></b><d><b><n:c i='2'/></b></d><?p x?><?q y?>\
        </a>";
    for (pattern, expected) in [
        ("c", "cc"),
        ("b/c", "cc"),
        ("a//c", "cc"),
        ("d//c", ""),
        ("/a", "a"),
        ("/b", ""),
        ("//b", "bb"),
        ("a/b", "b"),
        ("b[@k]", "b"),
        ("b[not(@k)]", "b"),
        ("c[1]", "c"),
        ("c[last()]", "c"),
        ("c[position() = 2]", "c"),
        ("b[2]", ""),
        ("*[self::n:c]", "c"),
        ("n:*", "c"),
        ("n:c", "c"),
        ("b/*", "ccc"),
        ("@i", "ii"),
        ("@*", "iki"),
        ("a/@i", "i"),
        ("a//@i", "ii"),
        ("processing-instruction()", "pq"),
        ("processing-instruction('q')", "q"),
        ("d/b | c", "bcc"),
        ("/", "/"),
        ("/*/*/b", "b"),
        ("key('k', '1')", "b"),
        ("key('k', '1')/c", "cc"),
        ("a/d/b//c", ""),
        ("a//d//n:c", "c"),
    ] {
        let rules = format!(
            "<xsl:key name='k' match='b' use='@k'/>\
             <xsl:template match=\"{pattern}\" xmlns:n='urn:n' priority='9'><xsl:choose>\
             <xsl:when test='not(..)'>/</xsl:when>\
             <xsl:otherwise><xsl:value-of select='local-name()'/></xsl:otherwise></xsl:choose>\
             <xsl:apply-templates select='@*|node()'/></xsl:template>\
             <xsl:template match='@*|text()|comment()|processing-instruction()'/>\
             <xsl:template match='*|/'><xsl:apply-templates select='@*|node()'/></xsl:template>"
        );
        let mut found: Vec<char> = transform(&rules, input).chars().collect();
        let mut wanted: Vec<char> = expected.chars().collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{pattern}");
    }
}

#[test]
fn a_left_part_may_match_far_above_where_the_nearest_place_does_not() {
    // The nearest z has no parent y; the one above it has.
    let input = "<x><y><z><q><z><w>!</w></z></q></z></y></x>";
    assert_eq!(transform("<xsl:template match='x//y/z//w'>found</xsl:template>", input), "found");
    assert_eq!(transform("<xsl:template match='y//y/z//w'>found</xsl:template>", input), "!");
}

#[test]
fn position_and_size_are_those_of_the_node_list() {
    let rules = "<xsl:template match='r'><xsl:apply-templates select='b'/></xsl:template>\
                 <xsl:template match='b'>\
                 <xsl:value-of select='position()'/>/<xsl:value-of select='last()'/>;</xsl:template>";
    assert_eq!(transform(rules, "<r><a/><b/><a/><b/><b/></r>"), "1/3;2/3;3/3;");
    let rules = "<xsl:template match='b'>\
        <xsl:value-of select='position()'/>/<xsl:value-of select='last()'/>;</xsl:template>";
    assert_eq!(
        transform(
            rules,
            "<r><a/><b/><a/><b/>\
        </r>"
        ),
        "2/4;4/4;",
        "built-in rules count all children"
    );
}

#[test]
fn a_loop_has_no_current_rule_to_apply_imports_of() {
    let content = "<xsl:for-each select='*'><xsl:apply-imports/></xsl:for-each>";
    assert_eq!(failure(content, "<a/>"), TransformErrorKind::NoCurrentRule);
}

#[test]
fn apply_imports_without_imports_is_the_built_in_rule() {
    let rules = "<xsl:template match='b'>[<xsl:apply-imports/>]</xsl:template>";
    assert_eq!(transform(rules, INPUT), "t[u][v]");
}

#[test]
fn attributes_come_before_children_whatever_the_order_of_the_union() {
    let input = "<a x='1' y='2'>t<b/></a>";
    for select in ["@*|node()", "node()|@*", "@node()|node()", "@*|*|text()", "node()", "@*"] {
        let content = |last: &str| {
            format!(
                "<xsl:template match='a'><xsl:apply-templates select='{select}'/></xsl:template>\
                 <xsl:template match='@*|node()'>{{<xsl:value-of select='concat(name(), position(){last})'/>}}</xsl:template>\
                 <xsl:template match='a' priority='1'><xsl:apply-templates select='{select}'/>\
                 </xsl:template>"
            )
        };
        let (attributes, children) = (select.contains('@'), select != "@*");
        let all: Vec<&str> = [("x", attributes), ("y", attributes), ("", children), ("b", children)]
            .iter()
            .filter(|(_, there)| *there)
            .map(|(name, _)| *name)
            .collect();
        let expected = |size: &str| {
            (1..).zip(&all).map(|(at, name)| format!("{{{name}{at}{size}}}")).collect::<String>()
        };
        assert_eq!(transform(&content(""), input), expected(""), "{select}");
        assert_eq!(
            transform(&content(", \"/\", last()"), input),
            expected(&format!("/{}", all.len())),
            "{select}"
        );
    }
}
