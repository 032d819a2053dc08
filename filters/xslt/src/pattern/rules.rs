//! Which template is for which node (XSLT 1.0, sections 5.5 and 5.6).

use std::collections::BTreeMap;

use portcullis_xml::xpath::EvaluateError;
use portcullis_xml::xpath::ast::NodeTest;
use portcullis_xml::{NodeId, NodeKind};

use super::matching::Matching;
use super::{Alternative, Anchor, StepKind};

/// A template, and one of the patterns that select it.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) pattern: Alternative,
    pub(crate) template: usize,
    pub(crate) mode: usize,
    /// The import precedence.
    pub(crate) precedence: u32,
    /// The lowest precedence of what its stylesheet imports; its own if that is nothing.
    pub(crate) first_imported: u32,
    pub(crate) priority: f64,
    /// Its place in the stylesheet.
    pub(crate) order: usize,
}

/// The rules of a stylesheet, in tables by the kind and name of the nodes that they can be for.
#[derive(Debug, Default)]
pub(crate) struct RuleSet {
    /// The first of two rules that match is the one to use.
    rules: Vec<Rule>,
    modes: Vec<Mode>,
}

/// The rules of a mode. Each list is in the order in which the rules are tried.
#[derive(Debug, Default, Clone)]
struct Mode {
    elements: Named,
    attributes: Named,
    text: Vec<usize>,
    comment: Vec<usize>,
    instruction: Vec<usize>,
    root: Vec<usize>,
}

/// Rules for nodes with names.
#[derive(Debug, Default, Clone)]
struct Named {
    /// Those for one name, by its place in the pool.
    by_name: BTreeMap<usize, Vec<usize>>,
    /// Those for any name.
    others: Vec<usize>,
}

/// Two lists of rules as one, in the order in which the rules are tried.
struct Candidates<'a> {
    named: &'a [usize],
    others: &'a [usize],
}

impl Iterator for Candidates<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let list = match (self.named.first(), self.others.first()) {
            (Some(named), Some(other)) if named < other => &mut self.named,
            (Some(_), None) => &mut self.named,
            _ => &mut self.others,
        };
        let (first, rest) = list.split_first()?;
        *list = rest;
        Some(*first)
    }
}

/// Which rules may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    /// All.
    All,
    /// Those that the stylesheet with this rule imports.
    ImportedBy(usize),
}

impl RuleSet {
    pub(crate) fn new(mut rules: Vec<Rule>, modes: usize) -> Self {
        rules.sort_by(|a, b| {
            let descending = b.precedence.cmp(&a.precedence).then(b.priority.total_cmp(&a.priority));
            descending.then(b.order.cmp(&a.order))
        });
        let mut set = Self { rules, modes: vec![Mode::default(); modes] };
        for (index, rule) in set.rules.iter().enumerate() {
            if let Some(mode) = set.modes.get_mut(rule.mode) {
                mode.add(index, rule);
            }
        }
        set
    }

    /// The number of the rule for a node, if there is one besides those that are built in.
    pub(crate) fn choose<'a>(
        &'a self,
        node: NodeId,
        mode: usize,
        among: Among,
        matching: &mut Matching<'a, '_>,
    ) -> Result<Option<usize>, EvaluateError> {
        let Some(mode) = self.modes.get(mode) else { return Ok(None) };
        let range = match among {
            Among::All => 0..u32::MAX,
            Among::ImportedBy(rule) => {
                self.rules.get(rule).map_or(0..0, |rule| rule.first_imported..rule.precedence)
            }
        };
        for index in mode.candidates(node, matching) {
            let Some(rule) = self.rules.get(index) else { continue };
            if range.contains(&rule.precedence)
                && (rule.pattern.is_plain() || matching.matches_alternative(&rule.pattern, node)?)
            {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The template of a rule.
    pub(crate) fn template(&self, rule: usize) -> Option<usize> {
        self.rules.get(rule).map(|rule| rule.template)
    }
}

impl Rule {
    /// The kind and the name, as its place in the pool, of the only nodes that the rule can be for.
    fn name(&self) -> Option<(StepKind, usize)> {
        let step = self.pattern.steps.first()?;
        match &step.test {
            NodeTest::Name(test) => Some((step.kind, usize::try_from(test.name.0).ok()?)),
            _ => None,
        }
    }
}

impl Mode {
    fn named(&mut self, kind: StepKind) -> &mut Named {
        match kind {
            StepKind::Child => &mut self.elements,
            StepKind::Attribute => &mut self.attributes,
        }
    }

    fn add(&mut self, index: usize, rule: &Rule) {
        let Some(step) = rule.pattern.steps.first() else {
            self.root.push(index);
            if matches!(rule.pattern.anchor, Anchor::Nodes(_)) {
                self.elements.others.push(index);
                self.attributes.others.push(index);
                self.add_leaves(index);
            }
            return;
        };
        if let Some((kind, name)) = rule.name() {
            self.named(kind).by_name.entry(name).or_default().push(index);
            return;
        }
        match (&step.test, step.kind) {
            (NodeTest::Any | NodeTest::Namespace(_), kind) => self.named(kind).others.push(index),
            (NodeTest::Node, StepKind::Attribute) => self.attributes.others.push(index),
            (NodeTest::Node, StepKind::Child) => {
                self.elements.others.push(index);
                self.add_leaves(index);
            }
            (NodeTest::Text, StepKind::Child) => self.text.push(index),
            (NodeTest::Comment, StepKind::Child) => self.comment.push(index),
            (NodeTest::ProcessingInstruction | NodeTest::Target(_), StepKind::Child) => {
                self.instruction.push(index);
            }
            // No attribute is text; names have been dealt with.
            _ => {}
        }
    }

    fn add_leaves(&mut self, index: usize) {
        self.text.push(index);
        self.comment.push(index);
        self.instruction.push(index);
    }

    fn candidates(&self, node: NodeId, matching: &Matching<'_, '_>) -> Candidates<'_> {
        let document = matching.document;
        let place = || document.name(node).and_then(|name| matching.names.place(name));
        let (named, others): (&[usize], _) = match document.kind(node) {
            NodeKind::Element => (self.elements.of(place()), &self.elements.others),
            NodeKind::Attribute => (self.attributes.of(place()), &self.attributes.others),
            NodeKind::Text => (&[], &self.text),
            NodeKind::Comment => (&[], &self.comment),
            NodeKind::ProcessingInstruction => (&[], &self.instruction),
            NodeKind::Root => (&[], &self.root),
        };
        Candidates { named, others }
    }
}

impl Named {
    fn of(&self, place: Option<usize>) -> &[usize] {
        place.and_then(|place| self.by_name.get(&place)).map(Vec::as_slice).unwrap_or_default()
    }
}
