//! What takes long takes many steps.

use portcullis_xslt::{Bound, TransformErrorKind, TransformLimits};

use crate::support::within;

#[track_caller]
fn takes_more_than(steps: u64, content: &str, input: &str) {
    let rules = format!("<xsl:template match='/'>{content}</xsl:template>");
    let limits = TransformLimits { steps, ..TransformLimits::default() };
    let kind = within(&rules, input, &limits).unwrap_err().kind;
    assert_eq!(kind, TransformErrorKind::LimitExceeded(Bound::Steps, steps), "{content}");
}

fn many() -> String {
    format!("<a f='{}'>{}</a>", "1.".repeat(1000), "<b/>".repeat(1000))
}

#[test]
fn formats_of_numbers_that_are_read_each_time() {
    takes_more_than(
        1_500_000,
        "<xsl:for-each select='//b'><xsl:number value='1' format='{/a/@f}'/></xsl:for-each>",
        &many(),
    );
}

#[test]
fn formats_of_numbers_that_the_stylesheet_says_are_read_once() {
    let rules = format!(
        "<xsl:template match='b'><xsl:number value='1' format='{}'/></xsl:template>",
        "1.".repeat(1000)
    );
    let limits = TransformLimits { steps: 20_000, ..TransformLimits::default() };
    assert_eq!(within(&rules, &many(), &limits).unwrap(), "1.".repeat(1000));
}

#[test]
fn namespaces_that_are_copied() {
    let declarations: String = (0..100).map(|number| format!(" xmlns:p{number}='urn:{number}'")).collect();
    let input = format!("<a{declarations}>{}</a>", "<b xmlns:q='urn:q'/><c/>".repeat(500));
    for content in ["<xsl:copy/>", "<xsl:copy-of select='.'/>"] {
        takes_more_than(
            50_000,
            &format!(
                "<xsl:for-each select='*/*'><xsl:variable name='v'>{content}</xsl:variable></xsl:for-each>"
            ),
            &input,
        );
    }
}

#[test]
fn sets_of_texts_that_are_compared() {
    let numbers = |from: u32| (from..from + 1000).map(|n| format!("<b>{n}</b>")).collect::<String>();
    let input = format!("<a>{}<c>{}</c></a>", numbers(0), numbers(1000));
    takes_more_than(8_000, "<xsl:value-of select='/a/b = /a/c/b'/>", &input);
}

#[test]
fn temporary_trees_that_are_built() {
    let input = format!("<a>{}</a>", "<b/>".repeat(1000));
    takes_more_than(
        90_000,
        "<xsl:variable name='v'><xsl:copy-of select='/'/></xsl:variable>\
         <xsl:for-each select='//b[position() &lt; 50]'>\
         <xsl:variable name='w'><xsl:copy-of select='$v'/></xsl:variable></xsl:for-each>",
        &input,
    );
}
