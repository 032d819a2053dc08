//! From location paths to patterns.

use portcullis_xml::xpath::ast::{Axis, Call, Expr, Function, NodeTest, Path, Start, Step as PathStep};

use super::{Above, Alternative, Anchor, Pattern, Step, StepKind};
use crate::functions::XsltFunction;

/// What a location path has that a pattern cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotAPattern(pub(crate) &'static str);

const PATHS: NotAPattern = NotAPattern("expected location paths, joined by '|'");
const AXES: NotAPattern = NotAPattern("expected no axes but child and attribute");
const ABBREVIATIONS: NotAPattern = NotAPattern("expected neither '.' nor '..' as a step");
const VARIABLES: NotAPattern = NotAPattern("expected no variables");
const START: NotAPattern =
    NotAPattern("expected a path that starts at the root, at the node, or at key() of two literals");

/// Refuses what can no longer be seen once the path has been compiled: abbreviations and axes, and variables.
pub(crate) fn refused_syntax(text: &str) -> Result<(), NotAPattern> {
    let mut quote = None;
    let mut depth = 0_usize;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match quote {
            Some(open) => {
                if c == open {
                    quote = None;
                }
                continue;
            }
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                continue;
            }
            None => {}
        }
        match c {
            '$' => return Err(VARIABLES),
            '[' | '(' => depth = depth.saturating_add(1),
            ']' | ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && chars.next_if(|(_, next)| *next == ':').is_some() => {
                let before = text.get(..at).unwrap_or_default().trim_end();
                let start = before
                    .rfind(|c: char| !c.is_alphanumeric() && c != '-')
                    .map_or(0, |at| at.saturating_add(1));
                if !matches!(before.get(start..), Some("child" | "attribute")) {
                    return Err(AXES);
                }
            }
            '.' if depth == 0 => {
                // A point within a name is no step.
                let before = text.get(..at).unwrap_or_default().chars().next_back();
                if !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
                    return Err(ABBREVIATIONS);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The pattern that a compiled expression is.
pub(crate) fn compile(expr: Expr) -> Result<Pattern, NotAPattern> {
    let paths = match expr {
        Expr::Union(paths) => paths,
        path => vec![path],
    };
    Ok(Pattern { alternatives: paths.into_iter().map(alternative).collect::<Result<_, _>>()? })
}

fn alternative(expr: Expr) -> Result<Alternative, NotAPattern> {
    let (start, steps) = match expr {
        Expr::Path(Path { start, steps }) => (start, steps),
        Expr::Call(call) => (Start::Nodes(Box::new(Expr::Call(call))), Vec::new()),
        _ => return Err(PATHS),
    };
    let anchor = match start {
        Start::Root => Anchor::Root,
        Start::Context => Anchor::Anywhere,
        Start::Nodes(nodes) if is_key(&nodes) => Anchor::Nodes(nodes),
        Start::Nodes(_) => return Err(START),
    };
    let mut compiled = Vec::with_capacity(steps.len());
    let mut above = Above::Parent;
    for PathStep { axis, test, predicates } in steps {
        let kind = match axis {
            Axis::Child => StepKind::Child,
            Axis::Attribute => StepKind::Attribute,
            Axis::Descendant => {
                above = Above::Ancestor;
                StepKind::Child
            }
            // What is left of `//` where it could not be merged with the step behind it.
            Axis::DescendantOrSelf
                if predicates.is_empty() && matches!(test, NodeTest::Node | NodeTest::Any) =>
            {
                above = Above::Ancestor;
                continue;
            }
            _ => return Err(AXES),
        };
        compiled.push(Step { kind, test, predicates, above });
        above = Above::Parent;
    }
    if above == Above::Ancestor || compiled.is_empty() && matches!(anchor, Anchor::Anywhere) {
        return Err(PATHS);
    }
    compiled.reverse();
    Ok(Alternative { steps: compiled, anchor })
}

fn is_key(expr: &Expr) -> bool {
    match expr {
        Expr::Call(Call { function: Function::Host(function), arguments }) => {
            XsltFunction::of_id(function.id).0 == XsltFunction::Key
                && arguments.iter().all(|argument| matches!(argument, Expr::Literal(_)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_xml::xpath::{NamePool, Namespaces, compile as compile_path};

    use super::*;

    fn pattern(text: &str) -> Result<Pattern, NotAPattern> {
        refused_syntax(text)?;
        compile(compile_path(text, &Namespaces::new(), &mut NamePool::default()).unwrap())
    }

    #[test]
    fn takes_patterns_and_nothing_else() {
        for text in [
            "a",
            "/",
            "*",
            "@*",
            "node()",
            "@node()",
            "text()",
            "a/b",
            "a//b",
            "//a",
            "/a",
            "a | b/@c",
            "a[1]",
            "a[../b]/c",
            "child::a/attribute::b",
            "processing-instruction('x')",
            "a//@b",
            "a//b[2]",
            "a.b",
            "a[.='..']",
            "a[ancestor::b]",
            "a-b/child::c",
        ] {
            assert!(pattern(text).is_ok(), "{text}");
        }
        for (text, reason) in [
            ("..", ABBREVIATIONS),
            (".", ABBREVIATIONS),
            ("a/.", ABBREVIATIONS),
            ("a/..", ABBREVIATIONS),
            ("parent::a", AXES),
            ("descendant::a", AXES),
            ("a/descendant-or-self :: node()/b", AXES),
            ("1", PATHS),
            ("a = b", PATHS),
            ("count(a)", START),
            ("(a)[1]", PATHS),
        ] {
            assert_eq!(pattern(text).unwrap_err(), reason, "{text}");
        }
        assert_eq!(refused_syntax("a[$b]"), Err(VARIABLES));
        assert_eq!(refused_syntax("a[. = '$b']"), Ok(()));
    }

    #[test]
    fn priorities_follow_the_table() {
        for (text, expected) in [
            ("a", 0.0),
            ("@a", 0.0),
            ("processing-instruction('x')", 0.0),
            ("*", -0.5),
            ("@*", -0.5),
            ("node()", -0.5),
            ("text()", -0.5),
            ("processing-instruction()", -0.5),
            ("/", 0.5),
            ("a/b", 0.5),
            ("//a", 0.5),
            ("/a", 0.5),
            ("a[1]", 0.5),
        ] {
            let alternatives = pattern(text).unwrap().alternatives;
            assert_eq!(
                alternatives.iter().map(Alternative::default_priority).collect::<Vec<_>>(),
                [expected],
                "{text}"
            );
        }
    }
}
