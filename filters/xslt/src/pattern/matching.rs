//! Whether a node matches a pattern.

use portcullis_xml::xpath::ast::{NodeTest, Predicate, Type};
use portcullis_xml::xpath::{Bindings, Budget, Context, Environment, EvaluateError, Evaluation, Value};
use portcullis_xml::{Document, NodeId, NodeKind};

use super::{Above, Alternative, Anchor, BoundPool, Pattern, Step, StepKind};

/// What patterns are matched against.
pub(crate) struct Matching<'a, 'b> {
    pub(crate) document: &'a Document,
    pub(crate) names: &'b BoundPool,
    pub(crate) bindings: &'b Bindings,
    pub(crate) environment: &'a dyn Environment,
    pub(crate) budget: &'b mut Budget,
}

type Result<T> = core::result::Result<T, EvaluateError>;

impl<'a> Matching<'a, '_> {
    /// Whether a node matches one of a pattern's alternatives.
    pub(crate) fn matches(&mut self, pattern: &'a Pattern, node: NodeId) -> Result<bool> {
        for alternative in &pattern.alternatives {
            if self.matches_alternative(alternative, node)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a node matches an alternative.
    ///
    /// From right to left: where `//` joins two runs of steps, the lowest place that the left run matches at will do,
    /// as it leaves most of the ancestors for what is further left.
    pub(crate) fn matches_alternative(&mut self, alternative: &'a Alternative, node: NodeId) -> Result<bool> {
        let mut steps = &*alternative.steps;
        // Where the run that begins next must match: at this node, or (if it can climb) at it or above.
        let mut at = Some(node);
        let mut climbs = false;
        loop {
            let Some(start) = at else { return Ok(false) };
            self.budget.charge(1)?;
            let length = steps.iter().position(|step| step.above == Above::Ancestor);
            let length = length.map_or(steps.len(), |last| last.saturating_add(1));
            let (run, rest) = steps.split_at_checked(length).unwrap_or((steps, &[]));
            let top = self.matches_run(run, start)?;
            let matched = match top {
                Some(above) if rest.is_empty() => {
                    let joined = run.last().map_or(Above::Parent, |step| step.above);
                    if self.matches_anchor(&alternative.anchor, above, joined)? {
                        return Ok(true);
                    }
                    None
                }
                other => other,
            };
            match matched {
                Some(above) => {
                    steps = rest;
                    at = above;
                    climbs = true;
                }
                None if climbs => at = self.document.parent(start),
                None => return Ok(false),
            }
        }
    }

    /// Whether steps that parents join match at a node and above; if so, the parent of the uppermost node, or of no
    /// steps the node itself.
    #[expect(clippy::option_option, reason = "what is above a match may be nothing")]
    fn matches_run(&mut self, run: &'a [Step], node: NodeId) -> Result<Option<Option<NodeId>>> {
        let mut at = Some(node);
        for step in run {
            let Some(node) = at else { return Ok(None) };
            self.budget.charge(1)?;
            if !self.matches_step(step, node)? {
                return Ok(None);
            }
            at = self.document.parent(node);
        }
        Ok(Some(at))
    }

    fn matches_anchor(&mut self, anchor: &'a Anchor, above: Option<NodeId>, joined: Above) -> Result<bool> {
        let Some(above) = above else { return Ok(matches!(anchor, Anchor::Anywhere)) };
        match anchor {
            Anchor::Anywhere => Ok(true),
            Anchor::Root => Ok(joined == Above::Ancestor || self.document.kind(above) == NodeKind::Root),
            Anchor::Nodes(nodes) => {
                let held = self.budget.held();
                let mut evaluation =
                    Evaluation::new(self.document, self.bindings, self.environment, self.budget);
                let nodes = evaluation.nodes(nodes, Context::of(above))?;
                let contains = |node| nodes.binary_search(&node).is_ok();
                let matches = contains(above)
                    || joined == Above::Ancestor && self.document.ancestors(above).any(contains);
                self.budget.release_to(held);
                Ok(matches)
            }
        }
    }

    fn matches_step(&mut self, step: &'a Step, node: NodeId) -> Result<bool> {
        let document = self.document;
        if document.parent(node).is_none() || !self.matches_test(step.kind, &step.test, node) {
            return Ok(false);
        }
        if step.predicates.is_empty() {
            return Ok(true);
        }
        if let [conditions @ .., last] = &*step.predicates
            && conditions.iter().chain([last]).all(|predicate| matches!(predicate, Predicate::Condition(_)))
        {
            for predicate in &step.predicates {
                if !self.holds(predicate, Context::of(node))? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        self.is_among_siblings(step, node)
    }

    /// The same for predicates that depend on where the node stands among its siblings.
    fn is_among_siblings(&mut self, step: &'a Step, node: NodeId) -> Result<bool> {
        let document = self.document;
        let Some(parent) = document.parent(node) else { return Ok(false) };
        let count = match step.kind {
            StepKind::Attribute => document.attributes(parent).count(),
            StepKind::Child => document.children(parent).count(),
        };
        // Those that are left after a predicate are listed anew.
        let held = count.saturating_mul(size_of::<NodeId>()).saturating_mul(3);
        self.budget.hold(held)?;
        let mut nodes = Vec::with_capacity(count);
        match step.kind {
            StepKind::Attribute => nodes.extend(document.attributes(parent)),
            StepKind::Child => nodes.extend(document.children(parent)),
        }
        self.budget.charge(u64::try_from(nodes.len()).unwrap_or(u64::MAX))?;
        nodes.retain(|node| self.matches_test(step.kind, &step.test, *node));
        for predicate in &step.predicates {
            let size = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
            let mut kept = Vec::new();
            for (position, node) in (1_u32..).zip(nodes) {
                if self.holds(predicate, Context { node, position, size })? {
                    kept.push(node);
                }
            }
            nodes = kept;
        }
        self.budget.release(held);
        Ok(nodes.contains(&node))
    }

    fn holds(&mut self, predicate: &'a Predicate, context: Context) -> Result<bool> {
        let held = self.budget.held();
        let mut evaluation = Evaluation::new(self.document, self.bindings, self.environment, self.budget);
        match predicate {
            Predicate::Condition(condition) => evaluation.boolean(condition, context),
            Predicate::Position(position) => Ok(context.position == *position),
            Predicate::Last => Ok(context.position == context.size),
            Predicate::Never => Ok(false),
            Predicate::Positional(expr) => match expr.type_() {
                Type::Number | Type::Any => {
                    let value = evaluation.value(expr, context)?;
                    self.budget.release_to(held);
                    Ok(match value {
                        Value::Number(number) => number == f64::from(context.position),
                        other => other.to_boolean(),
                    })
                }
                Type::Nodes | Type::Boolean | Type::String => evaluation.boolean(expr, context),
            },
        }
    }

    fn matches_test(&self, axis: StepKind, test: &NodeTest, node: NodeId) -> bool {
        let document = self.document;
        let kind = document.kind(node);
        let is_attribute = kind == NodeKind::Attribute;
        if is_attribute != (axis == StepKind::Attribute) {
            return false;
        }
        let principal = is_attribute || kind == NodeKind::Element;
        match test {
            NodeTest::Any => principal,
            NodeTest::Namespace(test) => {
                let uri = document.name(node).map(|name| document.names().namespace(name));
                principal && uri.is_some() && uri == self.names.uri(test.uri)
            }
            NodeTest::Name(test) => principal && document.name(node) == self.names.name(test.name),
            NodeTest::Node => true,
            NodeTest::Text => kind == NodeKind::Text,
            NodeTest::Comment => kind == NodeKind::Comment,
            NodeTest::ProcessingInstruction => kind == NodeKind::ProcessingInstruction,
            NodeTest::Target(test) => {
                kind == NodeKind::ProcessingInstruction && document.name(node) == self.names.name(test.name)
            }
        }
    }
}
