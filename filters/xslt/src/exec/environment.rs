//! The variables and functions of expressions.

use std::borrow::Cow;

use portcullis_xml::xpath::ast::{HostFunction, Slot};
use portcullis_xml::xpath::{Environment, EvaluateError, HostCall, Value};
use portcullis_xml::{Document, NodeId};

use super::key_tables::KeyTable;
use super::machine::GlobalValue;
use crate::format_number::Picture;
use crate::fragments::{is_fragment, split_slot};
use crate::functions::{
    Property, XsltFunction, generate_id, is_element_available, is_function_available, system_property,
};
use crate::program::{GLOBAL, Program};
use crate::qname::Expanded;

/// What expressions see of a transformation.
pub(super) struct Surroundings<'s> {
    pub(super) program: &'s Program,
    pub(super) document: &'s Document,
    /// The variables of the template.
    pub(super) locals: &'s [Value<'static>],
    pub(super) globals: &'s [GlobalValue],
    pub(super) keys: &'s [Option<KeyTable>],
    /// The current node.
    pub(super) current: NodeId,
}

type Result<T> = core::result::Result<T, EvaluateError>;

impl Environment for Surroundings<'_> {
    fn variable(&self, slot: Slot) -> Option<Value<'_>> {
        let index = |slot: u32| usize::try_from(slot).unwrap_or(usize::MAX);
        let (slot, nodes_only) = split_slot(slot);
        let value = match slot.checked_sub(GLOBAL) {
            Some(global) => match self.globals.get(index(global))? {
                GlobalValue::Known(value) => value,
                GlobalValue::Unknown | GlobalValue::Pending => return None,
            },
            None => self.locals.get(index(slot))?,
        };
        if nodes_only && is_fragment(value, self.document) {
            // Whatever is no node-set makes the evaluation fail as it should.
            return Some(Value::String(Cow::Borrowed("")));
        }
        Some(borrowed(value))
    }

    fn call<'a>(&'a self, function: HostFunction, call: HostCall<'_, 'a>) -> Result<Value<'a>> {
        let (function, scope) = XsltFunction::of_id(function.id);
        match function {
            XsltFunction::Current => Ok(Value::Nodes(Cow::Owned(vec![self.current]))),
            XsltFunction::Key => self.key(scope, call),
            XsltFunction::FormatNumber => self.format_number(scope, call),
            XsltFunction::GenerateId => {
                let node = match call.arguments.first() {
                    None => Some(call.context.node),
                    Some(Value::Nodes(nodes)) => nodes.first().copied(),
                    Some(_) => return Err(EvaluateError::NotNodes),
                };
                Ok(Value::String(Cow::Owned(generate_id(node))))
            }
            XsltFunction::SystemProperty => Ok(match system_property(&self.name(scope, &call, 0)?) {
                Property::String(text) => Value::String(Cow::Borrowed(text)),
                Property::Number(number) => Value::Number(number),
            }),
            XsltFunction::ElementAvailable => {
                // Unlike elsewhere, the default namespace counts (section 15).
                let name = text(&call, 0);
                let mut expanded = self.name(scope, &call, 0)?;
                if !name.contains(':') {
                    expanded.namespace = self.program.scopes.resolve(scope, "").unwrap_or_default().into();
                }
                Ok(Value::Boolean(is_element_available(&expanded)))
            }
            XsltFunction::FunctionAvailable => {
                Ok(Value::Boolean(is_function_available(&self.name(scope, &call, 0)?)))
            }
            // There are no unparsed entities without a document type declaration.
            XsltFunction::UnparsedEntityUri => Ok(Value::String(Cow::Borrowed(""))),
        }
    }
}

