//! Variables and result tree fragments (XSLT 1.0, section 11).

use crate::support::{at_root, refusal, result, transform};
use portcullis_xslt::{CompileErrorKind, TransformErrorKind};

#[test]
fn variables_hold_values_of_all_types() {
    for (variable, read, expected) in [
        ("<xsl:variable name='v' select='//b'/>", "count($v)", "2"),
        ("<xsl:variable name='v' select='//b'/>", "$v[2]", "2"),
        ("<xsl:variable name='v' select='1 + 1'/>", "$v", "2"),
        ("<xsl:variable name='v' select='1 + 1'/>", "//b[$v]", "2"),
        ("<xsl:variable name='v' select='true()'/>", "//b[$v]", "1"),
        ("<xsl:variable name='v' select='string(2)'/>", "//b[. = $v]", "2"),
        ("<xsl:variable name='v'/>", "string-length($v)", "0"),
        ("<xsl:variable name='v'/>", "boolean($v)", "false"),
        ("<xsl:variable name='v'>2</xsl:variable>", "$v + 1", "3"),
        ("<xsl:variable name='v'><e/></xsl:variable>", "boolean($v)", "true"),
        ("<xsl:variable name='v'><e>1</e><f>2</f></xsl:variable>", "$v = 12", "true"),
        ("<xsl:variable name='v'>2</xsl:variable>", "$v = //b", "true"),
        ("<xsl:variable name='v'>2</xsl:variable><xsl:variable name='w' select='$v'/>", "$w + 1", "3"),
    ] {
        let input = "<a><b>1</b><b>2</b></a>";
        assert_eq!(
            at_root(&format!("{variable}<xsl:value-of select='{read}'/>"), input),
            expected,
            "{variable} {read}"
        );
    }
}

#[test]
fn fragments_nest_and_are_copied_whole() {
    let content = "<xsl:variable name='v'><a x='1'><xsl:variable name='w'><b/>t</xsl:variable>\
        <xsl:copy-of select='$w'/>\
                   <xsl:copy-of select='$w'/></a><xsl:comment>c</xsl:comment>\
                   <xsl:processing-instruction name='p'>q</xsl:processing-instruction>\
                   </xsl:variable>[<xsl:copy-of select='$v'/>]";
    assert_eq!(at_root(content, "<d/>"), "[<a x=\"1\"><b/>t<b/>t</a><!--c--><?p q?>]");
}

#[test]
fn fragments_are_no_node_sets() {
    for content in [
        "<xsl:value-of select='$v/e'/>",
        "<xsl:value-of select='$v[1]'/>",
        "<xsl:value-of select='count($v)'/>",
        "<xsl:value-of select='name($v)'/>",
        "<xsl:value-of select='//b | $v'/>",
        "<xsl:value-of select='generate-id($v)'/>",
        "<xsl:for-each select='$v'/>",
        "<xsl:apply-templates select='$v'/>",
        "<xsl:variable name='w' select='$v'/><xsl:for-each select='$w'/>",
    ] {
        let error = refusal(&format!(
            "<xsl:template match='/'><xsl:variable name='v'><e/></xsl:variable>{content}</xsl:template>"
        ));
        assert!(matches!(error.kind, CompileErrorKind::TreeFragment { .. }), "{content}: {error}");
    }
}

#[test]
fn a_variable_is_seen_behind_it_and_inside_its_parent_alone() {
    let seen = "<xsl:template match='/'><xsl:if test='1'><xsl:variable name='v' select='1'/>\
        <xsl:value-of select='$v'/></xsl:if>\
                <xsl:variable name='v' select='2'/><xsl:value-of select='$v'/></xsl:template>";
    assert_eq!(transform(seen, "<a/>"), "12");
    for content in [
        "<xsl:value-of select='$v'/><xsl:variable name='v' select='1'/>",
        "<xsl:if test='1'><xsl:variable name='v' select='1'/></xsl:if><xsl:value-of select='$v'/>",
        "<xsl:variable name='v' select='$v'/>",
    ] {
        let error = refusal(&format!("<xsl:template match='/'>{content}</xsl:template>"));
        assert!(error.to_string().contains("there is no variable '$v'"), "{content}: {error}");
    }
}

