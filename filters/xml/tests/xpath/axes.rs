//! Section 2.2, the axes, and section 2.3, node tests.

use crate::support::{check, eval_from, parse};

const TREE: &str = "<a i='1' j='2'><b><c k='3'/><d>t</d></b><!--n--><e><?x y?><f/><g><h/></g></e></a>";

#[test]
fn axes_select_in_document_order() {
    let document = parse(TREE);
    for (from, axis, expected) in [
        ("//e", "child::node()", "<?x?> f g"),
        ("//e", "descendant::node()", "<?x?> f g h"),
        ("//e", "descendant-or-self::node()", "e <?x?> f g h"),
        ("//h", "parent::node()", "g"),
        ("//h", "ancestor::node()", "/ a e g"),
        ("//h", "ancestor-or-self::node()", "/ a e g h"),
        ("//b", "following-sibling::node()", "<!--n--> e"),
        ("//e", "preceding-sibling::node()", "b <!--n-->"),
        ("//c", "following::node()", "d 't' <!--n--> e <?x?> f g h"),
        ("//h", "preceding::node()", "b c d 't' <!--n--> <?x?> f"),
        ("//a", "attribute::node()", "@i @j"),
        ("//d", "self::node()", "d"),
        ("/", "child::node()", "a"),
        ("/", "parent::node()", "nothing"),
        ("/", "self::node()", "/"),
        ("/", "following::node()", "nothing"),
        ("/", "preceding::node()", "nothing"),
        ("/", "following-sibling::node()", "nothing"),
        ("/", "ancestor-or-self::node()", "/"),
        ("//d/text()", "child::node()", "nothing"),
        ("//d/text()", "descendant-or-self::node()", "'t'"),
    ] {
        assert_eq!(eval_from(&document, from, axis), expected, "{from}/{axis}");
    }
}

#[test]
fn attributes_have_parents_but_are_neither_children_nor_siblings() {
    let document = parse(TREE);
    for (axis, expected) in [
        ("parent::node()", "a; a; c"),
        ("ancestor::node()", "/ a; / a; / a b c"),
        ("ancestor-or-self::node()", "/ a @i; / a @j; / a b c @k"),
        ("self::node()", "@i; @j; @k"),
        ("descendant-or-self::node()", "@i; @j; @k"),
        ("child::node()", "nothing; nothing; nothing"),
        ("descendant::node()", "nothing; nothing; nothing"),
        ("attribute::node()", "nothing; nothing; nothing"),
        ("following-sibling::node()", "nothing; nothing; nothing"),
        ("preceding-sibling::node()", "nothing; nothing; nothing"),
        ("preceding::node()", "nothing; nothing; nothing"),
    ] {
        assert_eq!(eval_from(&document, "//@*", axis), expected, "{axis}");
    }
}

/// Section 2.2: all nodes that are after the context node in document order, but for its descendants. An element's
/// children come after its attributes, and are no descendants of them.
#[test]
fn what_follows_an_attribute_begins_with_the_content_of_its_element() {
    let document = parse(TREE);
    assert_eq!(eval_from(&document, "//@j", "following::*"), "b c d e f g h");
    assert_eq!(eval_from(&document, "//@k", "following::*"), "d e f g h");
}

#[test]
fn axes_from_many_nodes_select_each_node_once() {
    check(
        TREE,
        &[
            ("//*/ancestor::*", "a b e g"),
            ("//*/ancestor-or-self::*", "a b c d e f g h"),
            ("//*/parent::node()", "/ a b e g"),
            ("//*/..//*", "a b c d e f g h"),
            ("//*/descendant::*", "b c d e f g h"),
            ("//*/descendant-or-self::*", "a b c d e f g h"),
            ("//*/following::*", "d e f g h"),
            ("//*/preceding::*", "b c d f"),
            ("//*/following-sibling::*", "d e g"),
            ("//*/preceding-sibling::*", "b c f"),
            ("//*/preceding-sibling::node()", "b c <!--n--> <?x?> f"),
            ("(//@* | //*)/descendant-or-self::node()", "a @i @j b c @k d 't' <!--n--> e <?x?> f g h"),
            ("(//@* | //d)/following::*", "b c d e f g h"),
            ("(//@k | //h)/preceding::*", "b c d f"),
            ("(//@* | //d)/following-sibling::node()", "nothing"),
            ("//@*/..", "a c"),
            ("//@*/ancestor::*", "a b c"),
        ],
    );
}

#[test]
fn node_tests_select_by_the_principal_type_of_the_axis() {
    check(
        TREE,
        &[
            ("/a/*", "b e"),
            ("/a/@*", "@i @j"),
            ("/a/@i", "@i"),
            ("/a/i", "nothing"),
            ("//@k/self::k", "nothing"),
            ("//@k/self::node()", "@k"),
            ("//@k/self::*", "nothing"),
            ("//@*/descendant-or-self::*", "nothing"),
            ("//@*/ancestor-or-self::*", "a b c"),
            ("/a/@text()", "nothing"),
            ("/a/@node()", "@i @j"),
            ("//text()", "'t'"),
            ("//comment()", "<!--n-->"),
            ("//processing-instruction()", "<?x?>"),
            ("//processing-instruction('x')", "<?x?>"),
            ("//processing-instruction('y')", "nothing"),
            ("//x", "nothing"),
            ("//node()", "a b c d 't' <!--n--> e <?x?> f g h"),
        ],
    );
}

#[test]
fn names_are_compared_by_namespace_and_local_part() {
    let document = "<a xmlns='urn:p' xmlns:z='urn:q' m='0' z:m='1'><z:b/><b/><c xmlns='' m='2'/><xml:d/></a>";
    check(
        document,
        &[
            ("/a", "nothing"),
            ("/p:a", "a"),
            ("/p:*", "a"),
            ("/q:*", "nothing"),
            ("//p:*", "a b"),
            ("//q:*", "b"),
            ("//c", "c"),
            ("//q:b/following-sibling::p:b/preceding-sibling::*", "b"),
            ("//@m", "@m @m"),
            ("//@p:m", "nothing"),
            ("//@q:m", "@m"),
            ("//@q:*", "@m"),
            ("//xml:d", "d"),
            ("//xml:*", "d"),
        ],
    );
}
