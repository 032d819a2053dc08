//! Location paths.

use super::Parser;
use crate::xpath::ast::{Axis, Expr, NameTest, NamespaceTest, NodeTest, Start, Step};
use crate::xpath::error::{CompileError, CompileErrorKind};
use crate::xpath::lexer::{Kind, QName};
use crate::xpath::rewrite::{self, push_step};

impl<'a> Parser<'a> {
    /// `PathExpr`
    pub(super) fn path(&mut self) -> Result<Expr, CompileError> {
        let mut steps = Vec::new();
        let start = match self.peek() {
            Kind::Slash => {
                self.advance();
                if !self.at_step() {
                    return Ok(rewrite::path(Start::Root, steps));
                }
                Start::Root
            }
            Kind::SlashSlash => {
                self.advance();
                push_step(&mut steps, Step::any(Axis::DescendantOrSelf));
                Start::Root
            }
            _ if self.at_step() => Start::Context,
            _ => {
                let at = self.position();
                let base = self.primary()?;
                let separator = self.peek();
                if !matches!(separator, Kind::Slash | Kind::SlashSlash) {
                    return Ok(base);
                }
                self.require_nodes(&base, at)?;
                self.advance();
                if separator == Kind::SlashSlash {
                    push_step(&mut steps, Step::any(Axis::DescendantOrSelf));
                }
                Start::Nodes(Box::new(base))
            }
        };
        loop {
            let step = self.step()?;
            push_step(&mut steps, step);
            match self.peek() {
                Kind::Slash => {}
                Kind::SlashSlash => push_step(&mut steps, Step::any(Axis::DescendantOrSelf)),
                _ => return Ok(rewrite::path(start, steps)),
            }
            self.advance();
        }
    }

    /// Whether a step begins here, and no call of a function.
    fn at_step(&self) -> bool {
        match self.peek() {
            Kind::Dot | Kind::DotDot | Kind::At | Kind::Star | Kind::AnyIn(_) => true,
            Kind::Name(name) => self.peek_second() != Kind::OpenParenthesis || is_node_type(name),
            _ => false,
        }
    }

    fn step(&mut self) -> Result<Step, CompileError> {
        let axis = match (self.peek(), self.peek_second()) {
            (Kind::Dot, _) => {
                self.advance();
                return Ok(Step::any(Axis::SelfNode));
            }
            (Kind::DotDot, _) => {
                self.advance();
                return Ok(Step::any(Axis::Parent));
            }
            (Kind::At, _) => {
                self.advance();
                Axis::Attribute
            }
            (Kind::Name(name), Kind::ColonColon) => {
                let axis = self.axis(name)?;
                self.advance();
                self.advance();
                axis
            }
            _ => Axis::Child,
        };
        let test = self.node_test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn axis(&self, name: QName<'a>) -> Result<Axis, CompileError> {
        let axis = match name {
            QName { prefix: None, local } => match local {
                "ancestor" => Some(Axis::Ancestor),
                "ancestor-or-self" => Some(Axis::AncestorOrSelf),
                "attribute" => Some(Axis::Attribute),
                "child" => Some(Axis::Child),
                "descendant" => Some(Axis::Descendant),
                "descendant-or-self" => Some(Axis::DescendantOrSelf),
                "following" => Some(Axis::Following),
                "following-sibling" => Some(Axis::FollowingSibling),
                "parent" => Some(Axis::Parent),
                "preceding" => Some(Axis::Preceding),
                "preceding-sibling" => Some(Axis::PrecedingSibling),
                "self" => Some(Axis::SelfNode),
                "namespace" => {
                    return Err(self.error(CompileErrorKind::Refused {
                        what: "the axis 'namespace'".into(),
                        reason: "namespaces are no nodes here; namespace-uri() tells the namespace of a name",
                    }));
                }
                _ => None,
            },
            QName { prefix: Some(_), .. } => None,
        };
        axis.ok_or_else(|| self.error(CompileErrorKind::UnknownAxis(name.to_string().into())))
    }

    fn node_test(&mut self) -> Result<NodeTest, CompileError> {
        let test = match self.peek() {
            Kind::Star => NodeTest::Any,
            Kind::AnyIn(prefix) => {
                let namespace = self.namespace_of(QName { prefix: Some(prefix), local: "*" })?;
                let uri = self.names.uri(&namespace);
                NodeTest::Namespace(NamespaceTest { namespace, uri })
            }
            Kind::Name(name) if self.peek_second() == Kind::OpenParenthesis => return self.node_type(name),
            Kind::Name(name) => {
                let namespace = self.namespace_of(name)?;
                NodeTest::Name(self.name_test(namespace, name.local))
            }
            _ => return Err(self.unexpected("a node test: a name, '*', text(), node() and the like")),
        };
        self.advance();
        Ok(test)
    }

    fn node_type(&mut self, name: QName<'a>) -> Result<NodeTest, CompileError> {
        let test = match name {
            QName { prefix: None, local: "node" } => NodeTest::Node,
            QName { prefix: None, local: "text" } => NodeTest::Text,
            QName { prefix: None, local: "comment" } => NodeTest::Comment,
            QName { prefix: None, local: "processing-instruction" } => NodeTest::ProcessingInstruction,
            _ => return Err(self.unexpected("a node test: XPath 1.0 has no functions as steps")),
        };
        self.advance();
        self.advance();
        if let (NodeTest::ProcessingInstruction, Kind::Literal(target)) = (&test, self.peek()) {
            self.advance();
            self.expect(Kind::CloseParenthesis, "')'")?;
            return Ok(NodeTest::Target(self.name_test("".into(), target)));
        }
        self.expect(Kind::CloseParenthesis, "')'")?;
        Ok(test)
    }

    fn name_test(&mut self, namespace: Box<str>, local: &str) -> NameTest {
        let name = self.names.name(&namespace, local);
        NameTest { namespace, local: local.into(), name }
    }
}

fn is_node_type(name: QName<'_>) -> bool {
    name.prefix.is_none() && matches!(name.local, "node" | "text" | "comment" | "processing-instruction")
}
