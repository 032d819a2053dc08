//! Where memory grows.

use portcullis_xslt::Bound;

/// A place where memory grows.
pub(crate) struct Site {
    pub(crate) name: &'static str,
    /// What ends the transformation within the limits that nothing is configured for.
    pub(crate) bound: Option<Bound>,
    /// What the stylesheet says.
    pub(crate) rules: fn() -> String,
    /// A message of about so many bytes.
    pub(crate) message: fn(usize) -> String,
}

/// A template for the root with this content.
fn at_root(content: &str) -> String {
    format!("<xsl:template match='/'>{content}</xsl:template>")
}

/// An expression that is evaluated at the root.
fn value(expression: &str) -> String {
    at_root(&format!("<xsl:value-of select=\"{expression}\"/>"))
}

/// Many elements with an attribute of one value.
fn elements(bytes: usize) -> String {
    format!("<a>{}</a>", "<b k='1'/>".repeat(bytes / 10))
}

/// One text.
fn text(bytes: usize) -> String {
    format!("<a>{}</a>", "x".repeat(bytes))
}

/// One attribute that is as long as may be.
fn attribute(_: usize) -> String {
    format!("<a long='{}'/>", "0".repeat(65_000))
}

/// An element with many namespaces, and others within it.
fn namespaces(_: usize) -> String {
    let declarations: String = (0..120).map(|number| format!(" xmlns:p{number}='urn:{number}'")).collect();
    format!("<a{declarations}>{}</a>", "<b/>".repeat(1000))
}

/// A template that calls itself, `$n` times by now, around this content.
fn recursion(content: &str) -> String {
    format!(
        "<xsl:template match='/' name='t'><xsl:param name='n' select='0'/>{content}<xsl:call-template name='t'>\
         <xsl:with-param name='n' select='$n + 1'/></xsl:call-template>.</xsl:template>"
    )
}

fn nested(start: &str, end: &str, times: usize, content: &str) -> String {
    format!("{}{content}{}", start.repeat(times), end.repeat(times))
}

const CALL: &str = "<xsl:call-template name='t'/>.";

