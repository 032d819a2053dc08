//! What is not accepted, and what people are told about it.

use portcullis_xml::xpath::stream::StreamExpression;

use crate::support::{expression, xpath};

#[test]
fn says_what_cannot_be_streamed_and_what_to_write_instead() {
    let looks_back = "it asks for what has gone by and is not kept";
    let any_depth =
        "it selects at any depth, within what it has selected already, so that every token stays a candidate";
    let content = "what an element contains comes after its start tag, where the predicate is decided";
    let kept = "it selects from nodes that would have to be kept";
    let computes =
        "it is not one of string(), normalize-space(), boolean(), not(), starts-with() and contains()";
    for (text, construct, reason, instead) in [
        ("//a", "`//` (the axes descendant and descendant-or-self)", any_depth, "as in /a/b/c"),
        ("/a//b", "`//` (the axes descendant and descendant-or-self)", any_depth, "as in /a/b/c"),
        ("/a//@b", "`//` (the axes descendant and descendant-or-self)", any_depth, "as in /a/b/c"),
        ("/a/..", "`..` (the axis parent)", looks_back, "as in /a/b/c"),
        ("/a/ancestor::b", "the axis ancestor", looks_back, "as in /a/b/c"),
        ("/a/ancestor-or-self::b", "the axis ancestor-or-self", looks_back, "as in /a/b/c"),
        ("/a/preceding::b", "the axis preceding", looks_back, "whole document"),
        ("/a/preceding-sibling::b", "the axis preceding-sibling", looks_back, "whole document"),
        ("/a/following::b", "the axis following", "it selects at any depth", "as in /a/b/c"),
        (
            "/a/following-sibling::b",
            "the axis following-sibling",
            "which siblings count depends on what has gone by",
            "as in /a/b[2]",
        ),
        ("/a/self::b", "a test on `.`", "only `.` itself is a step that can be left out", "as in /a/b/c"),
        (
            "a/b",
            "a path that does not begin with `/`",
            "the whole document is the context",
            "begin it with `/`",
        ),
        (
            ".",
            "a path that does not begin with `/`",
            "the whole document is the context",
            "begin it with `/`",
        ),
        ("string()", "a path that does not begin with `/`", "the whole document is the context", "begin it"),
        ("/", "`/` alone", "it selects the whole document", "as in /*"),
        ("(/a/b)[1]", "a predicate on an expression in parentheses", kept, "put it into the step"),
        ("(/a/b)[1]/c", "a path that begins with an expression", kept, "begin it with `/`"),
        (
            "/a | /b",
            "`|`",
            "which of its nodes comes first is known only when all paths are decided",
            "each path",
        ),
        (
            "/a/node()/b",
            "`node()`, `text()` and the like before the last step",
            "only elements have children and attributes",
            "write `*` in its place",
        ),
        (
            "/a/@b/c",
            "`@` before the last step",
            "an attribute has neither children nor attributes",
            "last step",
        ),
        ("/@b", "an attribute of `/`", "the document has none", "as in /a/@b"),
        (
            "/a/@b[. = 'c']",
            "a predicate on an attribute",
            "attributes have no order to count in",
            "[@b = 'c']",
        ),
        ("/a/@text()", "`text()` or the like of an attribute", "attributes are attributes", "as in @a"),
        ("/a/b[last()]", "last()", "how many there are is known at the parent's end only", "as in [1]"),
        (
            "/a/b[position() = last() - 1]",
            "a comparison of two such operands",
            "one side of it",
            "/a/b = 'c'",
        ),
        ("/a/b[position() mod 2 = 1]", "arithmetic", "nothing is computed on a stream", "whole document"),
        ("/a[b]", "a predicate that tests other nodes than attributes", content, "/a/b = 'c'"),
        ("/a[b = 'c']/d", "a predicate that tests other nodes than attributes", content, "/a/b = 'c'"),
        ("/a[. = 'c']", "a predicate that tests other nodes than attributes", content, "/a/b = 'c'"),
        ("/a[text()]", "a predicate that tests other nodes than attributes", content, "/a/b = 'c'"),
        ("/a[b/@c]", "a predicate that tests other nodes than attributes", content, "/a/b = 'c'"),
        ("/a[/b/@c]", "a path that begins with `/` in a predicate", "it is another path", "two expressions"),
        ("/a[@b = @c]", "a comparison of two such operands", "one side of it", "/a/b = 'c'"),
        ("/a/b = /a/c", "a comparison of two such operands", "one side of it", "/a/b = 'c'"),
        ("/a/b + 1 = 2", "arithmetic", "nothing is computed on a stream", "whole document"),
        ("-/a/b", "arithmetic", "nothing is computed on a stream", "whole document"),
        (
            "count(/a/b)",
            "count()",
            "it needs every node that the path selects, not the first",
            "whole document",
        ),
        (
            "sum(/a/b) > 5",
            "sum()",
            "it needs every node that the path selects, not the first",
            "whole document",
        ),
        ("number(/a/b) > 5", "number()", computes, "as in /a/b > 5"),
        ("substring(/a/b, 2) = 'c'", "substring()", computes, "whole document"),
        ("concat(/a/b, /a/c)", "concat()", computes, "whole document"),
        ("string-length(/a/b) > 5", "string-length()", computes, "whole document"),
        ("/*[local-name() = 'a']", "local-name()", "names are tested in steps only", "/p:a/p:b"),
        ("local-name(/*) = 'a'", "local-name()", "names are tested in steps only", "/p:a/p:b"),
        ("namespace-uri(/*) = 'a'", "namespace-uri()", "names are tested in steps only", "/p:a/p:b"),
        ("/a[lang('en')]", "lang()", "it asks for attributes of all ancestors", "whole document"),
        ("contains(/a, /b)", "a text to look for that depends on the document", "its second", "starts-with"),
        ("contains(/a = 'b', 'true')", "a condition", "a string is wanted here", "write the condition alone"),
        ("string(/a = 'b')", "a condition", "a string is wanted here", "write the condition alone"),
        ("string(not(/a)) = 'true'", "not()", "it is a boolean, where a string is wanted", "whole document"),
        ("not(/a) = 'true'", "a comparison with a boolean", "only strings and numbers", "the boolean alone"),
        ("(/a = 'b') = 1", "a comparison with a boolean", "only strings and numbers", "the boolean alone"),
    ] {
        let refusal = StreamExpression::compile(&xpath(text)).expect_err(text);
        assert_eq!(refusal.construct(), construct, "{text}");
        assert!(refusal.reason().starts_with(reason), "{text}: {}", refusal.reason());
        assert!(refusal.instead().contains(instead), "{text}: {}", refusal.instead());
    }
}

