//! The core function library (XPath 1.0, section 4), but for what is done with text: see `text`.

use std::borrow::Cow;

use super::text;
use super::{Evaluation, Result};
use crate::tree::NodeId;
use crate::xpath::ast::{CoreFunction, Expr};
use crate::xpath::environment::Context;
use crate::xpath::error::EvaluateError;
use crate::xpath::number;

impl<'a> Evaluation<'a, '_> {
    pub(super) fn core_boolean(
        &mut self,
        function: CoreFunction,
        arguments: &'a [Expr],
        context: Context,
    ) -> Result<bool> {
        Ok(match (function, arguments) {
            (CoreFunction::True, []) => true,
            (CoreFunction::False, []) => false,
            (CoreFunction::Boolean, [value]) => self.boolean(value, context)?,
            (CoreFunction::Not, [value]) => !self.boolean(value, context)?,
            (CoreFunction::StartsWith, [text, start]) => {
                let (text, start) = self.two_strings(text, start, context)?;
                text.starts_with(&*start)
            }
            (CoreFunction::Contains, [text, part]) => {
                let (text, part) = self.two_strings(text, part, context)?;
                text.contains(&*part)
            }
            (CoreFunction::Lang, [language]) => {
                let language = self.string(language, context)?;
                self.lang(&language, context.node)?
            }
            _ => return Err(EvaluateError::NoSuchFunction),
        })
    }

    pub(super) fn core_number(
        &mut self,
        function: CoreFunction,
        arguments: &'a [Expr],
        context: Context,
    ) -> Result<f64> {
        Ok(match (function, arguments) {
            (CoreFunction::Last, []) => f64::from(context.size),
            (CoreFunction::Position, []) => f64::from(context.position),
            (CoreFunction::Count, [nodes]) => {
                let count = self.nodes(nodes, context)?.len();
                f64::from(u32::try_from(count).unwrap_or(u32::MAX))
            }
            (CoreFunction::Sum, [nodes]) => self.sum(nodes, context)?,
            (CoreFunction::Number, [value]) => self.number(value, context)?,
            (CoreFunction::Floor, [value]) => self.number(value, context)?.floor(),
            (CoreFunction::Ceiling, [value]) => self.number(value, context)?.ceil(),
            (CoreFunction::Round, [value]) => number::round(self.number(value, context)?),
            (CoreFunction::StringLength, [text]) => {
                let text = self.read(text, context)?;
                f64::from(u32::try_from(text.chars().count()).unwrap_or(u32::MAX))
            }
            _ => return Err(EvaluateError::NoSuchFunction),
        })
    }

    pub(super) fn core_string(
        &mut self,
        function: CoreFunction,
        arguments: &'a [Expr],
        context: Context,
    ) -> Result<Cow<'a, str>> {
        Ok(match (function, arguments) {
            (CoreFunction::String, [value]) => self.string(value, context)?,
            (CoreFunction::Concat, parts) => self.concat(parts, context)?,
            (CoreFunction::SubstringBefore, [text, part]) => {
                let (text, part) = self.two_strings(text, part, context)?;
                self.part(text, |text| text.split_once(&*part).map_or("", |(before, _)| before))?
            }
            (CoreFunction::SubstringAfter, [text, part]) => {
                let (text, part) = self.two_strings(text, part, context)?;
                self.part(text, |text| text.split_once(&*part).map_or("", |(_, after)| after))?
            }
            (CoreFunction::Substring, [text, start]) => {
                let (text, start) = (self.read(text, context)?, self.number(start, context)?);
                self.part(text, |text| text::substring(text, start, None))?
            }
            (CoreFunction::Substring, [text, start, length]) => {
                let text = self.read(text, context)?;
                let (start, length) = (self.number(start, context)?, self.number(length, context)?);
                self.part(text, |text| text::substring(text, start, Some(length)))?
            }
            (CoreFunction::NormalizeSpace, [text]) => {
                let text = self.read(text, context)?;
                self.budget.charge_bytes(text.len())?;
                self.budget.hold(text.len())?;
                text::normalize_space(text)
            }
            (CoreFunction::Translate, [text, from, to]) => {
                let text = self.read(text, context)?;
                let (from, to) = (self.read(from, context)?, self.read(to, context)?);
                // What is not ASCII is looked up.
                self.budget.charge_bytes(from.len().saturating_mul(4))?;
                // A character may become one of four bytes.
                let longest = text.len().saturating_mul(if to.is_ascii() { 1 } else { 4 });
                // The characters that are looked up take a place each.
                let looked_up = if from.is_ascii() { 0 } else { from.len().saturating_mul(text::LOOKED_UP) };
                self.budget.hold(longest.saturating_add(looked_up))?;
                self.budget.charge_bytes(longest)?;
                Cow::Owned(text::translate(&text, &from, &to))
            }
            (CoreFunction::LocalName, [nodes]) => {
                let node = self.first(nodes, context)?;
                Cow::Borrowed(node.map_or("", |node| self.document.local_name(node)))
            }
            (CoreFunction::NamespaceUri, [nodes]) => {
                let node = self.first(nodes, context)?;
                Cow::Borrowed(node.map_or("", |node| self.document.namespace(node)))
            }
            (CoreFunction::Name, [nodes]) => match self.first(nodes, context)? {
                Some(node) => self.qualified_name(node)?,
                None => Cow::Borrowed(""),
            },
            _ => return Err(EvaluateError::NoSuchFunction),
        })
    }

    fn concat(&mut self, parts: &'a [Expr], context: Context) -> Result<Cow<'a, str>> {
        let mut texts = Vec::with_capacity(parts.len());
        for part in parts {
            let text = self.read(part, context)?;
            self.budget.hold(text.len())?;
            texts.push(text);
        }
        Ok(Cow::Owned(texts.concat()))
    }

    /// A part of a text: a copy of it, if the text borrows nothing.
    fn part(
        &mut self,
        text: Cow<'a, str>,
        part: impl for<'t> Fn(&'t str) -> &'t str,
    ) -> Result<Cow<'a, str>> {
        if let Cow::Owned(text) = &text {
            self.budget.hold(text.len())?;
        }
        Ok(text::slice(text, part))
    }

    /// A string whose text is going to be read, or copied.
    fn read(&mut self, expression: &'a Expr, context: Context) -> Result<Cow<'a, str>> {
        let text = self.string(expression, context)?;
        self.budget.charge_bytes(text.len())?;
        Ok(text)
    }

    fn two_strings(
        &mut self,
        first: &'a Expr,
        second: &'a Expr,
        context: Context,
    ) -> Result<(Cow<'a, str>, Cow<'a, str>)> {
        Ok((self.read(first, context)?, self.read(second, context)?))
    }

    fn sum(&mut self, nodes: &'a Expr, context: Context) -> Result<f64> {
        let mut sum = 0.0;
        for node in self.nodes(nodes, context)?.iter() {
            let text = self.document.string_value(*node);
            self.budget.charge(1)?;
            sum += self.parse_number(text)?;
        }
        Ok(sum)
    }

    fn qualified_name(&mut self, node: NodeId) -> Result<Cow<'a, str>> {
        let (prefix, local) = (self.document.prefix(node), self.document.local_name(node));
        if prefix.is_empty() {
            return Ok(Cow::Borrowed(local));
        }
        let bytes = prefix.len().saturating_add(local.len()).saturating_add(1);
        self.budget.charge_bytes(bytes)?;
        self.budget.hold(bytes)?;
        Ok(Cow::Owned(format!("{prefix}:{local}")))
    }

    /// Whether the innermost `xml:lang` names this language, or a sublanguage of it, in any case.
    fn lang(&mut self, language: &str, node: NodeId) -> Result<bool> {
        let Some(wanted) = self.bindings.lang() else { return Ok(false) };
        let document = self.document;
        for at in core::iter::once(node).chain(document.ancestors(node)) {
            let mut attributes = document.attributes(at);
            self.budget.charge(u64::try_from(attributes.len()).unwrap_or(u64::MAX).saturating_add(1))?;
            if let Some(declared) = attributes.find(|attribute| document.tag(*attribute) == wanted) {
                let tag = document.string_value(declared);
                self.budget.charge_bytes(tag.len())?;
                return Ok(text::is_language(tag, language));
            }
        }
        Ok(false)
    }
}
