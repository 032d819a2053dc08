//! Trees that are built by hand, and several in one document.

use portcullis_xml::tree::{Attached, PrefixId, UriId};
use portcullis_xml::{Limits, NodeId, TreeBuilder};

use crate::support::{parse, show, walk};

#[test]
fn a_tree_is_built_node_by_node() {
    let mut builder = TreeBuilder::new(&Limits::default());
    let uri = builder.names().uri("urn:a").unwrap();
    let prefix = builder.names().prefix("p").unwrap();
    let [a, b, k] = ["a", "b", "k"].map(|local| builder.names().name(UriId::NONE, local).unwrap());
    let qualified = builder.names().name(uri, "a").unwrap();
    assert_ne!(a, qualified);

    builder.start_element(qualified, prefix).unwrap();
    builder.declare(prefix, uri).unwrap();
    assert_eq!(builder.attribute(k, PrefixId::NONE, "1").unwrap(), Attached::Yes);
    builder.characters("x").unwrap();
    builder.characters("").unwrap();
    builder.characters("y").unwrap();
    builder.add_comment("c").unwrap();
    builder.characters("z").unwrap();
    builder.start_element(b, PrefixId::NONE).unwrap();
    builder.end_element();
    builder.characters("1").unwrap();
    builder.characters("2").unwrap();
    builder.add_processing_instruction("t", "d").unwrap();
    builder.end_element();
    let document = builder.finish().unwrap();

    assert_eq!(show(&document, NodeId::ROOT), "({urn:a}a(@k=1 'xy' <!--c--> 'z' b() '12' <?t d?>))");
    assert_eq!(walk(&document, NodeId::ROOT).len(), document.len());
    let top = document.first_child(NodeId::ROOT).unwrap();
    assert_eq!(document.in_scope(document.scope(top)).collect::<Vec<_>>(), [(prefix, uri)]);
    assert_eq!(document.prefix(top), "p");
}

#[test]
fn a_later_attribute_takes_the_place_of_an_earlier_one() {
    let mut builder = TreeBuilder::new(&Limits::default());
    let [a, k, l] = ["a", "k", "l"].map(|local| builder.names().name(UriId::NONE, local).unwrap());
    assert_eq!(builder.attribute(k, PrefixId::NONE, "0").unwrap(), Attached::TooLate);
    builder.start_element(a, PrefixId::NONE).unwrap();
    for (name, value) in [(k, "1"), (l, "2"), (k, "three")] {
        assert_eq!(builder.attribute(name, PrefixId::NONE, value).unwrap(), Attached::Yes);
    }
    builder.characters("x").unwrap();
    assert_eq!(builder.attribute(l, PrefixId::NONE, "4").unwrap(), Attached::TooLate);
    let document = builder.finish().unwrap();
    assert_eq!(show(&document, NodeId::ROOT), "(a(@k=three @l=2 'x'))");
    assert_eq!(walk(&document, NodeId::ROOT).len(), document.len());
}

#[test]
fn what_is_open_ends_with_the_tree() {
    let mut builder = TreeBuilder::new(&Limits::default());
    let a = builder.names().name(UriId::NONE, "a").unwrap();
    for _ in 0..3 {
        builder.start_element(a, PrefixId::NONE).unwrap();
    }
    builder.characters("x").unwrap();
    let document = builder.finish().unwrap();
    assert_eq!(show(&document, NodeId::ROOT), "(a(a(a('x'))))");
    walk(&document, NodeId::ROOT);

    let mut builder = TreeBuilder::new(&Limits::default());
    builder.end_element();
    builder.characters("top").unwrap();
    let document = builder.finish().unwrap();
    assert_eq!(show(&document, NodeId::ROOT), "('top')");
}

