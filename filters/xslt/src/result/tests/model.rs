//! Sequences of calls that look random and are the same in each run: what they write is well-formed, and a reader finds
//! the names, attributes and text that were asked for, whatever prefixes there were.

#![allow(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use portcullis_xml::tree::{Children, NodeKind};

use super::*;

const URIS: &[&str] = &["", "u", "v", "w"];
const PREFIXES: &[&str] = &["", "p", "q", "ns0", "ns1", "xml", "xmlns"];
const LOCALS: &[&str] = &["a", "b"];
const TEXTS: &[&str] = &["", "t", "<&>\"'", "]]>", " \t\n", "\r\n", "é\u{10000}"];

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }
}

/// What a reader should find: a line for each event.
#[derive(Default)]
struct Model {
    lines: Vec<String>,
    /// The attributes of the element whose tag is open, by expanded name.
    tag: Option<BTreeMap<String, &'static str>>,
    depth: usize,
}

impl Model {
    fn start(&mut self, name: &str) {
        self.close();
        self.lines.push(format!("start {name}"));
        self.tag = Some(BTreeMap::new());
        self.depth += 1;
    }

    fn attribute(&mut self, name: String, value: &'static str) {
        if let Some(tag) = &mut self.tag {
            tag.insert(name, value);
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.close();
        match self.lines.last_mut().filter(|last| last.starts_with("text ")) {
            Some(last) => last.push_str(text),
            None => self.lines.push(format!("text {text}")),
        }
    }

    fn end(&mut self) {
        self.close();
        self.lines.push("end".to_owned());
        self.depth -= 1;
    }

    fn close(&mut self) {
        for (name, value) in self.tag.take().unwrap_or_default() {
            self.lines.push(format!("attribute {name}={value}"));
        }
    }
}

fn read(document: &Document) -> Vec<String> {
    let name = |node| format!("{{{}}}{}", document.namespace(node), document.local_name(node));
    let mut lines = Vec::new();
    let mut open: Vec<Children<'_>> = vec![document.children(NodeId::ROOT)];
    while let Some(children) = open.last_mut() {
        match children.next() {
            Some(node) if document.kind(node) == NodeKind::Element => {
                lines.push(format!("start {}", name(node)));
                let mut attributes: Vec<String> = document
                    .attributes(node)
                    .map(|node| format!("attribute {}={}", name(node), document.string_value(node)))
                    .collect();
                attributes.sort_unstable();
                lines.extend(attributes);
                open.push(document.children(node));
            }
            Some(node) => lines.push(format!("text {}", document.string_value(node))),
            None => {
                lines.push("end".to_owned());
                open.pop();
            }
        }
    }
    // That of the root.
    lines.pop();
    lines
}

fn sequence(random: &mut Random, script: &mut Script) -> Vec<String> {
    let mut model = Model::default();
    script.start("root");
    model.start("{}root");
    for _ in 0..random.below(60) {
        let (uri, prefix, local) = (random.of(URIS), random.of(PREFIXES), random.of(LOCALS));
        let lexical = format!("{{{uri}}}{prefix}:{local}");
        let expanded = format!("{{{uri}}}{local}");
        match random.below(8) {
            0 | 1 => {
                script.start(&lexical);
                model.start(&expanded);
            }
            2 => {
                script.namespace(prefix, uri);
            }
            3 | 4 => {
                let value = random.of(TEXTS);
                script.attribute(&lexical, value);
                model.attribute(expanded, value);
            }
            5 => {
                let text = random.of(TEXTS);
                script.text(text);
                model.text(text);
            }
            _ if model.depth > 1 => {
                script.end();
                model.end();
            }
            _ => {}
        }
    }
    while model.depth > 0 {
        script.end();
        model.end();
    }
    model.lines
}

#[test]
fn a_reader_finds_what_was_written() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..3000 {
        let mut script = Script::plain();
        let expected = sequence(&mut random, &mut script);
        let output = script.output();
        assert_eq!(read(&parse(&output)), expected, "{round}: {output}");
    }
}

#[test]
fn a_copy_of_a_fragment_is_what_was_written_to_it() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    for round in 0..1000 {
        let mut script = Script::plain();
        script.writer.begin_fragment();
        let expected = sequence(&mut random, &mut script);
        let fragment = script.writer.end_fragment().unwrap();
        let mut tree = TreeBuilder::new(&Limits::default());
        *tree.names() = script.names;
        fragment.build(&mut tree).unwrap();
        let document = tree.finish().unwrap();
        let mut writer = ResultWriter::new(&plain(), LIMITS);
        copy_of(&mut writer, &document, NodeId::ROOT).unwrap();
        let output = String::from_utf8(writer.finish().unwrap()).unwrap();
        assert_eq!(read(&parse(&output)), expected, "{round}: {output}");
        assert_eq!(read(&document), expected, "{round}");
    }
}