#[test]
fn says_it_in_one_sentence() {
    let refusal = StreamExpression::compile(&xpath("/a/b[last()]")).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "last() cannot be evaluated on a stream: how many there are is known at the parent's end only; \
         count positions from the front, as in [1]"
    );
}

#[test]
fn accepts_the_subset() {
    for text in [
        "/a",
        "/*",
        "/p:*/p:a/*",
        "/./a/././b",
        "/child::a/child::b",
        "/a/@b",
        "/a/@*",
        "/a/@p:*",
        "/a/@node()",
        "/a/text()",
        "/a/text()[2]",
        "/a/node()",
        "/a/comment()",
        "/comment()",
        "/a/processing-instruction()",
        "/a/processing-instruction('t')",
        "/a[@b]/c[@d = 'e'][2]",
        "/a[not(@b) and (@c != 'd' or @e > -1)]",
        "/a[starts-with(@b, 'c') or contains(normalize-space(@d), 'e') or string(@f)]",
        "/a[position() < 3 and @b][position() != 1]",
        "/a[2 >= position()]",
        "/a[0]",
        "string(/a/b)",
        "normalize-space(string(/a/b))",
        "boolean(/a/b)",
        "not(/a/b) and (/a/c or /a/@d = 'e')",
        "/a/b = 'c'",
        "'c' != /a/b",
        "/a/b >= 5",
        "-5 < /a/b",
        "string(/a/b) = 'c'",
        "normalize-space(/a/b) = 'c'",
        "starts-with(/a/b, 'c')",
        "contains(normalize-space(/a/b), 'c')",
        "true()",
    ] {
        expression(text);
    }
}
