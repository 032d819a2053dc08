//! XPath 1.0 (W3C recommendation of 16 November 1999), but for the `namespace` axis and `id()`, which are refused by
//! name when an expression is compiled.
//!
//! An expression is compiled once into an [`Expr`], whose names are numbers of a [`NamePool`]. [`Bindings`]
//! look these up in a document, so that a name test is a comparison of two numbers. An [`Evaluation`] then takes no
//! more steps than its [`Budget`] has, and no more stack than the depth of the expression asks for, however deep and
//! large the document is. [`stream`] evaluates a part of the language without a tree.
//!
//! A host that has variables and functions of its own (XSLT) tells the compiler in a [`StaticContext`] what there is,
//! and the evaluation in an [`Environment`] what it is worth.
//!
//! # Example
//! ```
//! use portcullis_xml::xpath::Budget;
//! use portcullis_xml::{Document, Limits, Namespaces, NodeId, XPath};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let namespaces = Namespaces::from_iter([("o", "urn:orders")]);
//! let xpath = XPath::compile("//o:order[@priority > 5]/o:id", &namespaces)?;
//!
//! let text = "<orders xmlns='urn:orders'><order priority='9'><id>17</id></order></orders>";
//! let document = Document::parse(text.as_bytes(), &Limits::default())?;
//! let mut budget = Budget::new(100_000);
//! assert_eq!(xpath.string(&document, NodeId::ROOT, &mut budget)?, "17");
//! # Ok(())
//! # }
//! ```

pub mod ast;
pub mod number;
pub mod stream;

mod analysis;
mod bindings;
mod budget;
mod environment;
mod error;
mod evaluate;
mod lexer;
mod parser;
mod pool;
mod rewrite;
mod signature;
mod static_context;
mod value;

pub use bindings::Bindings;
pub use budget::{Budget, owned_bytes};
pub use environment::{Context, Environment, HostCall, NoEnvironment};
pub use error::{CompileError, CompileErrorKind, EvaluateError};
pub use evaluate::Evaluation;
pub use pool::NamePool;
pub use static_context::{HostSignature, Lookup, Namespaces, StaticContext};
pub use value::{NodeSet, Value};

use std::borrow::Cow;

use ast::Expr;

use crate::tree::{Document, NodeId};

/// A compiled expression, with the names that it tests for.
#[derive(Debug, Clone)]
pub struct XPath {
    expression: Expr,
    names: NamePool,
}

impl XPath {
    /// Compiles an expression; prefixes, variables and functions are what `context` says.
    ///
    /// # Errors
    /// What is wrong with the expression, and where.
    pub fn compile(text: &str, context: &dyn StaticContext) -> Result<Self, CompileError> {
        let mut names = NamePool::default();
        let expression = compile(text, context, &mut names)?;
        Ok(Self { expression, names })
    }

    /// Its value for a node as the context, alone in its list.
    ///
    /// # Errors
    /// If it takes more steps than the budget has; see [`EvaluateError`].
    pub fn evaluate<'a>(
        &'a self,
        document: &'a Document,
        node: NodeId,
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvaluateError> {
        let bindings = Bindings::new(&self.names, document);
        Evaluation::new(document, &bindings, &NoEnvironment, budget)
            .value(&self.expression, Context::of(node))
    }

    /// Its string-value for a node, which is that of `string(expression)`.
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate).
    pub fn string<'a>(
        &'a self,
        document: &'a Document,
        node: NodeId,
        budget: &mut Budget,
    ) -> Result<Cow<'a, str>, EvaluateError> {
        let bindings = Bindings::new(&self.names, document);
        Evaluation::new(document, &bindings, &NoEnvironment, budget)
            .string(&self.expression, Context::of(node))
    }

    /// Whether it is true of a node, which is `boolean(expression)`.
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate).
    pub fn matches(
        &self,
        document: &Document,
        node: NodeId,
        budget: &mut Budget,
    ) -> Result<bool, EvaluateError> {
        let bindings = Bindings::new(&self.names, document);
        Evaluation::new(document, &bindings, &NoEnvironment, budget)
            .boolean(&self.expression, Context::of(node))
    }

    /// What it says. It is written in the form that is evaluated: `//a` is `/descendant::a` where that selects the
    /// same, and what is constant is computed.
    #[must_use]
    pub fn expression(&self) -> &Expr {
        &self.expression
    }

    /// The names that it tests for.
    #[must_use]
    pub fn names(&self) -> &NamePool {
        &self.names
    }
}

/// Compiles one of several expressions that share a pool of names.
///
/// # Errors
/// What is wrong with the expression, and where.
pub fn compile(text: &str, context: &dyn StaticContext, names: &mut NamePool) -> Result<Expr, CompileError> {
    parser::parse(text, context, names)
}
