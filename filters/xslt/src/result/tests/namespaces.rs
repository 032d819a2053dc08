//! Namespaces and prefixes (XSLT 1.0, sections 7.1.1 to 7.1.3; Namespaces in XML 1.0).

use super::*;

const XML: &str = "http://www.w3.org/XML/1998/namespace";

#[test]
fn declares_what_names_need_and_only_once() {
    let mut script = Script::plain();
    script.start("{u}p:a").start("{u}p:b").attribute("{u}p:c", "1").end().start("{v}p:b").start("{u}p:c");
    script.end().end().start("{v}b").start("{v}b").end().start("b").start("b").end().end().end();
    assert_eq!(
        script.output(),
        "<p:a xmlns:p=\"u\"><p:b p:c=\"1\"/><p:b xmlns:p=\"v\"><p:c xmlns:p=\"u\"/></p:b>\
         <b xmlns=\"v\"><b/><b xmlns=\"\"><b/></b></b></p:a>"
    );
}

#[test]
fn declares_again_what_went_out_of_scope() {
    let mut script = Script::plain();
    script.start("a").start("{u}p:b").end().start("{u}p:b").end().end();
    assert_eq!(script.output(), "<a><p:b xmlns:p=\"u\"/><p:b xmlns:p=\"u\"/></a>");
}

#[test]
fn writes_namespace_nodes_unless_they_are_there() {
    let mut script = Script::plain();
    script.start("a").namespace("p", "u").namespace("", "v").namespace("q", "v").namespace("p", "u");
    script.start("{v}b").namespace("p", "u").namespace("", "v").namespace("q", "w").end().end();
    // The first element is in no namespace: it cannot have a default one.
    assert_eq!(script.output(), "<a xmlns:p=\"u\" xmlns:q=\"v\"><b xmlns=\"v\" xmlns:q=\"w\"/></a>");
}

#[test]
fn keeps_the_prefix_of_the_name_where_a_namespace_node_wants_it() {
    let mut script = Script::plain();
    script.start("{u}p:a").namespace("p", "v").start("{u}p:b").namespace("p", "v").attribute("{v}p:c", "1");
    script.end().end();
    assert_eq!(script.output(), "<p:a xmlns:p=\"u\"><p:b xmlns:ns0=\"v\" ns0:c=\"1\"/></p:a>");
}

#[test]
fn finds_a_prefix_for_attributes_that_have_none_or_a_taken_one() {
    let mut script = Script::plain();
    // No prefix at all: an attribute without one is in no namespace.
    script.start("a").attribute("{u}b", "1").attribute("{u}c", "2").attribute("{v}d", "3");
    script.start("{u}e").attribute("{u}f", "4").end();
    script.end().start("a").attribute("{u}b", "5").end();
    assert_eq!(
        script.output(),
        "<a xmlns:ns0=\"u\" ns0:b=\"1\" ns0:c=\"2\" xmlns:ns1=\"v\" ns1:d=\"3\"><e xmlns=\"u\" ns0:f=\"4\"/></a>\
         <a xmlns:ns0=\"u\" ns0:b=\"5\"/>"
    );
}

#[test]
fn uses_a_prefix_in_scope_for_an_attribute_without_one() {
    let mut script = Script::plain();
    script.start("a").namespace("p", "u").attribute("{u}b", "1").end();
    assert_eq!(script.output(), "<a xmlns:p=\"u\" p:b=\"1\"/>");
}

#[test]
fn does_not_use_a_prefix_that_was_bound_anew() {
    let mut script = Script::plain();
    script.start("{u}p:a").start("{v}p:b").attribute("{u}c", "1").end().end();
    assert_eq!(script.output(), "<p:a xmlns:p=\"u\"><p:b xmlns:p=\"v\" xmlns:ns0=\"u\" ns0:c=\"1\"/></p:a>");
}

