//! Includes and imports (XSLT 1.0, sections 2.6 and 2.7).

use portcullis_xml::NodeId;

use super::element::{Child, Element};
use super::literal::check_designations;
use super::module::Module;
use super::options::CompileOptions;
use crate::error::{CompileError, CompileErrorKind};
use crate::qname::{self, XSL};

/// All documents of a stylesheet, and what they declare.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) modules: Vec<Module>,
    /// In the order of the stylesheet, what is imported before what imports it.
    pub(super) declarations: Vec<Declaration>,
}

/// A top-level element, or the document element of a simplified stylesheet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declaration {
    module: usize,
    node: NodeId,
    pub(super) kind: DeclarationKind,
    pub(super) precedence: u32,
    /// The lowest precedence of what its stylesheet imports; its own if that is nothing.
    pub(super) first_imported: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclarationKind {
    /// A child of `xsl:stylesheet`.
    TopLevel,
    /// All of a simplified stylesheet (section 2.3).
    Simplified,
}

impl Loaded {
    pub(super) fn new(source: &[u8], options: &CompileOptions) -> Result<Self, CompileError> {
        let mut loader = Loader { options, loaded: Self::default(), chain: Vec::new(), opened: 0, next: 0 };
        loader.stylesheet(Module::parse("", source, &options.limits)?)?;
        Ok(loader.loaded)
    }

    pub(super) fn element(&self, declaration: Declaration) -> Option<Element<'_>> {
        let module = self.modules.get(declaration.module)?;
        Some(Element { module, node: declaration.node })
    }
}

struct Loader<'o> {
    options: &'o CompileOptions,
    loaded: Loaded,
    /// The names of the documents that are being loaded: none may include itself.
    chain: Vec<Box<str>>,
    /// How many documents have been opened.
    opened: usize,
    /// The next import precedence.
    next: u32,
}

/// What a document holds, once its includes have been put in place.
#[derive(Default)]
struct Contents {
    imports: Vec<(Box<str>, Module)>,
    declarations: Vec<(usize, NodeId, DeclarationKind)>,
}

impl Loader<'_> {
    /// Loads a stylesheet with all that it imports. Recursion follows the chain of documents, whose number is bounded.
    fn stylesheet(&mut self, module: Module) -> Result<(), CompileError> {
        let first_imported = self.next;
        let mut contents = Contents::default();
        self.contents(module, &mut contents)?;
        for (name, module) in contents.imports {
            self.chain.push(name);
            self.stylesheet(module)?;
            self.chain.pop();
        }
        let precedence = self.next;
        self.next = self.next.saturating_add(1);
        self.loaded.declarations.extend(
            contents.declarations.into_iter().map(|(module, node, kind)| Declaration {
                module,
                node,
                kind,
                precedence,
                first_imported,
            }),
        );
        Ok(())
    }

    /// Collects what a document declares, and what those that it includes do.
    fn contents(&mut self, module: Module, contents: &mut Contents) -> Result<(), CompileError> {
        let index = self.loaded.modules.len();
        let root = Element { module: &module, node: module.element };
        if !matches!(root.instruction(), Some("stylesheet" | "transform")) {
            if root.uri() == XSL || root.attribute_in(XSL, "version").is_none() {
                return Err(root.error(CompileErrorKind::NotAStylesheet));
            }
            contents.declarations.push((index, module.element, DeclarationKind::Simplified));
            self.loaded.modules.push(module);
            return Ok(());
        }
        check_root(root)?;

        let mut includes = Vec::new();
        let mut imports_are_over = false;
        for child in root.children() {
            let child = match child {
                Child::Element(element) => element,
                Child::Text(_) => {
                    return Err(root.unexpected("text", "only elements at the top level"));
                }
            };
            match child.instruction() {
                Some("import") if imports_are_over => {
                    return Err(child.unexpected("xsl:import", "it before all other elements"));
                }
                Some("import") => contents.imports.push(self.open(child)?),
                other => {
                    imports_are_over = true;
                    // Included documents go in where the element stands.
                    let included = if other == Some("include") { Some(self.open(child)?) } else { None };
                    includes.push((child.node, included));
                }
            }
        }
        self.loaded.modules.push(module);
        for (node, included) in includes {
            match included {
                None => contents.declarations.push((index, node, DeclarationKind::TopLevel)),
                Some((name, included)) => {
                    self.chain.push(name);
                    self.contents(included, contents)?;
                    self.chain.pop();
                }
            }
        }
        Ok(())
    }

    /// Finds and parses the document that an element refers to.
    fn open(&mut self, element: Element<'_>) -> Result<(Box<str>, Module), CompileError> {
        element.allow(&["href"])?;
        element.require_empty()?;
        let href = element.required("href")?;
        let Some(name) = resolve(&element.module.name, href) else {
            return Err(element.refused(
                &format!("the location '{href}'"),
                "nothing is fetched: put the document into the configuration, and name it by a relative path",
            ));
        };
        if self.chain.iter().any(|open| **open == *name) || name.is_empty() {
            return Err(element.error(CompileErrorKind::Circular { what: "document", name: name.into() }));
        }
        let limit = self.options.limits.documents;
        self.opened = self.opened.saturating_add(1);
        if self.opened > limit {
            return Err(element.error(CompileErrorKind::TooMany { what: "included documents", limit }));
        }
        match self.options.documents.get(&name) {
            Some(bytes) => Ok((name.clone().into(), Module::parse(&name, bytes, &self.options.limits)?)),
            None => Err(element.error(CompileErrorKind::NotFound {
                what: "document in the configuration with the name",
                name: name.into(),
            })),
        }
    }
}

/// What must be right about `xsl:stylesheet` itself.
fn check_root(root: Element<'_>) -> Result<(), CompileError> {
    let version = root.required("version")?;
    if portcullis_xml::xpath::number::parse(version).is_nan() {
        return Err(root.value_error("version", "a number"));
    }
    check_designations(root)?;
    root.allow(&["id", "version", "extension-element-prefixes", "exclude-result-prefixes"])
}

/// The name of a document that one of another name refers to. `None` if it is no relative path.
fn resolve(base: &str, href: &str) -> Option<String> {
    let href = qname::trim(href);
    if href.starts_with('/') || href.contains([':', '#', '?', '\\']) {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in href.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_as_relative_paths() {
        for (base, href, expected) in [
            ("", "a.xsl", Some("a.xsl")),
            ("", "./a.xsl", Some("a.xsl")),
            ("d/b.xsl", "a.xsl", Some("d/a.xsl")),
            ("d/e/b.xsl", "../a.xsl", Some("d/a.xsl")),
            ("b.xsl", "../a.xsl", Some("../a.xsl")),
            ("../b.xsl", "a.xsl", Some("../a.xsl")),
            ("", "", Some("")),
            ("", "/a.xsl", None),
            ("", "http://example.com/a.xsl", None),
            ("", "file:a.xsl", None),
            ("", "a.xsl#b", None),
        ] {
            assert_eq!(resolve(base, href).as_deref(), expected, "{base} {href}");
        }
    }
}
