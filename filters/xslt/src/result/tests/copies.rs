//! Copies of nodes of the source.

use super::*;

const SOURCE: &str = "<r:a xmlns:r=\"u\" xmlns:s=\"v\" x=\"1\" s:y=\"2\"><b xmlns=\"d\"><c xmlns=\"\" s:z=\"&lt;\">t</c>\
    <!--c--><?p q?></b><s:e>end</s:e></r:a>";

fn copied(source: &Document, node: NodeId) -> (String, u64) {
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    let count = copy_of(&mut writer, source, node).unwrap();
    (String::from_utf8(writer.finish().unwrap()).unwrap(), count)
}

#[test]
fn copies_a_document_as_it_is() {
    let source = parse(SOURCE);
    let declarations = 4;
    let count = u64::try_from(source.len()).unwrap() + declarations;
    assert_eq!(copied(&source, NodeId::ROOT), (SOURCE.to_owned(), count));
}

#[test]
fn copies_elements_with_all_namespaces_that_they_have() {
    let source = parse(SOURCE);
    let a = source.first_child(NodeId::ROOT).unwrap();
    let b = source.first_child(a).unwrap();
    let c = source.first_child(b).unwrap();
    assert_eq!(copied(&source, a).0, SOURCE);
    let (copy, count) = copied(&source, c);
    assert_eq!(count, 3 + 4 * 2, "three nodes, and two namespaces in scope");
    let reparsed = parse(&copy);
    let root = reparsed.first_child(NodeId::ROOT).unwrap();
    let mut prefixes: Vec<_> = reparsed
        .in_scope(reparsed.scope(root))
        .map(|(prefix, _)| reparsed.names().prefix_text(prefix))
        .collect();
    prefixes.sort_unstable();
    assert_eq!(prefixes, ["r", "s"]);
}

#[test]
fn copies_leaves() {
    let source = parse(SOURCE);
    let a = source.first_child(NodeId::ROOT).unwrap();
    let b = source.first_child(a).unwrap();
    let children: Vec<NodeId> = source.children(b).collect();
    assert_eq!(copied(&source, children[1]), ("<!--c-->".to_owned(), 1));
    assert_eq!(copied(&source, children[2]), ("<?p q?>".to_owned(), 1));
    let text = source.first_child(children[0]).unwrap();
    assert_eq!(copied(&source, text), ("t".to_owned(), 1));
    // An attribute needs an element to be on.
    let attribute = source.attributes(a).nth(1).unwrap();
    assert_eq!(copied(&source, attribute), (String::new(), 1));
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    let name = ResultName { name: source.name(b).unwrap(), prefix: source.prefix_id(b) };
    writer.start_element(source.names(), name).unwrap();
    copy_of(&mut writer, &source, attribute).unwrap();
    assert_eq!(writer.finish().unwrap(), b"<b xmlns=\"d\" xmlns:s=\"v\" s:y=\"2\"/>");
}

#[test]
fn copies_namespaces_once_for_elements_within_elements() {
    let source = parse("<p:a xmlns:p=\"u\" xmlns:q=\"v\"><p:b><p:c/></p:b></p:a>");
    let a = source.first_child(NodeId::ROOT).unwrap();
    let b = source.first_child(a).unwrap();
    let c = source.first_child(b).unwrap();
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    for element in [a, b, c] {
        copy_element(&mut writer, &source, element).unwrap();
    }
    writer.end_element().unwrap();
    // Outside of the others, they are needed again.
    writer.end_element().unwrap();
    writer.end_element().unwrap();
    copy_element(&mut writer, &source, c).unwrap();
    assert_eq!(
        String::from_utf8(writer.finish().unwrap()).unwrap(),
        "<p:a xmlns:p=\"u\" xmlns:q=\"v\"><p:b><p:c/></p:b></p:a><p:c xmlns:p=\"u\" xmlns:q=\"v\"/>"
    );
}

#[test]
fn copies_namespaces_that_an_element_between_has_bound_anew() {
    let source = parse("<a xmlns:p=\"u\"><b/></a>");
    let a = source.first_child(NodeId::ROOT).unwrap();
    let b = source.first_child(a).unwrap();
    let mut names = source.names().clone();
    let uri = names.uri("other").unwrap();
    let other = ResultName { name: names.name(uri, "o").unwrap(), prefix: names.prefix("p").unwrap() };
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    copy_element(&mut writer, &source, a).unwrap();
    writer.start_element(&names, other).unwrap();
    copy_element(&mut writer, &source, b).unwrap();
    assert_eq!(
        String::from_utf8(writer.finish().unwrap()).unwrap(),
        "<a xmlns:p=\"u\"><p:o xmlns:p=\"other\"><b xmlns:p=\"u\"/></p:o></a>"
    );
}

#[test]
fn copies_documents_deeper_than_any_stack() {
    const DEPTH: usize = 100_000;
    let mut tree = TreeBuilder::new(&Limits { nodes: 1 << 20, ..Limits::default() });
    let name = tree.names().name(portcullis_xml::tree::UriId::NONE, "a").unwrap();
    for _ in 0..DEPTH {
        tree.start_element(name, portcullis_xml::tree::PrefixId::NONE).unwrap();
    }
    let source = tree.finish().unwrap();
    let (copy, _) = copied(&source, NodeId::ROOT);
    assert_eq!(copy.len(), (DEPTH - 1) * "<a></a>".len() + "<a/>".len());
}

#[test]
fn copies_the_namespaces_of_different_scopes_in_turn() {
    let source = parse("<r><a xmlns:p=\"u\"/><b xmlns:q=\"v\"/></r>");
    let r = source.first_child(NodeId::ROOT).unwrap();
    let children: Vec<NodeId> = source.children(r).collect();
    let mut writer = ResultWriter::new(&plain(), LIMITS);
    for element in [children[0], children[1], children[1], children[0], r] {
        copy_element(&mut writer, &source, element).unwrap();
        writer.end_element().unwrap();
    }
    assert_eq!(
        String::from_utf8(writer.finish().unwrap()).unwrap(),
        "<a xmlns:p=\"u\"/><b xmlns:q=\"v\"/><b xmlns:q=\"v\"/><a xmlns:p=\"u\"/><r/>"
    );
}
