//! Temporary trees are there for as long as a variable or an argument has them, and no longer.

use portcullis_xslt::{Bound, TransformErrorKind, TransformLimits};

use crate::support::{transform, within};

/// Room for one document of a hundred elements, and for few trees besides.
fn few_nodes() -> TransformLimits {
    TransformLimits { nodes: 150, temporary_bytes: 8000, ..TransformLimits::default() }
}

fn hundred() -> String {
    format!("<a>{}</a>", "<b/>".repeat(100))
}

/// Takes ten nodes, and 41 bytes of text.
fn tree(name: &str) -> String {
    let text = "0123456789".repeat(4);
    format!("<xsl:variable name='{name}'><c><d/><d/><d/><d/><d/></c>x<e/>{text}</xsl:variable>")
}

#[test]
fn those_of_a_template_are_gone_when_it_has_been_instantiated() {
    let rules = format!(
        "<xsl:template match='b'>{}<xsl:variable name='w'><xsl:copy-of select='$v'/></xsl:variable>\
         <xsl:value-of select='string-length($w)'/></xsl:template>",
        tree("v")
    );
    assert_eq!(within(&rules, &hundred(), &few_nodes()).unwrap(), "41".repeat(100));
}

#[test]
fn those_of_a_loop_are_gone_after_each_round() {
    let rules = format!(
        "<xsl:template match='/'><xsl:for-each select='//b'>{}<xsl:value-of select='string-length($v)'/>\
         </xsl:for-each></xsl:template>",
        tree("v")
    );
    assert_eq!(within(&rules, &hundred(), &few_nodes()).unwrap(), "41".repeat(100));
}

#[test]
fn those_of_a_template_that_calls_itself_at_its_end_are_gone_each_time() {
    let rules = format!(
        "<xsl:template match='/' name='t'><xsl:param name='n' select='100'/>{}\
         <xsl:value-of select='string-length($v)'/><xsl:if test='$n > 1'><xsl:call-template name='t'>\
         <xsl:with-param name='n' select='$n - string-length(substring($v, 41))'/></xsl:call-template></xsl:if>\
         </xsl:template>",
        tree("v")
    );
    assert_eq!(within(&rules, &hundred(), &few_nodes()).unwrap(), "41".repeat(100));
}

#[test]
fn those_of_messages_are_gone_at_once() {
    let message = format!("<xsl:message><c/>{}</xsl:message>", "text".repeat(100));
    let rules = format!("<xsl:template match='/'>{}.</xsl:template>", message.repeat(100));
    assert_eq!(within(&rules, &hundred(), &few_nodes()).unwrap(), ".");
}

#[test]
fn those_that_are_there_together_are_bounded() {
    let rules = format!(
        "<xsl:template match='/' name='t'>{}<xsl:call-template name='t'/><xsl:value-of select='$v'/>\
         </xsl:template>",
        tree("v")
    );
    let kind = within(&rules, &hundred(), &few_nodes()).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Nodes, 150));
    let limits = TransformLimits { temporary_bytes: 5000, ..TransformLimits::default() };
    let kind = within(&rules, &hundred(), &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::TemporaryBytes, 5000));
}

#[test]
fn those_of_global_variables_stay() {
    // The global ones are computed when they are needed first, within a loop that has trees of its own.
    let rules = "<xsl:variable name='g'>g<xsl:value-of select='$h'/></xsl:variable>\
                 <xsl:variable name='h'><xsl:call-template name='made'/></xsl:variable>\
                 <xsl:variable name='same' select='$g'/>\
                 <xsl:template name='made'><xsl:variable name='v'><i>h</i></xsl:variable>\
                 <xsl:copy-of select='$v'/><xsl:copy-of select='$v'/></xsl:template>\
                 <xsl:template match='/'><xsl:for-each select='//b'>\
                 <xsl:variable name='x'>x<xsl:value-of select='@n'/></xsl:variable>\
                 <xsl:if test='position() = 2'><xsl:value-of select='$g'/></xsl:if>\
                 <xsl:variable name='y'>y<xsl:copy-of select='$x'/></xsl:variable>\
                 <xsl:copy-of select='$y'/>,</xsl:for-each>\
                 <xsl:copy-of select='$g'/>,<xsl:copy-of select='$h'/>,<xsl:copy-of select='$same'/>\
                 </xsl:template>";
    assert_eq!(
        transform(rules, "<a><b n='1'/><b n='2'/><b n='3'/></a>"),
        "yx1,ghhyx2,yx3,ghh,<i>h</i><i>h</i>,ghh"
    );
}

#[test]
fn those_that_are_handed_on_stay_as_long_as_they_are_needed() {
    // With something left to do behind the call, and without.
    for after in ["", "<xsl:copy-of select='$p'/>"] {
        let rules = format!(
            "<xsl:template match='/'><xsl:apply-templates select='a'>\
             <xsl:with-param name='p'><p>0</p></xsl:with-param></xsl:apply-templates></xsl:template>\
             <xsl:template match='a' name='t'><xsl:param name='n' select='3'/><xsl:param name='p'/>\
             <xsl:variable name='other'><o/></xsl:variable><xsl:copy-of select='$p'/>;\
             <xsl:if test='$n'><xsl:call-template name='t'><xsl:with-param name='n' select='$n - 1'/>\
             <xsl:with-param name='p'><xsl:for-each select='*'><xsl:variable name='c'><c/></xsl:variable>\
             <xsl:copy-of select='$c'/></xsl:for-each><xsl:copy-of select='$p'/></xsl:with-param>\
             </xsl:call-template></xsl:if>{after}</xsl:template>"
        );
        let values = ["<p>0</p>", "<c/><p>0</p>", "<c/><c/><p>0</p>", "<c/><c/><c/><p>0</p>"];
        let mut expected = values.map(|value| format!("{value};")).concat();
        if !after.is_empty() {
            expected.extend(values.into_iter().rev());
        }
        assert_eq!(transform(&rules, "<a><b/></a>"), expected, "{after}");
    }
}

#[test]
fn arguments_of_applied_templates_stay_for_all_of_them() {
    let rules = "<xsl:template match='/'><xsl:apply-templates select='//b'>\
                 <xsl:with-param name='p'><p/></xsl:with-param></xsl:apply-templates></xsl:template>\
                 <xsl:template match='b'><xsl:param name='p'/><xsl:param name='q'><q/></xsl:param>\
                 <xsl:variable name='v'><xsl:copy-of select='$q'/><xsl:copy-of select='$p'/></xsl:variable>\
                 <xsl:copy-of select='$v'/></xsl:template>";
    assert_eq!(transform(rules, "<a><b/><b/><b/></a>"), "<q/><p/>".repeat(3));
}

#[test]
fn namespaces_are_those_of_the_tree_that_is_there() {
    // The trees of all rounds have the same numbers.
    let rules = "<xsl:template match='/'><xsl:for-each select='*/*'><xsl:variable name='v'>\
                 <xsl:copy-of select='.'/></xsl:variable><xsl:copy-of select='$v'/></xsl:for-each>\
                 </xsl:template>";
    let input = "<a><b xmlns:p='urn:1' xmlns='urn:2'/><b xmlns:q='urn:3' xmlns='urn:4'/><b/></a>";
    assert_eq!(
        transform(rules, input),
        "<b xmlns=\"urn:2\" xmlns:p=\"urn:1\"/><b xmlns=\"urn:4\" xmlns:q=\"urn:3\"/><b/>"
    );
}