#[test]
fn local_variables_hide_global_ones_and_no_local_ones() {
    let hides = "<xsl:variable name='v' select='1'/><xsl:template match='/'><xsl:value-of select='$v'/>\
                 <xsl:variable name='v' select='$v + 1'/><xsl:value-of select='$v'/></xsl:template>";
    assert_eq!(transform(hides, "<a/>"), "12");
    let twice = "<xsl:template match='/'><xsl:variable name='v'/><xsl:if test='1'>\
        <xsl:variable name='v'/></xsl:if></xsl:template>";
    assert!(matches!(refusal(twice).kind, CompileErrorKind::Duplicate { .. }));
}

#[test]
fn global_variables_may_refer_to_later_ones_and_have_the_root_as_their_node() {
    let rules = "<xsl:variable name='a' select='concat($b, name(*))'/><xsl:variable name='b'>\
        <xsl:call-template name='t'/></xsl:variable>\
                 <xsl:variable name='c' select='//x'/><xsl:template name='t'>\
                 <xsl:value-of select='count($c)'/></xsl:template>\
                 <xsl:template match='x'><xsl:value-of select='$a'/>;</xsl:template>";
    assert_eq!(transform(rules, "<d><x/><x/></d>"), "2d;2d;");
}

#[test]
fn variables_that_need_themselves_are_refused() {
    let error = refusal("<xsl:variable name='a' select='$b'/><xsl:variable name='b' select='$a'/>");
    assert!(matches!(error.kind, CompileErrorKind::Circular { .. }), "{error}");
    let by_template = "<xsl:variable name='a'><xsl:call-template name='t'/></xsl:variable>\
                       <xsl:template name='t'><xsl:value-of select='$a'/></xsl:template>\
                       <xsl:template match='/'><xsl:value-of select='$a'/></xsl:template>";
    assert_eq!(result(by_template, "<d/>").unwrap_err().kind, TransformErrorKind::CircularVariable);
}

#[test]
fn a_variable_of_a_loop_is_new_each_time() {
    let content = "<xsl:for-each select='//b'><xsl:variable name='v'><xsl:if test='@x'>x</xsl:if>\
        </xsl:variable>[<xsl:value-of select='$v'/>]</xsl:for-each>";
    assert_eq!(at_root(content, "<a><b x=''/><b/></a>"), "[x][]");
}

#[test]
fn fragments_that_arrive_as_arguments_are_no_node_sets_either() {
    for content in [
        "<xsl:value-of select='$p/e'/>",
        "<xsl:value-of select='//e[$p/e]'/>",
        "<xsl:value-of select='$p[1]'/>",
        "<xsl:value-of select='count($p)'/>",
        "<xsl:value-of select='//e | $p'/>",
        "<xsl:value-of select='generate-id($p)'/>",
        "<xsl:for-each select='$p'/>",
        "<xsl:apply-templates select='$p'/>",
    ] {
        let rules = |value: &str| {
            format!(
                "<xsl:template match='/'><xsl:call-template name='t'>\
                    <xsl:with-param name='p'{value}</xsl:with-param></xsl:call-template></xsl:template>\
                 <xsl:template name='t'><xsl:param name='p'/>{content}</xsl:template>"
            )
        };
        let kind = result(&rules("><e/>"), "<e/>").unwrap_err().kind;
        assert_eq!(kind, TransformErrorKind::NotNodes, "{content}");
        result(&rules(" select='//e'>"), "<e/>").unwrap_or_else(|error| panic!("{content}: {error}"));
    }
    let copied = "<xsl:template match='/'><xsl:call-template name='t'><xsl:with-param name='p'>\
        <e/>x</xsl:with-param></xsl:call-template></xsl:template>\
                  <xsl:template name='t'><xsl:param name='p'/><xsl:copy-of select='$p'/>\
                  <xsl:if test='$p = \"x\"'>!</xsl:if></xsl:template>";
    assert_eq!(transform(copied, "<e/>"), "<e/>x!");
}
