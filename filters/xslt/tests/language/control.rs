//! Conditions, loops, sorting, numbering, calls and messages (XSLT 1.0, sections 6 to 10 and 13).

use crate::support::{at_root, failure, refusal, run, stylesheet, transform};
use portcullis_xml::Limits;
use portcullis_xslt::{
    CompileOptions, MESSAGE_BYTES, Parameters, Stylesheet, TransformErrorKind, TransformLimits,
};

const LIST: &str = "<l><i n='10'>b</i><i n='9'>a</i><i n='x'>C</i><i n='100'>c</i></l>";

#[test]
fn the_first_test_that_holds_is_chosen() {
    let content = "<xsl:for-each select='l/i'><xsl:if test='@n > 9'>!</xsl:if><xsl:choose>\
                   <xsl:when test='@n = 9'>1</xsl:when><xsl:when test='. = \"a\"'>2</xsl:when>\
                   <xsl:when test='@n = 100'>3</xsl:when><xsl:otherwise>4</xsl:otherwise></xsl:choose>\
                   </xsl:for-each>";
    assert_eq!(at_root(content, LIST), "!414!3");
    assert_eq!(at_root("<xsl:choose><xsl:when test='x'>1</xsl:when></xsl:choose>.", LIST), ".");
}

#[test]
fn loops_have_position_size_and_current_node() {
    let content = "<xsl:for-each select='l/i'>\
        <xsl:value-of select='concat(position(), \"/\", last(), current())'/> </xsl:for-each>\
                   <xsl:value-of select='name(*)'/>";
    assert_eq!(at_root(content, LIST), "1/4b2/4a3/4C4/4cl");
    let nested = "<xsl:for-each select='l/i[position() &lt; 3]'><xsl:for-each select='../i[. = current()]'>\
                  <xsl:value-of select='.'/><xsl:value-of select='last()'/></xsl:for-each>\
                  <xsl:value-of select='position()'/></xsl:for-each>";
    assert_eq!(at_root(nested, LIST), "b11a12");
    assert_eq!(at_root("<xsl:for-each select='l/none'>x</xsl:for-each>.", LIST), ".");
}

#[test]
fn sort_orders_by_all_keys() {
    for (sorts, expected) in [
        ("<xsl:sort/>", "abcC"),
        ("<xsl:sort case-order='upper-first'/>", "abCc"),
        ("<xsl:sort order='descending'/>", "Ccba"),
        ("<xsl:sort select='@n'/>", "bcaC"),
        ("<xsl:sort select='@n' data-type='number'/>", "Cabc"),
        ("<xsl:sort select='@n' data-type='{\"number\"}' order='{concat(\"desc\", \"ending\")}'/>", "cbaC"),
        ("<xsl:sort select='string-length(@n)'/><xsl:sort select='.' order='descending'/>", "Cabc"),
        ("<xsl:sort select='position()' data-type='number' order='descending'/>", "cCab"),
        ("<xsl:sort select='0'/>", "baCc"),
    ] {
        let in_loop = at_root(
            &format!("<xsl:for-each select='l/i'>{sorts}<xsl:value-of select='.'/></xsl:for-each>"),
            LIST,
        );
        assert_eq!(in_loop, expected, "{sorts}");
        let applied =
            at_root(&format!("<xsl:apply-templates select='l/i'>{sorts}</xsl:apply-templates>"), LIST);
        assert_eq!(applied, expected, "{sorts}");
    }
    let kind = failure("<xsl:for-each select='l/i'><xsl:sort order='{name(/*)}'/></xsl:for-each>", LIST);
    assert_eq!(
        kind,
        TransformErrorKind::Value { attribute: "order", expected: "'ascending' or 'descending'" }
    );
}

#[test]
fn numbers_count_nodes_at_one_level_several_or_any() {
    let input = "<d><s><p/><p/><s><p/></s></s><s><p/></s></d>";
    for (attributes, expected) in [
        ("", "1;2;1;1;"),
        ("count='p'", "1;2;1;1;"),
        ("level='multiple' count='s|p' format='1.a'", "1.a;1.b;1.c.a;2.a;"),
        ("level='multiple' count='s' from='d'", "1;1;1.1;2;"),
        ("level='any'", "1;2;3;4;"),
        ("level='any' from='s'", "1;2;1;1;"),
        ("level='any' count='none'", "0;0;0;0;"),
        ("level='single' count='s' format='I'", "I;I;I;II;"),
        ("value='position() * 1000' grouping-separator=',' grouping-size='3'", "1,000;2,000;3,000;4,000;"),
        ("value='position() + 0.5' format='(A)'", "(B);(C);(D);(E);"),
    ] {
        let content = format!("<xsl:for-each select='//p'><xsl:number {attributes}/>;</xsl:for-each>");
        assert_eq!(at_root(&content, input), expected, "{attributes}");
    }
    let attributes = "<d><p i='1'/><p><q i='2'/></p></d>";
    for (count, expected) in [("", "1;1;"), ("count='*'", "2;4;"), ("count='@i|p'", "2;3;")] {
        let content =
            format!("<xsl:for-each select='//@i'><xsl:number level='any' {count}/>;</xsl:for-each>");
        assert_eq!(at_root(&content, attributes), expected, "{count}");
    }
    let middle = "<d><s/><s><s/>x</s></d>";
    let content = "<xsl:for-each select='//s/text()'><xsl:number count='s' level='multiple'/>\
        </xsl:for-each>";
    assert_eq!(at_root(content, middle), "2");
}

