//! Trees as text.

use portcullis_xml::{Document, Limits, NodeId, NodeKind};

pub(crate) fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), &Limits::default()).unwrap()
}

/// A tree written out, by way of children and attributes alone: names with their namespaces in braces, text in quotes.
pub(crate) fn show(document: &Document, node: NodeId) -> String {
    let namespace = match document.namespace(node) {
        "" => String::new(),
        uri => format!("{{{uri}}}"),
    };
    let name = format!("{namespace}{}", document.local_name(node));
    let value = document.string_value(node);
    match document.kind(node) {
        NodeKind::Text => format!("'{value}'"),
        NodeKind::Comment => format!("<!--{value}-->"),
        NodeKind::ProcessingInstruction => format!("<?{name} {value}?>"),
        NodeKind::Attribute => format!("@{name}={value}"),
        NodeKind::Root | NodeKind::Element => {
            let inner: Vec<_> = document
                .attributes(node)
                .chain(document.children(node))
                .map(|inner| show(document, inner))
                .collect();
            format!("{name}({})", inner.join(" "))
        }
    }
}

/// All nodes of a tree in the order in which its links give them; and checks that every way through it agrees.
pub(crate) fn walk(document: &Document, root: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        found.push(node);
        found.extend(document.attributes(node));
        let children: Vec<_> = document.children(node).collect();
        for attribute in document.attributes(node) {
            assert_eq!(document.parent(attribute), Some(node));
            assert_eq!(
                (document.next_sibling(attribute), document.previous_sibling(attribute)),
                (None, None)
            );
            assert_eq!(document.first_child(attribute), None);
        }
        let mut before = None;
        for child in &children {
            assert_eq!(document.parent(*child), Some(node));
            assert_eq!(document.previous_sibling(*child), before);
            assert_eq!(document.following_siblings(*child).next(), document.next_sibling(*child));
            if let Some(before) = before {
                assert_eq!(document.next_sibling(before), Some(*child));
            }
            assert!(document.contains(node, *child) && !document.contains(*child, node));
            before = Some(*child);
        }
        assert_eq!(document.first_child(node), children.first().copied());
        assert_eq!(before.and_then(|last| document.next_sibling(last)), None);
        assert_eq!(document.root(node), root);
        let text: String = children
            .iter()
            .filter(|child| matches!(document.kind(**child), NodeKind::Element | NodeKind::Text))
            .map(|child| document.string_value(*child))
            .collect();
        if matches!(document.kind(node), NodeKind::Root | NodeKind::Element) {
            assert_eq!(document.string_value(node), text);
        }
        open.extend(children.into_iter().rev());
    }
    assert!(found.is_sorted_by(|a, b| a < b), "nodes are numbered in document order");
    assert_eq!(document.parent(root), None);
    found
}