impl Surroundings<'_> {
    /// The name in an argument.
    fn name(&self, scope: usize, call: &HostCall<'_, '_>, argument: usize) -> Result<Expanded> {
        self.program.scopes.expand(scope, &text(call, argument)).ok_or_else(|| {
            host("expected a qualified name as an argument of a function, with a prefix that is bound")
        })
    }

    fn key<'a>(&'a self, scope: usize, mut call: HostCall<'_, 'a>) -> Result<Value<'a>> {
        let name = self.name(scope, &call, 0)?;
        let number = self.program.keys.iter().position(|key| key.name == name);
        let table = number.and_then(|number| self.keys.get(number)).and_then(Option::as_ref);
        let Some(table) = table else { return Err(host("there is no key of the name that key() was given")) };
        let nodes = match call.arguments.pop() {
            Some(Value::Nodes(values)) => Self::key_of_nodes(table, &values, &mut call)?,
            Some(value) => Cow::Borrowed(table.find(&value.into_string(call.document))),
            None => Cow::Borrowed(&[] as &[NodeId]),
        };
        // A key is of one document; temporary trees have none (section 12.2).
        let is_of_source = call.document.root(call.context.node) == NodeId::ROOT;
        Ok(Value::Nodes(if is_of_source { nodes } else { Cow::Borrowed(&[]) }))
    }

    /// The nodes that have any of the values. A message may have one value as often as it has nodes: each value's list is
    /// taken once, so that there are no more nodes than the table has.
    fn key_of_nodes<'a>(
        table: &'a KeyTable,
        values: &[NodeId],
        call: &mut HostCall<'_, 'a>,
    ) -> Result<Cow<'a, [NodeId]>> {
        call.budget.hold(values.len().saturating_mul(size_of::<&[NodeId]>()))?;
        let mut lists: Vec<&'a [NodeId]> = Vec::with_capacity(values.len());
        for value in values {
            let value = call.document.string_value(*value);
            call.budget.charge(1)?;
            call.budget.charge_bytes(value.len())?;
            lists.push(table.find(value));
        }
        call.budget.charge_sort(lists.len())?;
        lists.sort_unstable_by_key(|list| list.as_ptr());
        lists.dedup_by_key(|list| list.as_ptr());
        if let [only] = *lists {
            return Ok(Cow::Borrowed(only));
        }
        let count = lists.iter().map(|list| list.len()).fold(0, usize::saturating_add);
        call.budget.hold(count.saturating_mul(size_of::<NodeId>()))?;
        call.budget.charge(u64::try_from(count).unwrap_or(u64::MAX))?;
        call.budget.charge_sort(count)?;
        let mut nodes = Vec::with_capacity(count);
        lists.iter().for_each(|list| nodes.extend_from_slice(list));
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Cow::Owned(nodes))
    }

    fn format_number<'a>(&'a self, scope: usize, call: HostCall<'_, 'a>) -> Result<Value<'a>> {
        let name = if call.arguments.len() > 2 { self.name(scope, &call, 2)? } else { Expanded::default() };
        let default = crate::format_number::DecimalFormat::default();
        let format = match self.program.decimal_formats.get(&name) {
            Some(format) => format,
            None if name == Expanded::default() => &default,
            None => {
                return Err(host(
                    "there is no xsl:decimal-format of the name that format-number() was given",
                ));
            }
        };
        let number = call.arguments.first().map_or(f64::NAN, |number| number.to_number(call.document));
        let pattern = text(&call, 1);
        // The parts of the picture, and what is written with them.
        call.budget.hold(pattern.len().saturating_mul(3))?;
        let picture = Picture::parse(&pattern, format)
            .map_err(|error| host(&format!("the second argument of format-number() is {error}")))?;
        let mut out = String::new();
        picture.write(&mut out, number, format);
        call.budget.charge_bytes(out.len().saturating_add(pattern.len()))?;
        Ok(Value::String(Cow::Owned(out)))
    }
}

/// An argument as a string.
fn text(call: &HostCall<'_, '_>, argument: usize) -> String {
    match call.arguments.get(argument) {
        None => String::new(),
        Some(value) => borrowed(value).into_string(call.document).into_owned(),
    }
}

fn host(reason: &str) -> EvaluateError {
    EvaluateError::Host(reason.into())
}

/// The same value, without a copy of it.
pub(super) fn borrowed<'v>(value: &'v Value<'_>) -> Value<'v> {
    match value {
        Value::Nodes(nodes) => Value::Nodes(Cow::Borrowed(nodes)),
        Value::Boolean(boolean) => Value::Boolean(*boolean),
        Value::Number(number) => Value::Number(*number),
        Value::String(text) => Value::String(Cow::Borrowed(text)),
    }
}

/// The same value, which borrows nothing.
pub(super) fn owned(value: Value<'_>) -> Value<'static> {
    match value {
        Value::Nodes(nodes) => {
            let mut nodes = nodes.into_owned();
            shrink(&mut nodes);
            Value::Nodes(Cow::Owned(nodes))
        }
        Value::Boolean(boolean) => Value::Boolean(boolean),
        Value::Number(number) => Value::Number(number),
        Value::String(text) => {
            let mut text = text.into_owned();
            if text.capacity() > with_slack(text.len()) {
                text.shrink_to_fit();
            }
            Value::String(Cow::Owned(text))
        }
    }
}

/// Takes from a list that is going to be kept the room that it does not need, if that is much.
pub(super) fn shrink(nodes: &mut Vec<NodeId>) {
    if nodes.capacity() > with_slack(nodes.len()) {
        nodes.shrink_to_fit();
    }
}

/// As much room as what takes so much may have: what is kept is counted by what it takes.
fn with_slack(len: usize) -> usize {
    len.saturating_mul(2).saturating_add(16)
}
