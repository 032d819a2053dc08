//! What is wrong with an expression, or went wrong when it was evaluated.

use core::fmt;

use super::ast::Type;

/// Why an expression does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// Where, in characters from 1.
    pub column: usize,
    /// What it is.
    pub kind: CompileErrorKind,
}

/// What is wrong with an expression. Names are cut to 64 characters; strings and numbers never appear.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileErrorKind {
    /// The grammar wants something else here.
    Unexpected {
        /// What stands there.
        found: Box<str>,
        /// What the grammar wants.
        expected: &'static str,
    },
    /// No namespace is bound to the prefix.
    UndeclaredPrefix(Box<str>),
    /// There is no such axis.
    UnknownAxis(Box<str>),
    /// There is no such function.
    UnknownFunction(Box<str>),
    /// There is no such variable.
    UnknownVariable(Box<str>),
    /// A function is called with a number of arguments that it does not take.
    Arguments {
        /// The function's name.
        function: Box<str>,
        /// How many arguments there are.
        found: usize,
        /// How many there must be.
        least: usize,
        /// How many there may be; `None` for any number.
        most: Option<usize>,
    },
    /// A node-set is needed, and this cannot be one. Nothing else is ever converted to a node-set.
    NotNodes {
        /// What it is.
        found: Type,
    },
    /// Part of the language, but not of what is supported.
    Refused {
        /// What it is.
        what: Box<str>,
        /// Why.
        reason: &'static str,
    },
    /// Parentheses, arguments and predicates are nested deeper than this.
    TooDeep(usize),
    /// There are more comparisons in a row (`a < b < c`) than this.
    TooManyComparisons(usize),
    /// The expression has more bytes than this.
    TooLong(usize),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.kind)
    }
}

impl core::error::Error for CompileError {}

impl fmt::Display for CompileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { found, expected } => write!(f, "found {found}, expected {expected}"),
            Self::UndeclaredPrefix(prefix) => write!(f, "no namespace is bound to the prefix '{prefix}'"),
            Self::UnknownAxis(name) => write!(f, "found '{name}::', expected one of XPath's axes"),
            Self::UnknownFunction(name) => write!(f, "found '{name}()', expected a function of XPath 1.0"),
            Self::UnknownVariable(name) => write!(f, "there is no variable '${name}'"),
            Self::Arguments { function, found, least, most } => {
                let noun = if *found == 1 { "argument" } else { "arguments" };
                write!(f, "found {found} {noun} of '{function}()', expected {least}")?;
                match most {
                    Some(most) if most == least => Ok(()),
                    Some(most) => write!(f, " to {most}"),
                    None => f.write_str(" or more"),
                }
            }
            Self::NotNodes { found } => write!(f, "found {found}, expected a node-set"),
            Self::Refused { what, reason } => write!(f, "{what} is not supported: {reason}"),
            Self::TooDeep(limit) => {
                write!(f, "parentheses, arguments and predicates are nested more than {limit} deep")
            }
            Self::TooManyComparisons(limit) => write!(f, "more than {limit} comparisons in a row"),
            Self::TooLong(limit) => write!(f, "an expression of more than {limit} bytes"),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nodes => "a node-set",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Any => "a value of unknown type",
        })
    }
}

/// Why an expression could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// It took more steps than its [`Budget`](super::Budget) had.
    BudgetExceeded,
    /// Its lists of nodes and texts would have taken more memory than its [`Budget`](super::Budget) allows.
    MemoryExceeded,
    /// A variable or a function of the host gave something else than the node-set that is needed.
    NotNodes,
    /// The environment has no value for a variable that its static context knows.
    NoSuchVariable,
    /// The environment lacks a function that its static context knows.
    NoSuchFunction,
    /// A function of the host has failed, for this reason.
    Host(Box<str>),
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BudgetExceeded => f.write_str("the expression takes too many steps on this document"),
            Self::MemoryExceeded => f.write_str("the expression takes too much memory on this document"),
            Self::NotNodes => f.write_str("expected a node-set, found a value of another type"),
            Self::NoSuchVariable => f.write_str("a variable has no value"),
            Self::NoSuchFunction => f.write_str("a function is missing"),
            Self::Host(reason) => f.write_str(reason),
        }
    }
}

impl core::error::Error for EvaluateError {}
