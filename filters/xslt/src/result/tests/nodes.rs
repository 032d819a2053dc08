//! Nodes in their places.

use super::*;

#[test]
fn writes_every_kind_of_node() {
    let mut script = Script::plain();
    script
        .start("a")
        .attribute("b", "1 < 2 & \"x\"")
        .text("x<y")
        .text("&z")
        .comment("c")
        .instruction("p", "d");
    script.start("empty").end().instruction("q", "").end();
    assert_eq!(
        script.output(),
        "<a b=\"1 &lt; 2 &amp; &quot;x&quot;\">x&lt;y&amp;z<!--c--><?p d?><empty/><?q?></a>"
    );
}

#[test]
fn keeps_the_later_of_two_attributes_of_one_name() {
    let mut script = Script::plain();
    script.start("a").attribute("b", "1").attribute("c", "2").attribute("b", "3").attribute("c", "4");
    script.attribute("d", "5").attribute("b", "6").text("t");
    // The next element begins anew.
    script.start("a").attribute("b", "7").end().end();
    assert_eq!(script.output(), "<a c=\"4\" d=\"5\" b=\"6\">t<a b=\"7\"/></a>");
}

#[test]
fn takes_attributes_of_one_local_name_and_different_namespaces() {
    let mut script = Script::plain();
    script.start("a").attribute("b", "1").attribute("{u}p:b", "2").attribute("{v}q:b", "3").end();
    assert_eq!(script.output(), "<a b=\"1\" xmlns:p=\"u\" p:b=\"2\" xmlns:q=\"v\" q:b=\"3\"/>");
}

#[test]
fn replaces_an_attribute_whatever_the_prefix() {
    let mut script = Script::plain();
    script.start("a").attribute("{u}p:b", "1").attribute("{u}q:b", "2").end();
    assert_eq!(script.output(), "<a xmlns:p=\"u\" xmlns:q=\"u\" q:b=\"2\"/>");
}

#[test]
fn leaves_out_attributes_and_namespaces_that_come_too_late() {
    type Child = fn(&mut Script) -> &mut Script;
    let children: [(Child, &str); 4] = [
        (|script| script.text("t"), "<a>t</a>"),
        (|script| script.comment("c"), "<a><!--c--></a>"),
        (|script| script.instruction("p", ""), "<a><?p?></a>"),
        (|script| script.start("b").end(), "<a><b/></a>"),
    ];
    for (child, expected) in children {
        let mut script = Script::plain();
        script.start("a");
        child(&mut script);
        assert_eq!(script.try_attribute("late", "1"), Attached::TooLate);
        script.namespace("p", "u").end();
        assert_eq!(script.output(), expected);
    }
    let mut script = Script::plain();
    assert_eq!(script.try_attribute("early", "1"), Attached::TooLate);
    script.namespace("p", "u").start("a").end();
    assert_eq!(script.try_attribute("late", "1"), Attached::TooLate);
    assert_eq!(script.output(), "<a/>");
}

#[test]
fn takes_no_text_for_no_child() {
    let mut script = Script::plain();
    script.start("a").text("");
    assert_eq!(script.try_attribute("b", ""), Attached::Yes);
    script.end();
    assert_eq!(script.output(), "<a b=\"\"/>");
}

#[test]
fn ends_what_is_open_and_ignores_ends_of_nothing() {
    let mut script = Script::plain();
    script.end().start("a").start("b").text("t");
    assert_eq!(script.output(), "<a><b>t</b></a>");
}

#[test]
fn makes_comments_and_processing_instructions_well_formed() {
    let mut script = Script::plain();
    script.start("a").comment("--").comment("x-").instruction("p", "?>?").end();
    assert_eq!(script.output(), "<a><!--- - --><!--x- --><?p ? >??></a>");
}