pub(crate) const SITES: &[Site] = &[
    Site {
        name: "key() of nodes",
        bound: None,
        rules: || "<xsl:key name='k' match='b' use='@k'/>".to_owned() + &value("count(key('k', //@k))"),
        message: elements,
    },
    Site {
        name: "key() of other values",
        bound: None,
        rules: || {
            "<xsl:key name='k' match='b' use='@k'/><xsl:key name='k' match='b' use='@k | ../@k'/>".to_owned()
                + &value("count(key('k', //b/@k | //b))")
        },
        message: |bytes| {
            let elements: String = (0..bytes / 16).map(|number| format!("<b k='{number}'/>")).collect();
            format!("<a>{elements}</a>")
        },
    },
    Site {
        name: "key tables",
        bound: Some(Bound::TemporaryBytes),
        rules: || "<xsl:key name='k' match='b' use='//@k'/>".to_owned() + &value("count(key('k', '1'))"),
        message: |bytes| {
            let elements: String = (0..bytes / 16).map(|number| format!("<b k='{number}'/>")).collect();
            format!("<a>{elements}</a>")
        },
    },
    Site {
        name: "unions",
        bound: Some(Bound::TemporaryBytes),
        rules: || value(&format!("count({})", ["//node() | //@*"; 100].join(" | "))),
        message: elements,
    },
    Site {
        name: "steps",
        bound: None,
        rules: || {
            value(
                "count(//b[position() &gt; 2]/@k/ancestor-or-self::node()/node()/preceding::b/following-sibling::b)",
            )
        },
        message: elements,
    },
    Site {
        name: "siblings",
        bound: None,
        rules: || value("count(//b/preceding-sibling::b/following-sibling::*)"),
        message: elements,
    },
    Site {
        name: "predicates in predicates",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let mut expression = "//b".to_owned();
            for _ in 0..20 {
                expression = format!("//b[position() = last()][count({expression}) &gt; 0]");
            }
            value(&format!("count({expression})"))
        },
        message: elements,
    },
    Site {
        name: "comparisons",
        bound: None,
        rules: || value("//b/@k != //b/@k or //b = //@k"),
        message: elements,
    },
    Site {
        name: "concat()",
        bound: Some(Bound::TemporaryBytes),
        rules: || value(&format!("string-length(concat({}))", ["/"; 100].join(", "))),
        message: text,
    },
    Site {
        name: "texts in texts",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let mut expression = "/".to_owned();
            for _ in 0..6 {
                expression = format!("concat({expression}, {expression})");
            }
            value(&format!("string-length({expression})"))
        },
        message: text,
    },
    Site {
        name: "translate()",
        bound: Some(Bound::TemporaryBytes),
        rules: || value("string-length(translate(concat(/, /, /, /, /, /, /, /), 'x', '\u{10000}'))"),
        message: text,
    },
    Site {
        name: "translate() of many",
        bound: None,
        rules: || value("string-length(translate('x', concat(/, /), /))"),
        message: |bytes| format!("<a>{}</a>", "\u{4e00}\u{4e01}\u{4e02}".repeat(bytes / 9)),
    },
    Site {
        name: "substrings",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let part = "substring(concat(/, /, /, '!'), 2)";
            let space = "normalize-space(concat(' ', /, /))";
            value(&format!(
                "string-length(concat({part}, {space}, {part}, {space}, {part}, {space}, {part}, {space}))"
            ))
        },
        message: text,
    },
    Site {
        name: "format-number()",
        bound: Some(Bound::TemporaryBytes),
        rules: || value("string-length(format-number(1, concat(/, /, /, /, /, /, /, /)))"),
        message: |bytes| format!("<a>{}</a>", "0".repeat(bytes)),
    },
    Site {
        name: "attribute value templates",
        bound: Some(Bound::TemporaryBytes),
        rules: || at_root(&format!("<e a='{}'/>", "{/}".repeat(1000))),
        message: text,
    },
    Site {
        name: "attributes",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            at_root(&format!(
                "<e><xsl:attribute name='a'>{}</xsl:attribute></e>",
                "<xsl:value-of select='/'/>".repeat(1000)
            ))
        },
        message: text,
    },
    Site {
        name: "comments",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            at_root(&format!("<xsl:comment>{}</xsl:comment>", "<xsl:value-of select='/'/>".repeat(1000)))
        },
        message: text,
    },
    Site {
        name: "messages",
        bound: Some(Bound::Nodes),
        rules: || {
            at_root(&format!("<xsl:message>{}</xsl:message>", "<xsl:copy-of select='/'/>".repeat(1000)))
        },
        message: elements,
    },
    Site {
        name: "targets",
        bound: Some(Bound::TemporaryBytes),
        rules: || at_root(&format!("<xsl:processing-instruction name='{}'/>", "{/}".repeat(1000))),
        message: text,
    },
    Site {
        name: "variables of text",
        bound: Some(Bound::TemporaryBytes),
        rules: || recursion("<xsl:variable name='v' select='concat(/, $n)'/>"),
        message: text,
    },
    Site {
        name: "variables of nodes",
        bound: Some(Bound::TemporaryBytes),
        rules: || recursion("<xsl:variable name='v' select='//b[$n &lt; 9999999]'/>"),
        message: elements,
    },
    Site {
        name: "variables without number",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let variables: String =
                (0..500).map(|number| format!("<xsl:variable name='v{number}' select='1'/>")).collect();
            format!("<xsl:template match='/' name='t'>{CALL}{variables}</xsl:template>")
        },
        message: elements,
    },
    Site {
        name: "global variables",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let variables: String = (0..100)
                .map(|number| format!("<xsl:variable name='v{number}' select='concat(/, {number})'/>"))
                .collect();
            let all: String = (0..100)
                .map(|number| format!("<xsl:value-of select='string-length($v{number})'/>"))
                .collect();
            variables + &at_root(&all)
        },
        message: text,
    },
    Site {
        name: "arguments",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            "<xsl:template match='/' name='t'><xsl:param name='p'/><xsl:call-template name='t'>\
             <xsl:with-param name='p' select='concat(/, 1)'/></xsl:call-template>.</xsl:template>"
                .to_owned()
        },
        message: text,
    },
    Site {
        name: "arguments for many",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            "<xsl:template match='/|a|b'><xsl:param name='p'/><xsl:apply-templates select='/'>\
             <xsl:with-param name='p' select='concat(/, 1)'/></xsl:apply-templates>.</xsl:template>"
                .to_owned()
        },
        message: text,
    },
    Site {
        name: "trees of text",
        bound: Some(Bound::TemporaryBytes),
        rules: || recursion("<xsl:variable name='v'><xsl:value-of select='/'/></xsl:variable>"),
        message: text,
    },
    Site {
        name: "trees of elements",
        bound: Some(Bound::Nodes),
        rules: || recursion("<xsl:variable name='v'><xsl:copy-of select='/'/></xsl:variable>"),
        message: elements,
    },
    Site {
        name: "trees of namespaces",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            recursion(
                "<xsl:variable name='v'><xsl:for-each select='//b'><xsl:copy/></xsl:for-each></xsl:variable>",
            )
        },
        message: namespaces,
    },
    Site {
        name: "trees in trees",
        bound: Some(Bound::Nodes),
        rules: || {
            let tree =
                nested("<xsl:variable name='v'><e>", "</e></xsl:variable>", 40, "<xsl:copy-of select='/'/>");
            format!("<xsl:template match='/'>{tree}</xsl:template>")
        },
        message: elements,
    },
    Site {
        name: "captures in captures",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let capture = nested("<xsl:variable name='v'>", "</xsl:variable>", 90, CALL);
            format!("<xsl:template match='/' name='t'>{capture}</xsl:template>")
        },
        message: elements,
    },
    Site {
        name: "loops in loops",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let loops = nested("<xsl:for-each select='.'>", "</xsl:for-each>", 90, CALL);
            format!("<xsl:template match='/' name='t'>{loops}</xsl:template>")
        },
        message: elements,
    },
    Site {
        name: "lists of loops",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            "<xsl:template match='/|b' name='t'><xsl:for-each select='//b'><xsl:call-template name='t'/>.\
                   </xsl:for-each></xsl:template>"
                .to_owned()
        },
        message: elements,
    },
    Site {
        name: "lists of applications",
        bound: Some(Bound::TemporaryBytes),
        rules: || "<xsl:template match='/|b'><xsl:apply-templates select='//b'/>.</xsl:template>".to_owned(),
        message: elements,
    },
    Site {
        name: "open elements",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let elements = nested("<e>", "</e>", 90, CALL);
            format!("<xsl:template match='/' name='t'>{elements}</xsl:template>")
        },
        message: elements,
    },
    Site {
        name: "sort keys of text",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            at_root("<xsl:for-each select='//a'><xsl:sort/><xsl:sort select='concat(., .)'/></xsl:for-each>")
        },
        message: |bytes| format!("{}{}{}", "<a>".repeat(200), "x".repeat(bytes), "</a>".repeat(200)),
    },
    Site {
        name: "sort keys of numbers",
        bound: Some(Bound::TemporaryBytes),
        rules: || {
            let sorts = "<xsl:sort select='@k' data-type='number'/>".repeat(40);
            at_root(&format!("<xsl:for-each select='//b'>{sorts}<xsl:if test='0'/></xsl:for-each>"))
        },
        message: elements,
    },
    Site {
        name: "names",
        bound: Some(Bound::OutputBytes),
        rules: || recursion("<xsl:element name='{concat(\"e\", $n, \"-\", a/@long)}'/>"),
        message: |_| format!("<a long='{}'/>", "n".repeat(60_000)),
    },
    Site {
        name: "formats of numbers",
        bound: Some(Bound::TemporaryBytes),
        rules: || at_root(&format!("<xsl:number value='1' format='{}'/>", "{a/@long}".repeat(100))),
        message: |_| format!("<a long='{}'/>", "1.".repeat(32_000)),
    },
    Site {
        name: "numbers",
        bound: None,
        rules: || {
            at_root(
                "<xsl:number value='1' format='{a/@long}' grouping-size='1' grouping-separator='{a/@long}'/>",
            )
        },
        message: attribute,
    },
    Site {
        name: "patterns",
        bound: Some(Bound::Steps),
        rules: || "<xsl:template match='b[position() &gt; 1][last() &gt; 1]'/>".to_owned(),
        message: elements,
    },
    Site {
        name: "output",
        bound: Some(Bound::OutputBytes),
        rules: || at_root(&"<xsl:copy-of select='/'/>".repeat(64)),
        message: elements,
    },
    Site {
        name: "output with indentation",
        bound: Some(Bound::OutputBytes),
        rules: || {
            "<xsl:output indent='yes'/>".to_owned() + &at_root(&"<e><xsl:copy-of select='/'/></e>".repeat(64))
        },
        message: elements,
    },
    Site {
        name: "output of text",
        bound: Some(Bound::OutputBytes),
        rules: || {
            "<xsl:output method='text'/>".to_owned() + &at_root(&"<xsl:copy-of select='/'/>".repeat(64))
        },
        message: text,
    },
    Site {
        name: "namespaces of the output",
        bound: Some(Bound::OutputBytes),
        rules: || {
            "<xsl:template match='/'><e><xsl:for-each select='//b'><xsl:copy/></xsl:for-each></e></xsl:template>".to_owned()
        },
        message: namespaces,
    },
];
