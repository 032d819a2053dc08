//! Documents as trees.

use portcullis_xml::{NodeId, NodeKind};

use crate::support::{parse, show, walk};

#[test]
fn a_document_becomes_a_tree() {
    for (text, expected) in [
        ("<a/>", "(a())"),
        ("<a>x<b/>y</a>", "(a('x' b() 'y'))"),
        ("<a k='1' l='2'><b m=''/></a>", "(a(@k=1 @l=2 b(@m=)))"),
        ("<a>x<![CDATA[<&]]>y&amp;</a>", "(a('x<&y&'))"),
        ("<a>x<!--c-->y<?p d ?>z</a>", "(a('x' <!--c--> 'y' <?p d ?> 'z'))"),
        ("<?p?><!--1--><a/><!--2-->\n", "(<?p ?> <!--1--> a() <!--2-->)"),
        (
            "<a xmlns='urn:a' xmlns:p='urn:p' k='1' p:k='2'><p:b/><c xmlns=''/></a>",
            "({urn:a}a(@k=1 @{urn:p}k=2 {urn:p}b() c()))",
        ),
        ("<a xml:lang='de'/>", "(a(@{http://www.w3.org/XML/1998/namespace}lang=de))"),
        ("<a>\n <b> </b>\n</a>", "(a('\n ' b(' ') '\n'))"),
    ] {
        let document = parse(text);
        assert_eq!(show(&document, NodeId::ROOT), expected);
        assert_eq!(walk(&document, NodeId::ROOT).len(), document.len());
        assert_eq!(document.roots(), [NodeId::ROOT]);
    }
}

#[test]
fn the_same_name_has_the_same_number() {
    let document =
        parse("<a xmlns:p='urn:1' xmlns:q='urn:1' xmlns='urn:2' k='1'><p:b/><q:b/><b/><b k='2'/></a>");
    let a = document.first_child(NodeId::ROOT).unwrap();
    let [p, q, b, c] = document.children(a).collect::<Vec<_>>()[..] else { panic!("four children") };
    assert_eq!(document.name(p), document.name(q));
    assert_ne!(document.name(p), document.name(b));
    assert_eq!(document.name(b), document.name(c));
    assert_eq!([p, q, b].map(|node| document.prefix(node)), ["p", "q", ""]);
    let key = |node| document.attributes(node).next().and_then(|attribute| document.name(attribute));
    assert!(key(a).is_some() && key(a) == key(c));
    assert_eq!(document.names().find("urn:1", "b"), document.name(p));
    assert_eq!(document.names().find("urn:1", "x"), None);
    assert_eq!(document.names().find("urn:3", "b"), None);
    assert_eq!(document.name(NodeId::ROOT), None);
}

#[test]
fn namespaces_in_scope_are_kept() {
    let document = parse(
        "<a xmlns='urn:1' xmlns:p='urn:2'><b><c xmlns:p='urn:3' xmlns:q='urn:4'/></b><d xmlns=''/><e xmlns='urn:1'/></a>",
    );
    let in_scope = |node| -> Vec<(&str, &str)> {
        let names = document.names();
        let mut scope: Vec<_> = document
            .in_scope(document.scope(node))
            .map(|(prefix, uri)| (names.prefix_text(prefix), names.uri_text(uri)))
            .collect();
        scope.sort_unstable();
        scope
    };
    let nodes = walk(&document, NodeId::ROOT);
    let element = |name| *nodes.iter().find(|node| document.local_name(**node) == name).unwrap();

    assert_eq!(in_scope(NodeId::ROOT), []);
    assert_eq!(in_scope(element("a")), [("", "urn:1"), ("p", "urn:2")]);
    assert_eq!(in_scope(element("c")), [("", "urn:1"), ("p", "urn:3"), ("q", "urn:4")]);
    assert_eq!(in_scope(element("d")), [("p", "urn:2")]);
    assert_eq!(in_scope(element("e")), [("", "urn:1"), ("p", "urn:2")]);
    // An element that declares nothing has what its parent has.
    assert_eq!(document.scope(element("b")), document.scope(element("a")));

    let declared = |node| document.declarations(node).count();
    assert_eq!(["a", "b", "c", "d", "e"].map(|name| declared(element(name))), [2, 0, 2, 1, 1]);
}

#[test]
fn kinds_of_nodes() {
    let document = parse("<a k='1'>x<!--c--><?p?></a>");
    let kinds: Vec<_> = walk(&document, NodeId::ROOT).into_iter().map(|node| document.kind(node)).collect();
    assert_eq!(
        kinds,
        [
            NodeKind::Root,
            NodeKind::Element,
            NodeKind::Attribute,
            NodeKind::Text,
            NodeKind::Comment,
            NodeKind::ProcessingInstruction
        ]
    );
}

#[test]
fn ancestors_lead_to_the_root() {
    let document = parse("<a><b><c k='1'>x</c></b></a>");
    let nodes = walk(&document, NodeId::ROOT);
    let last = *nodes.last().unwrap();
    let names: Vec<_> = document.ancestors(last).map(|node| document.local_name(node)).collect();
    assert_eq!(names, ["c", "b", "a", ""]);
    assert_eq!(document.ancestors(NodeId::ROOT).count(), 0);
}
