//! Comparing results as canonical XML does (Canonical XML 1.0), without its syntax.

use portcullis_xml::tree::{Document, NodeId, NodeKind};
use portcullis_xml::{Error, Limits};

/// What is written of white space that an output may have been indented with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Kept,
    /// Text of nothing but white space is left out.
    Ignored,
}

/// Whether the prefixes that names are written with are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefixes {
    Compared,
    /// Neither they are nor declarations.
    Ignored,
}

/// The element that outputs are put into: they may have several top-level elements, and text beside them.
const WRAPPER: &str = "output-of-the-case";

/// The tree of an output.
pub(crate) fn parse(output: &[u8]) -> Result<Document, Error> {
    let body = without_document_type(without_declaration(&decode(output)).trim());
    let limits =
        Limits { document_bytes: 64 << 20, text_bytes: 16 << 20, nodes: 1 << 22, ..Limits::default() };
    Document::parse(format!("<{WRAPPER}>{}</{WRAPPER}>", body.trim()).as_bytes(), &limits)
}

/// An output as a text that is the same for what is the same.
pub(crate) fn canonical(document: &Document, space: Space, prefixes: Prefixes) -> String {
    let mut writer = Writer { document, space, prefixes, out: String::new() };
    let wrapper = document.children(NodeId::ROOT).next().unwrap();
    for child in document.children(wrapper) {
        // White space between top-level nodes is no part of the document.
        if document.kind(child) != NodeKind::Text || !document.string_value(child).trim().is_empty() {
            writer.node(child);
        }
    }
    writer.out
}

/// An output as text. Those of the suite that say so are in ISO-8859-1.
pub(crate) fn decode(output: &[u8]) -> String {
    let text = String::from_utf8(output.to_vec());
    text.unwrap_or_else(|_| output.iter().map(|byte| char::from(*byte)).collect())
}

fn without_declaration(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    match text.strip_prefix("<?xml ").and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => rest,
        None => text,
    }
}

fn without_document_type(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<!DOCTYPE") else { return text.to_owned() };
    let (_, after) = rest.split_once('>').unwrap_or_default();
    format!("{before}{after}")
}

struct Writer<'d> {
    document: &'d Document,
    space: Space,
    prefixes: Prefixes,
    out: String,
}

impl Writer<'_> {
    fn node(&mut self, node: NodeId) {
        let document = self.document;
        let value = document.string_value(node);
        match document.kind(node) {
            NodeKind::Element => self.element(node),
            NodeKind::Text if self.space == Space::Ignored && value.trim().is_empty() => {}
            NodeKind::Text => self.out.push_str(&format!("text {value:?}\n")),
            NodeKind::Comment => self.out.push_str(&format!("comment {value:?}\n")),
            NodeKind::ProcessingInstruction => {
                self.out.push_str(&format!("instruction {} {value:?}\n", document.local_name(node)));
            }
            NodeKind::Root | NodeKind::Attribute => {}
        }
    }

    fn element(&mut self, element: NodeId) {
        let document = self.document;
        self.out.push_str(&format!("start {}\n", self.name(element)));
        if self.prefixes == Prefixes::Compared {
            let mut namespaces: Vec<(&str, &str)> = document
                .in_scope(document.scope(element))
                .map(|(prefix, uri)| (document.names().prefix_text(prefix), document.names().uri_text(uri)))
                .collect();
            namespaces.sort_unstable();
            for (prefix, uri) in namespaces {
                self.out.push_str(&format!("  namespace {prefix}={uri}\n"));
            }
        }
        let mut attributes: Vec<String> = document
            .attributes(element)
            .map(|node| format!("  attribute {} {:?}\n", self.name(node), document.string_value(node)))
            .collect();
        attributes.sort_unstable();
        self.out.push_str(&attributes.concat());
        for child in document.children(element) {
            self.node(child);
        }
        self.out.push_str("end\n");
    }

    fn name(&self, node: NodeId) -> String {
        let (namespace, local) = (self.document.namespace(node), self.document.local_name(node));
        let prefix = match self.prefixes {
            Prefixes::Compared => self.document.prefix(node),
            Prefixes::Ignored => "",
        };
        format!("{{{namespace}}}{prefix}:{local}")
    }
}

#[test]
fn tells_apart_what_differs_and_nothing_else() {
    let read = |output: &str| parse(output.as_bytes()).unwrap();
    let exact = |output: &str| canonical(&read(output), Space::Kept, Prefixes::Compared);
    for (left, right) in [
        ("<a/>", "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'x'>\n<a></a>\n"),
        ("<a b='1' c='2'/>", "<a c=\"2\" b=\"&#49;\"/>"),
        ("<a><![CDATA[<]]></a>", "<a>&lt;</a>"),
        ("<a>\r\n</a>", "<a>\n</a>"),
        ("<a xmlns='u' xmlns:p='v'/>", "<a xmlns:p='v' xmlns='u'/>"),
        ("<a xmlns='u'><b xmlns='u'/></a>", "<a xmlns='u'><b/></a>"),
    ] {
        assert_eq!(exact(left), exact(right));
    }
    let spaceless = |output: &str| canonical(&read(output), Space::Ignored, Prefixes::Compared);
    let nameless = |output: &str| canonical(&read(output), Space::Kept, Prefixes::Ignored);
    for (left, right, same_without_space, same_without_prefixes) in [
        ("<a/>", "<b/>", false, false),
        ("<a/>", "<a>t</a>", false, false),
        ("<a><b/></a>", "<a> <b/></a>", true, false),
        ("<a>t</a>", "<a> t</a>", false, false),
        ("<a/>", "<a xmlns='u'/>", false, false),
        ("<a xmlns='u'/>", "<p:a xmlns:p='u'/>", false, true),
        ("<a/>", "<a xmlns:p='u'/>", false, true),
        ("<a b='1'/>", "<a b='2'/>", false, false),
        ("<!--a--><a/>", "<!--b--><a/>", false, false),
        ("<?a b?><a/>", "<?a c?><a/>", false, false),
        ("<a/>", "<a/>t", false, false),
    ] {
        assert_ne!(exact(left), exact(right));
        assert_eq!(spaceless(left) == spaceless(right), same_without_space, "{left} {right}");
        assert_eq!(nameless(left) == nameless(right), same_without_prefixes, "{left} {right}");
    }
}
