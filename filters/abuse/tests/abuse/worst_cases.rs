//! The most work that a byte can cause: regular expressions, XPath expressions and stylesheets that are slow, with input
//! that makes them so. Each is bounded, the VM lives, and the worker serves the next request. What the work is bounded
//! by is held against counts of steps in the tests of `filters/xml`, `filters/xslt` and `filters/conditions`.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::GOOD;
use portcullis_testkit::envoy::{Envoy, EnvoyConfig, Http};
use serde_json::{Value, json};

fn router(rules: &[Value]) -> Value {
    json!({"content-router": {"rules": rules, "default": {"route": "other"}, "body": {"xpath": "buffered"}}})
}

fn by_regex(header: &str, expression: &str) -> Value {
    json!({"when": {"header": {"name": header, "value": {"matches": expression}}}, "then": {"route": "matched"}})
}

/// Expressions that take a backtracking engine for ever, each with a text that almost matches.
#[test]
fn regular_expressions_take_time_in_proportion_to_the_text() {
    let cases = [
        ("(a+)+", "a", "!"),
        ("(a|aa)+", "a", "!"),
        ("(a|a)*b", "a", "c"),
        ("([a-z]+)*[0-9]", "a", "!"),
        ("(.*)*x", "a", "y"),
        ("(x+x+)+y", "x", "z"),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", "a", "!"),
        (".*a.{0,100}b", "a", "c"),
        ("(?:a?){60}a{60}", "a", "b"),
    ];
    let rules: Vec<Value> = cases
        .iter()
        .enumerate()
        .flat_map(|(at, (expression, ..))| {
            let json = json!({"pointer": format!("/{at}"), "value": {"matches": expression}});
            let header = format!("x-{at}");
            // The body is looked at in the requests of this case only.
            let by_json = json!({"when": {"all": [{"method": ["POST"]}, {"header": {"name": header}}, {"json": json}]},
                "then": {"route": "matched"}});
            [by_regex(&header, expression), by_json]
        })
        .collect();
    let gateway = Gateway::start(&[router(&rules)]);
    for (at, (expression, repeated, end)) in cases.iter().enumerate() {
        let (text, header) = (repeated.repeat(50_000) + end, format!("x-{at}"));
        for http in Http::BOTH {
            let status = http.get(gateway.addr(), "/", &[(&header, text.as_bytes())]).status;
            assert_eq!(status, 200, "{http:?} {expression}");
            let body = format!("{{\"{at}\":\"{text}\"}}");
            let headers = [("content-type", &b"application/json"[..]), (&header, b"!")];
            let status = http.request(gateway.addr(), "POST", "/", &headers, body.as_bytes()).status;
            assert_eq!(status, 200, "{http:?} {expression}");
            for message in gateway.upstream.take() {
                assert_eq!(
                    message.text("x-portcullis-route").as_deref(),
                    Some("other"),
                    "{http:?} {expression}"
                );
            }
        }
    }
    gateway.assert_sound();
}

/// docs/content-router.md: what needs more memory than an expression may have is refused with the configuration, and so
/// is what needs a backtracking engine.
#[test]
fn expressions_that_would_take_too_much_are_refused_with_the_configuration() {
    for expression in ["((a{10}){10}){10}{10}", "(a)\\1", &"a".repeat(5000)] {
        let plugin = portcullis_abuse::gateway::plugin(&[router(&[by_regex("x", expression)])]);
        let Err(error) = Envoy::try_start(&EnvoyConfig::new().filter(plugin)) else { panic!("{expression}") };
        let refusal = "configuration refused: policies[0].content-router.rules[0]";
        assert!(error.log.contains(refusal), "{expression} {error}");
        // The message shows no value, here as everywhere.
        assert!(!error.log.contains(expression), "{expression} {error}");
    }
}

/// Expressions on a whole document that look at every node for every node.
#[test]
fn slow_xpath_is_given_up_on_and_the_worker_goes_on() {
    let document = format!("<a>{}</a>", "<b><c>1</c></b>".repeat(20_000));
    let expressions = [
        "count(//b[count(//c) > 0]) > 0",
        "count(//b[preceding::c]) > 0",
        "//b[not(following::b[not(following::b)])]",
        "//*[//*[//*[//*]]]/@x",
        "sum(//c[../preceding-sibling::b]) > 0",
        "contains(string(//b[last()]/preceding::*[last()]), 'x')",
        "count(//node()/ancestor-or-self::node()/descendant::node()) > 1",
        "//b = //c",
    ];
    let rule = |(at, expression): (usize, &&str)| {
        let header = json!({"header": {"name": format!("x-{at}")}});
        json!({"when": {"all": [header, {"xpath": {"expression": expression}}]}, "then": {"route": "slow"}})
    };
    let rules: Vec<Value> = expressions.iter().enumerate().map(rule).collect();
    let gateway = Gateway::start(&[router(&rules)]);
    for (at, expression) in expressions.iter().enumerate() {
        let header = format!("x-{at}");
        let headers = [("content-type", &b"text/xml"[..]), (&header, b"1")];
        for http in Http::BOTH {
            let response = http.request(gateway.addr(), "POST", "/", &headers, document.as_bytes());
            // Some are decided within the steps that there are; the others are too much.
            assert!([200, 413].contains(&response.status), "{http:?} {expression} {response:?}");
            let passed = gateway.upstream.take().len();
            assert_eq!(passed, usize::from(response.status == 200), "{http:?} {expression}");
            let response = http.request(gateway.addr(), "POST", "/", &headers, b"<a/>");
            assert_eq!(response.status, 200, "{http:?} {expression} {response:?}");
            gateway.upstream.take();
        }
    }
    let given_up = gateway.envoy.counter("wasmcustom.portcullis.content_router.too_large");
    assert!(given_up >= 2, "{given_up} expressions were given up on");
    gateway.assert_sound();
}