#[test]
fn makes_up_no_prefix_that_is_in_use() {
    let mut script = Script::plain();
    script.start("{x}ns0:a").namespace("ns1", "y").attribute("{u}b", "1").end();
    assert_eq!(script.output(), "<ns0:a xmlns:ns0=\"x\" xmlns:ns1=\"y\" xmlns:ns2=\"u\" ns2:b=\"1\"/>");
    // A stylesheet that says ns0 itself, where it was made up before.
    let mut script = Script::plain();
    script.start("a").attribute("{u}b", "1").namespace("ns0", "x");
    script.start("{x}ns0:c").attribute("{u}d", "2").end().end();
    assert_eq!(
        script.output(),
        "<a xmlns:ns0=\"u\" ns0:b=\"1\"><ns0:c xmlns:ns0=\"x\" xmlns:ns1=\"u\" ns1:d=\"2\"/></a>"
    );
}

#[test]
fn never_declares_xml_and_uses_no_other_prefix_for_it() {
    let mut script = Script::plain();
    let space = format!("{{{XML}}}xml:space");
    let lang = format!("{{{XML}}}lang");
    script.start("a").attribute(&space, "default").attribute(&lang, "en").namespace("xml", XML);
    script.namespace("p", XML).end();
    script.start("{u}xml:a").attribute("{v}xml:b", "1").end();
    script.start("{u}xmlns:a").end();
    assert_eq!(
        script.output(),
        "<a xml:space=\"default\" xml:lang=\"en\"/>\
         <ns0:a xmlns:ns0=\"u\" xmlns:ns1=\"v\" ns1:b=\"1\"/><ns0:a xmlns:ns0=\"u\"/>"
    );
}

#[test]
fn refuses_the_namespace_of_declarations() {
    let mut script = Script::plain();
    let name = script.name("{http://www.w3.org/2000/xmlns/}p:a");
    assert_eq!(script.writer.start_element(&script.names, name), Err(ResultError::ReservedNamespace));
}

#[test]
fn escapes_namespace_names() {
    let mut script = Script::plain();
    script.start("{a&\"<b}p:a").end();
    assert_eq!(script.output(), "<p:a xmlns:p=\"a&amp;&quot;&lt;b\"/>");
}

#[test]
fn finds_prefixes_for_many_namespaces_of_one_element() {
    let mut script = Script::plain();
    script.start("a");
    for index in 0..90 {
        script.attribute(&format!("{{u{index}}}p:b"), "");
    }
    let output = script.end().output();
    let document = parse(&output);
    let element = document.first_child(NodeId::ROOT).unwrap();
    let namespaces: Vec<&str> = document.attributes(element).map(|node| document.namespace(node)).collect();
    let expected: Vec<String> = (0..90).map(|index| format!("u{index}")).collect();
    assert_eq!(namespaces, expected);
}

#[test]
fn writes_a_name_that_it_has_written_before_as_the_scope_demands() {
    let mut script = Script::plain();
    // With the prefix that it asks for, with another one in between, and with none at all.
    script.start("{u}p:a").start("{v}p:b").start("{u}p:a").end().end().start("{u}p:a").end().end();
    script.start("{u}p:a").end();
    script.start("a").start("{u}a").start("a").end().start("{u}a").end().end().start("a").end().end();
    script.start("{u}q:a").start("{u}p:a").start("{u}q:a").end().end().end();
    assert_eq!(
        script.output(),
        "<p:a xmlns:p=\"u\"><p:b xmlns:p=\"v\"><p:a xmlns:p=\"u\"/></p:b><p:a/></p:a><p:a xmlns:p=\"u\"/>\
         <a><a xmlns=\"u\"><a xmlns=\"\"/><a/></a><a/></a>\
         <q:a xmlns:q=\"u\"><p:a xmlns:p=\"u\"><q:a/></p:a></q:a>"
    );
}

#[test]
fn asks_again_for_the_prefix_that_a_reserved_one_stood_in_for() {
    let mut script = Script::plain();
    script.start("{u}xml:a").start("{u}xml:a").end().end();
    script.start("{u}xml:a").namespace("ns0", "v").start("{u}xml:a").end().end();
    assert_eq!(
        script.output(),
        "<ns0:a xmlns:ns0=\"u\"><ns0:a/></ns0:a><ns0:a xmlns:ns0=\"u\"><ns0:a/></ns0:a>"
    );
}
