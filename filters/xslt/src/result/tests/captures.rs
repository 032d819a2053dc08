//! Strings and fragments.

use super::*;

fn built(fragment: &Fragment, names: Names) -> (Document, NodeId) {
    // The names of a document that has nothing else.
    let mut tree = TreeBuilder::new(&Limits::default());
    *tree.names() = names;
    fragment.build(&mut tree).unwrap();
    let document = tree.finish().unwrap();
    (document, NodeId::ROOT)
}

#[test]
fn collects_text_and_nothing_else_in_strings() {
    let mut script = Script::plain();
    script.start("a");
    script.writer.begin_string();
    script.text("1").comment("c").start("b").text("x").start("c").text("y").end().text("z").end();
    script.instruction("p", "q").text("2");
    assert_eq!(script.try_attribute("late", ""), Attached::TooLate);
    let text = script.writer.end_string().unwrap();
    assert_eq!(text, "12");
    // The start tag of `a` was still open all the while.
    script.attribute("b", &text).end();
    script.writer.recycle(text);
    assert_eq!(script.output(), "<a b=\"12\"/>");
}

#[test]
fn begins_strings_empty() {
    let mut script = Script::plain();
    script.writer.recycle("left over".to_owned());
    script.writer.begin_string();
    assert_eq!(script.writer.end_string().unwrap(), "");
}

#[test]
fn notes_a_fragment_down_and_builds_its_tree() {
    let mut script = Script::plain();
    script.writer.begin_fragment();
    script
        .text("t")
        .start("{u}p:a")
        .namespace("q", "v")
        .attribute("x", "1")
        .attribute("x", "2")
        .text("1")
        .text("2");
    script.start("b").end().comment("c").instruction("i", "d").end().text("end");
    let fragment = script.writer.end_fragment().unwrap();
    assert_eq!(script.output(), "");
    assert_eq!(fragment.as_text(), None);
    let (document, root) = built(&fragment, core::mem::take(&mut script.names));
    assert_eq!(document.string_value(root), "t12end");
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    copy_of(&mut writer, &document, root).unwrap();
    assert_eq!(
        String::from_utf8(writer.finish().unwrap()).unwrap(),
        "t<p:a xmlns:p=\"u\" xmlns:q=\"v\" x=\"2\">12<b/><!--c--><?i d?></p:a>end"
    );
}

#[test]
fn leaves_out_of_fragments_what_is_too_late_or_has_no_element() {
    let mut script = Script::plain();
    script.start("outer");
    script.writer.begin_fragment();
    assert_eq!(script.try_attribute("x", ""), Attached::TooLate);
    script.namespace("p", "u").start("a").text("t").namespace("p", "u");
    assert_eq!(script.try_attribute("x", ""), Attached::TooLate);
    script.end().end().end();
    let fragment = script.writer.end_fragment().unwrap();
    let (document, root) = built(&fragment, script.names.clone());
    copy_of(&mut script.writer, &document, root).unwrap();
    assert_eq!(script.output(), "<outer><a>t</a></outer>");
}

#[test]
fn declares_a_prefix_once_per_element_of_a_fragment() {
    let mut script = Script::plain();
    script.writer.begin_fragment();
    script.start("{u}p:a").namespace("p", "v").namespace("q", "v").namespace("q", "w").namespace("", "x");
    script.start("b").namespace("q", "w").namespace("", "x").end();
    let fragment = script.writer.end_fragment().unwrap();
    let (document, _) = built(&fragment, script.names);
    let a = document.first_child(NodeId::ROOT).unwrap();
    let b = document.first_child(a).unwrap();
    let declared = |element: NodeId| {
        let names = document.names();
        let mut all: Vec<_> = document
            .declarations(element)
            .map(|(prefix, uri)| (names.prefix_text(prefix), names.uri_text(uri)))
            .collect();
        all.sort_unstable();
        all
    };
    assert_eq!(declared(a), [("", "x"), ("q", "v")]);
    // An element in no namespace has no default one.
    assert_eq!(declared(b), [("q", "w")]);
}

#[test]
fn declares_namespaces_where_they_are_new() {
    let mut script = Script::plain();
    script.writer.begin_fragment();
    for _ in 0..3 {
        script.start("a").namespace("p", "u").namespace("q", "v");
    }
    script.end().start("b").namespace("p", "other").start("c").namespace("p", "other").end().end();
    script.start("c").namespace("p", "u").end().end().end().start("d").namespace("p", "u").end();
    let fragment = script.writer.end_fragment().unwrap();
    let (document, root) = built(&fragment, script.names);
    let mut declarations = Vec::new();
    let mut open = vec![document.children(root)];
    while let Some(children) = open.last_mut() {
        match children.next() {
            Some(node) => {
                declarations.push((document.local_name(node), document.declarations(node).count()));
                open.push(document.children(node));
            }
            None => drop(open.pop()),
        }
    }
    assert_eq!(declarations, [("a", 2), ("a", 0), ("a", 0), ("b", 1), ("c", 0), ("c", 0), ("d", 1)]);
}

#[test]
fn tells_fragments_of_text_alone() {
    for (texts, expected) in [(&[][..], ""), (&["a", "", "b"], "ab")] {
        let mut script = Script::plain();
        script.writer.begin_fragment();
        for text in texts {
            script.text(text);
        }
        let fragment = script.writer.end_fragment().unwrap();
        assert_eq!(fragment.as_text(), Some(expected));
    }
    let mut script = Script::plain();
    script.writer.begin_fragment();
    script.comment("c");
    assert_eq!(script.writer.end_fragment().unwrap().as_text(), None);
}

#[test]
fn nests_captures() {
    let mut script = Script::plain();
    script.start("a");
    script.writer.begin_fragment();
    script.start("f").text("1");
    script.writer.begin_string();
    script.text("2");
    script.writer.begin_fragment();
    script.text("3");
    assert_eq!(script.writer.end_fragment().unwrap().as_text(), Some("3"));
    assert_eq!(script.writer.end_string().unwrap(), "2");
    script.end();
    assert!(script.writer.end_fragment().unwrap().as_text().is_none());
    script.text("4").end();
    assert_eq!(script.output(), "<a>4</a>");
}

#[test]
fn refuses_ends_that_do_not_match() {
    let mut script = Script::plain();
    assert_eq!(script.writer.end_string(), Err(ResultError::Unbalanced));
    script.writer.begin_string();
    assert!(matches!(script.writer.end_fragment(), Err(ResultError::Unbalanced)));
    script.writer.begin_fragment();
    assert_eq!(script.writer.end_string(), Err(ResultError::Unbalanced));
}
