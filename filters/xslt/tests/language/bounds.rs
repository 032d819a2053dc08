//! Nothing that a document or a stylesheet says takes more than it may.

use std::thread;

use portcullis_xml::Limits;
use portcullis_xslt::{
    Bound, CompileOptions, NoMessages, Parameters, Stylesheet, TransformErrorKind, TransformLimits,
};

use crate::support::{failure, result, stylesheet, transform, within};

const ENDLESS: &str = "<xsl:template match='/' name='t'><xsl:call-template name='t'/>.</xsl:template>";

/// Runs on a fraction of the stack that a module has, which is 1 MiB.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    // What is not optimized takes several times the stack of what is.
    let size = if cfg!(debug_assertions) { 2 << 20 } else { 256 << 10 };
    thread::Builder::new().stack_size(size).spawn(run).unwrap().join().unwrap();
}

#[test]
fn documents_and_templates_may_be_deep_on_a_small_stack() {
    on_a_small_stack(|| {
        let depth = 256;
        let input = format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
        // Each element takes a template, a loop, a variable and an attribute set.
        let rules = "<xsl:attribute-set name='s'><xsl:attribute name='n'>\
            <xsl:value-of select='position()'/></xsl:attribute></xsl:attribute-set>\
                     <xsl:template match='a'><xsl:for-each select='.'><xsl:variable name='v'>\
                     <xsl:copy use-attribute-sets='s'>\
                     <xsl:apply-templates/></xsl:copy></xsl:variable><xsl:copy-of select='$v'/>\
                     </xsl:for-each></xsl:template>";
        let found = transform(rules, &input);
        assert_eq!(found.matches("<a n=\"1\">").count(), depth);
    });
}

#[test]
fn templates_may_call_themselves_thousands_of_times_on_a_small_stack() {
    on_a_small_stack(|| {
        let rules = "<xsl:template match='/' name='t'><xsl:param name='n' select='0'/>\
            <xsl:if test='$n &lt; 9000'>\
                     <xsl:call-template name='t'><xsl:with-param name='n' select='$n + 1'/>\
                     </xsl:call-template>.</xsl:if></xsl:template>";
        assert_eq!(transform(rules, "<a/>").len(), 9000);
    });
}

#[test]
fn stylesheets_may_be_as_deep_as_their_limit_on_a_small_stack() {
    on_a_small_stack(|| {
        let nested = |element: &str, depth: usize| {
            format!("<{element}>").repeat(depth)
                + &format!("</{}>", element.split(' ').next().unwrap()).repeat(depth)
        };
        for element in [
            "e",
            "xsl:if test='1'",
            "xsl:copy",
            "xsl:element name='e'",
            "xsl:for-each select='a'",
            "xsl:variable name='v'",
        ] {
            let source =
                stylesheet(&format!("<xsl:template match='/'>{}</xsl:template>", nested(element, 94)));
            let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default());
            compiled.unwrap_or_else(|error| panic!("{error}"));
        }
    });
}

#[test]
fn endless_recursion_ends() {
    let kind = result(ENDLESS, "<a/>").unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::TemplateDepth, 10_000));
    let steps = TransformLimits { steps: 1000, ..TransformLimits::default() };
    let kind = within(ENDLESS, "<a/>", &steps).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Steps, 1000));
}

#[test]
fn a_template_that_calls_itself_at_its_end_is_a_loop() {
    let count = |limit: u32, more: &str| {
        format!(
            "<xsl:template match='/'><xsl:apply-templates select='*'>\
                <xsl:with-param name='n' select='1'/></xsl:apply-templates>!</xsl:template>\
             <xsl:template match='*' name='t'><xsl:param name='n' select='0'/><xsl:param name='text'/>\
             <xsl:variable name='next' select='$n + 1'/>\
             <xsl:choose><xsl:when test='$n &lt; {limit}'><xsl:if test='1'><xsl:call-template name='t'>\
             <xsl:with-param name='n' select='$next'/>\
             <xsl:with-param name='text' select='concat($n, name())'/></xsl:call-template></xsl:if>\
             </xsl:when>\
             <xsl:otherwise><xsl:value-of select='concat($n, \";\", $text)'/></xsl:otherwise>\
             </xsl:choose>{more}</xsl:template>"
        )
    };
    assert_eq!(transform(&count(100_000, ""), "<a/>"), "100000;99999a!");
    assert_eq!(transform(&count(1000, ""), "<r><a/></r>"), "1000;999r!");
    let kind = result(&count(100_000, "."), "<a/>").unwrap_err().kind;
    assert_eq!(
        kind,
        TransformErrorKind::LimitExceeded(Bound::TemplateDepth, 10_000),
        "something is left to do"
    );
    let endless = ENDLESS.replace('.', "");
    let kind = within(&endless, "<a/>", &TransformLimits { steps: 100_000, ..TransformLimits::default() });
    assert_eq!(kind.unwrap_err().kind, TransformErrorKind::LimitExceeded(Bound::Steps, 100_000));
}

#[test]
fn endless_application_ends() {
    let kind = failure("<xsl:apply-templates select='/'/>", "<a/>");
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::TemplateDepth, 10_000));
}