#[test]
fn a_document_holds_several_trees() {
    let limits = Limits::default();
    let document = parse("<a>1<b/></a>");
    let name = document.names().find("", "b").unwrap();
    let first_length = document.len();

    let mut builder = TreeBuilder::add_to(document, &limits);
    builder.start_element(name, PrefixId::NONE).unwrap();
    builder.characters("2").unwrap();
    let document = builder.finish().unwrap();
    let mut builder = TreeBuilder::add_to(document, &limits);
    builder.characters("3").unwrap();
    let document = builder.finish().unwrap();

    let [first, second, third] = document.roots()[..] else { panic!("three roots") };
    assert_eq!(first, NodeId::ROOT);
    assert_eq!(
        [first, second, third].map(|root| show(&document, root)),
        ["(a('1' b()))", "(b('2'))", "('3')"]
    );
    assert_eq!([first, second, third].map(|root| document.string_value(root)), ["1", "2", "3"]);
    assert_eq!(walk(&document, first).len(), first_length);
    assert!(first < second && second < third);
    for root in [first, second, third] {
        walk(&document, root);
        assert_eq!((document.next_sibling(root), document.previous_sibling(root)), (None, None));
    }
    assert!(!document.contains(first, second));
}

#[test]
fn trees_can_be_taken_off_again() {
    let limits = Limits::default();
    let mut document = parse("<a xmlns:p='urn:p' k='v'>1<b/></a>");
    let (shown, length, text) = (show(&document, NodeId::ROOT), document.len(), document.text_bytes());
    let mark = document.mark();
    for round in 0..3 {
        // The names are there from the first round on.
        let names = document.names().bytes();
        let mut builder = TreeBuilder::add_to(document, &limits);
        let uri = builder.names().uri("urn:q").unwrap();
        let prefix = builder.names().prefix("q").unwrap();
        let name = builder.names().name(uri, "c").unwrap();
        builder.start_element(name, prefix).unwrap();
        builder.declare(prefix, uri).unwrap();
        builder.attribute(name, prefix, "value").unwrap();
        builder.characters("ü").unwrap();
        document = builder.finish().unwrap();
        assert_eq!(document.names().bytes() > names, round == 0);

        let root = document.roots()[1];
        assert_eq!(show(&document, root), "({urn:q}c(@{urn:q}c=value 'ü'))");
        assert_eq!(document.text_bytes(), text + "value".len() + "ü".len());
        document.truncate(mark);
        assert_eq!((document.len(), document.text_bytes()), (length, text));
        assert_eq!(document.roots(), [NodeId::ROOT]);
        assert_eq!(show(&document, NodeId::ROOT), shown);
        walk(&document, NodeId::ROOT);
        assert_eq!(document.mark(), mark);
    }
}

#[test]
fn each_prefix_is_in_scope_once_however_many_there_are() {
    // Some get numbers that are beyond those that fit into a set of bits.
    let many: String = (0..120).map(|n| format!(" xmlns:m{n}='urn:{n}'")).collect();
    let text = format!(
        "<r><a{many}/><b xmlns:x='urn:1' xmlns:y='urn:2' xmlns:z='urn:3' xmlns='urn:d'>\
         <c xmlns:u='urn:4' xmlns:v='urn:5' xmlns:w='urn:6' xmlns:s='urn:7' xmlns:t='urn:8' xmlns:x='urn:9' \
         xmlns:y='urn:10' xmlns=''><d xmlns:t='urn:11' xmlns:m1='urn:12'/></c></b></r>"
    );
    let document = parse(&text);
    let innermost = walk(&document, NodeId::ROOT).pop().unwrap();
    let mut found: Vec<_> = document
        .in_scope(document.scope(innermost))
        .map(|(prefix, uri)| {
            format!("{}={}", document.names().prefix_text(prefix), document.names().uri_text(uri))
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "m1=urn:12",
            "s=urn:7",
            "t=urn:11",
            "u=urn:4",
            "v=urn:5",
            "w=urn:6",
            "x=urn:9",
            "y=urn:10",
            "z=urn:3"
        ]
    );
}