#[test]
fn templates_are_called_with_arguments_by_name() {
    let rules = "<xsl:template match='/'><xsl:call-template name='t'><xsl:with-param name='b' select='2'/>\
                 <xsl:with-param name='other' select='3'/></xsl:call-template></xsl:template>\
                 <xsl:template name='t'><xsl:param name='a' select='1'/><xsl:param name='b'/>\
                 <xsl:param name='c'>3<xsl:value-of select='$b'/></xsl:param>\
                 <xsl:value-of select='concat($a, $b, $c, name(*))'/></xsl:template>";
    assert_eq!(transform(rules, "<d/>"), "1232d");
}

#[test]
fn arguments_of_apply_templates_reach_every_node_but_no_built_in_rule() {
    let rules = "<xsl:template match='/'><xsl:apply-templates select='//i'>\
        <xsl:with-param name='p' select='\"!\"'/></xsl:apply-templates>\
                 <xsl:apply-templates><xsl:with-param name='p' select='\"!\"'/></xsl:apply-templates>\
                 </xsl:template>\
                 <xsl:template match='i'><xsl:param name='p' select='\"?\"'/>\
                 <xsl:value-of select='concat(., $p)'/></xsl:template>";
    assert_eq!(transform(rules, LIST), "b!a!C!c!b?a?C?c?");
}

#[test]
fn recursion_computes() {
    let rules = "<xsl:template match='/'><xsl:call-template name='f'>\
        <xsl:with-param name='n' select='10'/></xsl:call-template></xsl:template>\
                 <xsl:template name='f'><xsl:param name='n'/><xsl:choose>\
                 <xsl:when test='$n &lt; 2'>1</xsl:when><xsl:otherwise>\
                 <xsl:variable name='rest'><xsl:call-template name='f'>\
                 <xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:variable>\
                 <xsl:value-of select='$n * $rest'/></xsl:otherwise></xsl:choose></xsl:template>";
    assert_eq!(transform(rules, "<d/>"), "3628800");
}

#[test]
fn messages_reach_the_host_and_can_end_the_transformation() {
    let run = |content: &str| {
        let source = stylesheet(&format!("<xsl:template match='/'>{content}</xsl:template>"));
        let compiled = Stylesheet::compile(source.as_bytes(), &CompileOptions::default()).unwrap();
        let input = compiled.parse(LIST.as_bytes(), &Limits::default()).unwrap();
        let mut messages: Vec<String> = Vec::new();
        let result =
            compiled.transform(input, &Parameters::new(), &TransformLimits::default(), &mut messages);
        (messages, result.map(|output| output.bytes).map_err(|error| error.kind))
    };
    let (messages, result) = run("<xsl:message>a<e>b</e><xsl:value-of select='//i'/></xsl:message><e/>");
    assert_eq!((&*messages, result), (&["abb".to_owned()][..], Ok(b"<e/>".to_vec())));
    let (messages, result) = run("<xsl:message terminate='yes'>end</xsl:message><e/>");
    assert_eq!((&*messages, result), (&["end".to_owned()][..], Err(TransformErrorKind::Terminated)));
    let (messages, _) = run(&format!("<xsl:message>{}</xsl:message>", "é".repeat(MESSAGE_BYTES)));
    assert_eq!(messages[0].len(), MESSAGE_BYTES);
    let (messages, _) = run(&format!("<xsl:message>x{}</xsl:message>", "é".repeat(MESSAGE_BYTES)));
    assert_eq!(messages[0].len(), MESSAGE_BYTES - 1, "cut between characters");
}

#[test]
fn a_template_that_is_called_must_exist() {
    let error = refusal("<xsl:template match='/'><xsl:call-template name='none'/></xsl:template>");
    assert!(error.to_string().contains("there is no template 'none'"), "{error}");
}

#[test]
fn parameters_of_the_host_come_before_defaults() {
    let source = stylesheet(
        "<xsl:param name='a' select='1'/><xsl:param name='b'>x</xsl:param>\
            <xsl:variable name='c' select='$a + 1'/>\
         <xsl:template match='/'><xsl:value-of select='concat($a, $b, $c)'/></xsl:template>",
    );
    let mut parameters = Parameters::new();
    assert_eq!(run(&source, "<d/>", &parameters, &TransformLimits::default()).unwrap(), "1x2");
    parameters.set("", "a", portcullis_xslt::Parameter::Number(5.0));
    parameters.set("", "b", portcullis_xslt::Parameter::String("<&".into()));
    parameters.set("", "c", portcullis_xslt::Parameter::Boolean(true));
    let found = run(&source, "<d/>", &parameters, &TransformLimits::default()).unwrap();
    assert_eq!(found, "5&lt;&amp;6", "no variable is the host's to set");
}
