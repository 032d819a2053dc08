//! Result tree fragments, which are no node-sets (XSLT 1.0, section 11.1).
//!
//! A variable that holds one is known when the stylesheet is compiled; a parameter may be given one. So where an
//! expression needs a node-set of a variable whose value is not known, it says so in the variable's slot.

use portcullis_xml::NodeId;
use portcullis_xml::tree::Document;
use portcullis_xml::xpath::Value;
use portcullis_xml::xpath::ast::{
    Call, CoreFunction, Expr, Function, Path, Predicate, Slot, Start, Type, Variable,
};

use crate::functions::XsltFunction;

/// Set in a slot: a fragment will not do.
const NODES_ONLY: u32 = 1 << 30;

/// What a slot says: the number of the variable, and whether it must be a node-set.
pub(crate) fn split_slot(slot: Slot) -> (u32, bool) {
    (slot.0 & !NODES_ONLY, slot.0 & NODES_ONLY != 0)
}

/// Whether a value is a fragment: the root of a temporary tree.
pub(crate) fn is_fragment(value: &Value<'_>, document: &Document) -> bool {
    match value {
        Value::Nodes(nodes) => match **nodes {
            [node] => node != NodeId::ROOT && document.parent(node).is_none(),
            _ => false,
        },
        _ => false,
    }
}

/// Has an expression fail if it is a variable with a fragment.
pub(crate) fn demand_nodes(expr: &mut Expr) {
    if let Expr::Variable(Variable { slot, type_: Type::Any }) = expr {
        slot.0 |= NODES_ONLY;
    }
}

/// Does that for all operands in an expression that have to be node-sets. The compiler of expressions has bounded how
/// deep they are nested.
pub(crate) fn demand_nodes_within(expr: &mut Expr) {
    node_operands_mut(expr).iter_mut().for_each(demand_nodes);
    match expr {
        Expr::Or(operands) | Expr::And(operands) | Expr::Union(operands) => {
            operands.iter_mut().for_each(demand_nodes_within);
        }
        Expr::Compare { left, right, .. } => {
            demand_nodes_within(left);
            demand_nodes_within(right);
        }
        Expr::Arithmetic { first, rest } => {
            demand_nodes_within(first);
            rest.iter_mut().for_each(|(_, operand)| demand_nodes_within(operand));
        }
        Expr::Negate(operand) => demand_nodes_within(operand),
        Expr::Path(Path { start, steps }) => {
            if let Start::Nodes(base) = start {
                demand_nodes_within(base);
            }
            steps.iter_mut().flat_map(|step| &mut step.predicates).for_each(demand_nodes_in_predicate);
        }
        Expr::Filter { base, predicates } => {
            demand_nodes_within(base);
            predicates.iter_mut().for_each(demand_nodes_in_predicate);
        }
        Expr::Call(Call { arguments, .. }) => arguments.iter_mut().for_each(demand_nodes_within),
        Expr::Literal(_) | Expr::Number(_) | Expr::Variable(_) => {}
    }
}

fn demand_nodes_in_predicate(predicate: &mut Predicate) {
    match predicate {
        Predicate::Condition(expr) | Predicate::Positional(expr) => demand_nodes_within(expr),
        Predicate::Position(_) | Predicate::Last | Predicate::Never => {}
    }
}

/// The operands of an expression that have to be node-sets.
pub(crate) fn node_operands(expr: &Expr) -> &[Expr] {
    match expr {
        Expr::Union(operands) => operands,
        Expr::Path(Path { start: Start::Nodes(base), .. }) | Expr::Filter { base, .. } => {
            core::slice::from_ref(&**base)
        }
        Expr::Call(call) if takes_nodes(call.function) => &call.arguments,
        _ => &[],
    }
}

fn node_operands_mut(expr: &mut Expr) -> &mut [Expr] {
    match expr {
        Expr::Union(operands) => operands,
        Expr::Path(Path { start: Start::Nodes(base), .. }) | Expr::Filter { base, .. } => {
            core::slice::from_mut(&mut **base)
        }
        Expr::Call(call) if takes_nodes(call.function) => &mut call.arguments,
        _ => &mut [],
    }
}

/// Whether a function takes node-sets alone.
fn takes_nodes(function: Function) -> bool {
    match function {
        Function::Core(function) => matches!(
            function,
            CoreFunction::Count
                | CoreFunction::Sum
                | CoreFunction::Name
                | CoreFunction::LocalName
                | CoreFunction::NamespaceUri
        ),
        Function::Host(function) => XsltFunction::of_id(function.id).0 == XsltFunction::GenerateId,
    }
}
