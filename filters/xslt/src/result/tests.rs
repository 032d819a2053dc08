use portcullis_xml::tree::{Document, NodeId, TreeBuilder};
use portcullis_xml::{Limits, Tokenizer};

use super::format::CdataElements;
use super::*;
use portcullis_xml::tree::{Attached, Names};

const LIMITS: ResultLimits =
    ResultLimits { output_bytes: 1 << 20, capture_bytes: 1 << 20, fragment_nodes: 1 << 16, attributes: 100 };

/// XML without a declaration.
fn plain() -> OutputFormat {
    OutputFormat { method: Method::Xml, declaration: XmlDeclaration::Omitted, ..OutputFormat::default() }
}

/// Writes with names as they are written: `{uri}prefix:local`, or less of that.
struct Script {
    names: Names,
    writer: ResultWriter,
}

impl Script {
    fn new(format: &OutputFormat) -> Self {
        Self { names: Names::default(), writer: ResultWriter::new(format, LIMITS) }
    }

    fn plain() -> Self {
        Self::new(&plain())
    }

    fn name(&mut self, name: &str) -> ResultName {
        let (uri, lexical) =
            name.strip_prefix('{').and_then(|name| name.split_once('}')).unwrap_or(("", name));
        let (prefix, local) = lexical.split_once(':').unwrap_or(("", lexical));
        let uri = self.names.uri(uri).unwrap();
        let prefix = self.names.prefix(prefix).unwrap();
        ResultName { name: self.names.name(uri, local).unwrap(), prefix }
    }

    fn start(&mut self, name: &str) -> &mut Self {
        let name = self.name(name);
        self.writer.start_element(&self.names, name).unwrap();
        self
    }

    fn namespace(&mut self, prefix: &str, uri: &str) -> &mut Self {
        let (prefix, uri) = (self.names.prefix(prefix).unwrap(), self.names.uri(uri).unwrap());
        self.writer.namespace(&self.names, prefix, uri).unwrap();
        self
    }

    fn try_attribute(&mut self, name: &str, value: &str) -> Attached {
        let name = self.name(name);
        self.writer.attribute(&self.names, name, value).unwrap()
    }

    fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        self.try_attribute(name, value);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.writer.text(text).unwrap();
        self
    }

    fn comment(&mut self, text: &str) -> &mut Self {
        self.writer.comment(text).unwrap();
        self
    }

    fn instruction(&mut self, target: &str, data: &str) -> &mut Self {
        self.writer.processing_instruction(target, data).unwrap();
        self
    }

    fn end(&mut self) -> &mut Self {
        self.writer.end_element().unwrap();
        self
    }

    fn output(&mut self) -> String {
        let writer = core::mem::replace(&mut self.writer, ResultWriter::new(&plain(), LIMITS));
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }
}

fn parse(source: &str) -> Document {
    let mut tree = TreeBuilder::new(&Limits::default());
    let mut tokenizer = Tokenizer::new(&Limits::default());
    tokenizer.feed(source.as_bytes(), &mut tree).unwrap();
    tokenizer.finish(&mut tree).unwrap();
    tree.finish().unwrap()
}

mod captures;
mod copies;
mod documents;
mod limits;
mod model;
mod namespaces;
mod nodes;
