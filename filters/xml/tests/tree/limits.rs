//! A tree has no more nodes than it may have.

use portcullis_xml::tree::{Full, PrefixId, UriId};
use portcullis_xml::{Document, ErrorKind, Limit, Limits, TreeBuilder};

fn limits(nodes: u32) -> Limits {
    Limits { nodes, ..Limits::default() }
}

#[test]
fn every_kind_of_node_counts() {
    // With the root and the document element, each makes three nodes.
    for text in ["<a>x</a>", "<a k='1'/>", "<a><b/></a>", "<a><!--c--></a>", "<a><?p?></a>"] {
        assert_eq!(Document::parse(text.as_bytes(), &limits(3)).unwrap().len(), 3);
        let error = Document::parse(text.as_bytes(), &limits(2)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::LimitExceeded(Limit::Nodes, 2), "{text}");
        assert!(error.to_string().ends_with("more than 2 nodes of a tree"), "{error}");
    }
    assert!(Document::parse(b"<a/>", &limits(0)).is_err());
}

#[test]
fn the_error_says_where_the_document_is_too_large() {
    let text = "<a>\n<b/>\n<c/>\n</a>";
    let error = Document::parse(text.as_bytes(), &limits(4)).unwrap_err();
    assert_eq!((error.position.line, error.kind), (3, ErrorKind::LimitExceeded(Limit::Nodes, 4)));
}

#[test]
fn a_document_that_is_too_large_and_broken_is_refused_for_what_comes_first() {
    let error = Document::parse(b"<a><b/><c/></x>", &limits(3)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::LimitExceeded(Limit::Nodes, _)), "{error}");
    let error = Document::parse(b"<a></x><b/><c/>", &limits(3)).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::EndTagMismatch(_)), "{error}");
}

#[test]
fn a_builder_that_is_full_stays_full() {
    let mut builder = TreeBuilder::new(&limits(2));
    let a = builder.names().name(UriId::NONE, "a").unwrap();
    builder.start_element(a, PrefixId::NONE).unwrap();
    assert_eq!(builder.failure(), None);
    assert_eq!(builder.characters("x"), Err(Full::Nodes(2)));
    assert_eq!(builder.failure(), Some(Full::Nodes(2)));
    assert_eq!(builder.characters("x"), Err(Full::Nodes(2)));
    assert_eq!(builder.add_comment("x"), Err(Full::Nodes(2)));
    assert_eq!(builder.start_element(a, PrefixId::NONE), Err(Full::Nodes(2)));
    assert_eq!(builder.finish().unwrap_err(), Full::Nodes(2));
}

#[test]
fn many_namespaces_and_names_are_no_harder_than_few() {
    let children: String = (0..20_000).map(|n| format!("<n{n}/>")).collect();
    let document = Document::parse(format!("<a>{children}</a>").as_bytes(), &Limits::default()).unwrap();
    let top = document.first_child(portcullis_xml::NodeId::ROOT).unwrap();
    let names: std::collections::BTreeSet<_> =
        document.children(top).map(|node| document.name(node)).collect();
    assert_eq!(names.len(), 20_000);
}