/// A message that has one value 90,000 times, for a stylesheet that looks all of them up, with as many steps as may be.
#[test]
fn a_value_that_is_looked_up_often_takes_no_more_memory() {
    let stylesheet = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
        <xsl:key name='k' match='b' use='@k'/>\
        <xsl:template match='/'><r><xsl:value-of select=\"count(key('k', //@k))\"/></r></xsl:template>\
        </xsl:stylesheet>";
    let policy = json!({"xslt-transform": {
        "request": {"stylesheet": {"inline": stylesheet}}, "limits": {"max_steps": 1_000_000_000},
    }});
    let gateway = Gateway::start(&[policy]);
    let document = format!("<a>{}</a>", "<b k='1'/>".repeat(90_000));
    for http in Http::BOTH {
        let headers = [("content-type", &b"text/xml"[..])];
        let response = http.request(gateway.addr(), "POST", "/", &headers, document.as_bytes());
        assert_eq!(response.status, 200, "{http:?} {response:?}");
        let passed = gateway.upstream.take();
        assert!(passed[0].body.ends_with(b"<r>90000</r>"), "{http:?}");
    }
    gateway.assert_sound();
}

/// Templates that would never end, or grow without end, and documents that make them.
const TEMPLATES: &str = "\
<xsl:template match='/a'><a/></xsl:template>\
<xsl:template match='/self'><xsl:call-template name='self'/></xsl:template>\
<xsl:template name='self'><xsl:call-template name='self'/></xsl:template>\
<xsl:template match='/twice'><xsl:call-template name='twice'/></xsl:template>\
<xsl:template name='twice'><xsl:param name='n' select='60'/><xsl:if test='$n &gt; 0'>\
<xsl:call-template name='twice'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template>\
<xsl:call-template name='twice'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>\
<xsl:template match='/pairs'><r><xsl:for-each select='//b'>\
<xsl:value-of select='count(//b[. = current()])'/></xsl:for-each></r></xsl:template>\
<xsl:template match='/doubles'><r><xsl:call-template name='doubles'/></r></xsl:template>\
<xsl:template name='doubles'><xsl:param name='s' select=\"'0123456789'\"/>\
<xsl:call-template name='doubles'><xsl:with-param name='s' select='concat($s, $s)'/></xsl:call-template></xsl:template>\
<xsl:template match='/copies'><r><xsl:for-each select='//b'><xsl:copy-of select='/'/></xsl:for-each></r></xsl:template>\
<xsl:template match='/sorts'><r><xsl:for-each select='//b'>\
<xsl:sort select='count(preceding::b)' data-type='number'/><x/></xsl:for-each></r></xsl:template>\
<xsl:template match='/numbers'><r><xsl:for-each select='//b'><xsl:number level='any'/></xsl:for-each></r></xsl:template>\
<xsl:template match='/translates'><r><xsl:value-of select='translate(., ., .)'/></r></xsl:template>";

#[test]
fn stylesheets_that_would_not_end_are_ended_and_the_worker_goes_on() {
    let stylesheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{TEMPLATES}</xsl:stylesheet>"
    );
    let policy = json!({"xslt-transform": {
        "request": {"stylesheet": {"inline": stylesheet}}, "limits": {"max_steps": 2_000_000},
    }});
    let gateway = Gateway::start(&[policy]);
    let headers = [("content-type", &b"text/xml"[..])];
    for (root, content, is_endless) in [
        ("self", String::new(), true),
        ("twice", String::new(), true),
        ("pairs", "<b>x</b>".repeat(20_000), true),
        ("doubles", String::new(), true),
        ("copies", "<b>x</b>".repeat(5_000), true),
        ("sorts", "<b>x</b>".repeat(20_000), true),
        ("numbers", "<b>x</b>".repeat(40_000), false),
        ("translates", "abcdefgh".repeat(60_000), false),
    ] {
        let document = format!("<{root}>{content}</{root}>");
        for http in Http::BOTH {
            let response = http.request(gateway.addr(), "POST", "/", &headers, document.as_bytes());
            assert!([200, 500].contains(&response.status), "{http:?} {root} {response:?}");
            assert!(response.status == 500 || !is_endless, "{http:?} {root} {response:?}");
            assert_eq!(gateway.upstream.take().len(), usize::from(response.status == 200), "{http:?} {root}");
            assert_eq!(
                http.request(gateway.addr(), "POST", "/", &headers, b"<a/>").status,
                200,
                "{http:?} {root}"
            );
            assert_eq!(http.get(gateway.addr(), "/", &GOOD).status, 200, "{http:?} {root}");
            gateway.upstream.take();
        }
    }
    gateway.assert_sound();
}