#[test]
fn output_is_bounded_as_such_and_by_the_size_of_the_input() {
    let double = "<xsl:template match='/' name='t'><xsl:param name='n' select='0'/>\
        <xsl:text>0123456789</xsl:text>\
                  <xsl:if test='$n &lt; 40'><xsl:call-template name='t'>\
                  <xsl:with-param name='n' select='$n + 1'/></xsl:call-template>\
                  <xsl:call-template name='t'><xsl:with-param name='n' select='$n + 1'/>\
                  </xsl:call-template></xsl:if></xsl:template>";
    let by_size = (64 << 10) + 64 * 4;
    let kind = result(double, "<a/>").unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::OutputBytes, by_size));
    let limits = TransformLimits { output_bytes: 100, ..TransformLimits::default() };
    let kind = within(double, "<a/>", &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::OutputBytes, 100));
}

#[test]
fn text_that_doubles_is_bounded() {
    let strings = "<xsl:template match='/' name='t'><xsl:param name='s' select='\"0123456789\"'/>\
                   <xsl:call-template name='t'><xsl:with-param name='s' select='concat($s, $s)'/>\
                   </xsl:call-template></xsl:template>";
    let kind = within(strings, "<a/>", &TransformLimits { steps: 100_000, ..TransformLimits::default() })
        .unwrap_err()
        .kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Steps, 100_000));
    let trees = "<xsl:template match='/' name='t'><xsl:param name='s' select='\"0123456789\"'/>\
                 <xsl:call-template name='t'><xsl:with-param name='s'><xsl:value-of select='$s'/>\
                 <xsl:value-of select='$s'/></xsl:with-param></xsl:call-template></xsl:template>";
    let limits = TransformLimits { temporary_bytes: 100_000, ..TransformLimits::default() };
    let kind = within(trees, "<a/>", &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::TemporaryBytes, 100_000));
}

#[test]
fn nodes_of_temporary_trees_are_bounded() {
    let trees = "<xsl:template match='/' name='t'><xsl:param name='s' select='*'/>\
        <xsl:variable name='v'><xsl:copy-of select='$s'/>\
                 <xsl:copy-of select='$s'/></xsl:variable><xsl:call-template name='t'>\
                 <xsl:with-param name='s' select='$v'/></xsl:call-template></xsl:template>";
    let limits = TransformLimits { nodes: 1000, ..TransformLimits::default() };
    let kind = within(trees, "<a/>", &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Nodes, 1000));
}

#[test]
fn patterns_and_counting_take_steps() {
    let input = format!("<a>{}</a>", "<b/>".repeat(3000));
    let limits = TransformLimits { steps: 1_000_000, ..TransformLimits::default() };
    for rules in [
        "<xsl:template match='b[position() = 2]'>x</xsl:template>",
        "<xsl:template match='b'><xsl:number/></xsl:template>",
        "<xsl:template match='b'><xsl:number level='any'/></xsl:template>",
        "<xsl:template match='b'><xsl:value-of select='count(//b)'/></xsl:template>",
        "<xsl:key name='k' match='b' use='//b'/><xsl:template match='b'>\
            <xsl:value-of select='key(\"k\", \"\")'/></xsl:template>",
    ] {
        let kind = within(rules, &input, &limits).unwrap_err().kind;
        assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Steps, 1_000_000), "{rules}");
    }
}

#[test]
fn a_stylesheet_can_be_used_again_after_a_failure() {
    let source = stylesheet(
        "<xsl:template match='/'><xsl:if test='*/@stop'><xsl:message terminate='yes'/>\
            </xsl:if>ok</xsl:template>",
    );
    let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default()).unwrap();
    let run = |input: &str| {
        let input = compiled.parse(input.as_bytes(), &Limits::default()).unwrap();
        compiled.transform(input, &Parameters::new(), &TransformLimits::default(), &mut NoMessages)
    };
    assert!(run("<a/>").is_ok());
    let error = run("<a stop=''/>").unwrap_err();
    assert_eq!(
        error.to_string(),
        "1:127: <xsl:message>: the stylesheet ended the transformation by xsl:message"
    );
    assert_eq!(run("<a stop=''/>").unwrap_err().kind, TransformErrorKind::Terminated);
    assert_eq!(run("<a/>").unwrap().bytes, b"ok");
}

#[test]
fn a_document_fed_in_pieces_is_the_same() {
    let source = stylesheet(
        "<xsl:strip-space elements='*'/><xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>",
    );
    let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default()).unwrap();
    let input = "<a> <b x='é'>t</b>\n</a>";
    let mut builder = compiled.source(&Limits::default());
    for byte in input.as_bytes() {
        builder.feed(core::slice::from_ref(byte)).unwrap();
    }
    let output = compiled.transform(
        builder.finish().unwrap(),
        &Parameters::new(),
        &TransformLimits::default(),
        &mut NoMessages,
    );
    assert_eq!(String::from_utf8(output.unwrap().bytes).unwrap(), "<a><b x=\"é\">t</b></a>");
}

#[test]
fn text_that_is_passed_on_piece_by_piece_counts_while_it_is_there() {
    // Replaces each `,` of 10 KB: what all calls together are given is about 25 MB.
    let replace = "<xsl:template match='/' name='t'><xsl:param name='text' select='string(.)'/><xsl:choose>\
                   <xsl:when test='contains($text, \",\")'>\
                   <xsl:value-of select='substring-before($text, \",\")'/>;<xsl:call-template name='t'>\
                   <xsl:with-param name='text' select='substring-after($text, \",\")'/>\
                   </xsl:call-template></xsl:when>\
                   <xsl:otherwise><xsl:value-of select='$text'/></xsl:otherwise></xsl:choose>\
                   </xsl:template>";
    let limits = TransformLimits { temporary_bytes: 100_000, ..TransformLimits::default() };
    let found = within(replace, &format!("<a>{}</a>", "x,".repeat(5000)), &limits).unwrap();
    assert_eq!(found, "x;".repeat(5000));
}
