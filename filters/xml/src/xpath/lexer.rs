//! The tokens of an expression (XPath 1.0, section 3.7).

use core::fmt;

use super::error::{CompileError, CompileErrorKind};
use crate::chars::{is_name_char, is_name_start};

/// A token, and the byte at which it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) at: usize,
}

/// A name as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QName<'a> {
    pub(super) prefix: Option<&'a str>,
    pub(super) local: &'a str,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind<'a> {
    /// A name that is no operator: of an element, an attribute, an axis, a function or a node type.
    Name(QName<'a>),
    /// `prefix:*`
    AnyIn(&'a str),
    /// `*` where it is no operator.
    Star,
    /// `$name`
    Variable(QName<'a>),
    Literal(&'a str),
    Number(f64),
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Dot,
    DotDot,
    At,
    Comma,
    ColonColon,
    Slash,
    SlashSlash,
    Or,
    And,
    Union,
    Plus,
    Minus,
    Multiply,
    Div,
    Mod,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    End,
}

impl Kind<'_> {
    /// Whether a name or a `*` behind this token is an operator: not behind another operator, nor where an expression
    /// or a node test has to follow.
    fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::Name(_)
                | Self::AnyIn(_)
                | Self::Star
                | Self::Variable(_)
                | Self::Literal(_)
                | Self::Number(_)
                | Self::CloseParenthesis
                | Self::CloseBracket
                | Self::Dot
                | Self::DotDot
        )
    }
}

impl fmt::Display for QName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut write = |part: &str| part.chars().take(64).try_for_each(|c| write!(f, "{c}"));
        if let Some(prefix) = self.prefix {
            write(prefix)?;
            write(":")?;
        }
        write(self.local)
    }
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(name) => return write!(f, "'{name}'"),
            Self::AnyIn(prefix) => return write!(f, "'{}:*'", QName { prefix: None, local: prefix }),
            Self::Variable(name) => return write!(f, "'${name}'"),
            Self::Literal(_) => "a string",
            Self::Number(_) => "a number",
            Self::End => "the end of the expression",
            Self::Star | Self::Multiply => "'*'",
            Self::OpenParenthesis => "'('",
            Self::CloseParenthesis => "')'",
            Self::OpenBracket => "'['",
            Self::CloseBracket => "']'",
            Self::Dot => "'.'",
            Self::DotDot => "'..'",
            Self::At => "'@'",
            Self::Comma => "','",
            Self::ColonColon => "'::'",
            Self::Slash => "'/'",
            Self::SlashSlash => "'//'",
            Self::Or => "'or'",
            Self::And => "'and'",
            Self::Union => "'|'",
            Self::Plus => "'+'",
            Self::Minus => "'-'",
            Self::Div => "'div'",
            Self::Mod => "'mod'",
            Self::Equal => "'='",
            Self::NotEqual => "'!='",
            Self::Less => "'<'",
            Self::LessOrEqual => "'<='",
            Self::Greater => "'>'",
            Self::GreaterOrEqual => "'>='",
        })
    }
}

/// Cuts an expression into tokens.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    previous: Option<Kind<'a>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, previous: None }
    }

    /// The error at a byte of the expression.
    pub(super) fn error(&self, at: usize, kind: CompileErrorKind) -> CompileError {
        let before = self.text.get(..at).unwrap_or(self.text);
        CompileError { column: before.chars().count().saturating_add(1), kind }
    }

    /// The next token; [`Kind::End`] when there are no more.
    pub(super) fn next(&mut self) -> Result<Token<'a>, CompileError> {
        self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
        let at = self.at;
        let kind = self.scan(at)?;
        self.previous = Some(kind);
        Ok(Token { kind, at })
    }

    fn scan(&mut self, at: usize) -> Result<Kind<'a>, CompileError> {
        let Some(first) = self.peek() else { return Ok(Kind::End) };
        if is_name_start(first) {
            return Ok(self.name());
        }
        if first.is_ascii_digit() {
            return Ok(self.number());
        }
        self.skip(first);
        Ok(match first {
            '(' => Kind::OpenParenthesis,
            ')' => Kind::CloseParenthesis,
            '[' => Kind::OpenBracket,
            ']' => Kind::CloseBracket,
            '@' => Kind::At,
            ',' => Kind::Comma,
            '|' => Kind::Union,
            '+' => Kind::Plus,
            '-' => Kind::Minus,
            '=' => Kind::Equal,
            '*' if self.after_operand() => Kind::Multiply,
            '*' => Kind::Star,
            '/' if self.eat('/') => Kind::SlashSlash,
            '/' => Kind::Slash,
            '<' if self.eat('=') => Kind::LessOrEqual,
            '<' => Kind::Less,
            '>' if self.eat('=') => Kind::GreaterOrEqual,
            '>' => Kind::Greater,
            '!' if self.eat('=') => Kind::NotEqual,
            ':' if self.eat(':') => Kind::ColonColon,
            '.' if self.eat('.') => Kind::DotDot,
            '.' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                self.at = at;
                self.number()
            }
            '.' => Kind::Dot,
            '"' | '\'' => return self.literal(at, first),
            '$' => return self.variable(at),
            other => {
                let found = format!("{other:?}").into();
                return Err(
                    self.error(at, CompileErrorKind::Unexpected { found, expected: "a token of XPath" })
                );
            }
        })
    }

    fn after_operand(&self) -> bool {
        self.previous.is_some_and(Kind::ends_operand)
    }

    fn name(&mut self) -> Kind<'a> {
        let after_operand = self.after_operand();
        let first = self.take_while(is_name_char);
        if after_operand {
            match first {
                "or" => return Kind::Or,
                "and" => return Kind::And,
                "div" => return Kind::Div,
                "mod" => return Kind::Mod,
                // No operator: the grammar has no place for it, which the parser says better.
                _ => {}
            }
        }
        let colon = self.at;
        if self.eat(':') {
            match self.peek() {
                Some('*') => {
                    self.skip('*');
                    return Kind::AnyIn(first);
                }
                Some(next) if is_name_start(next) => {
                    return Kind::Name(QName { prefix: Some(first), local: self.take_while(is_name_char) });
                }
                _ => self.at = colon,
            }
        }
        Kind::Name(QName { prefix: None, local: first })
    }

    fn variable(&mut self, at: usize) -> Result<Kind<'a>, CompileError> {
        if self.peek().is_some_and(is_name_start) {
            // Not an operator, whatever it reads.
            self.previous = None;
            if let Kind::Name(name) = self.name() {
                return Ok(Kind::Variable(name));
            }
        }
        let found = "'$'".into();
        Err(self.error(at, CompileErrorKind::Unexpected { found, expected: "'$' with a variable's name" }))
    }

    fn literal(&mut self, at: usize, quote: char) -> Result<Kind<'a>, CompileError> {
        let text = self.take_while(|c| c != quote);
        if self.eat(quote) {
            return Ok(Kind::Literal(text));
        }
        let found = "a string without an end".into();
        Err(self.error(at, CompileErrorKind::Unexpected { found, expected: "its closing quote" }))
    }

    /// `Digits ('.' Digits?)? | '.' Digits`
    fn number(&mut self) -> Kind<'a> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        self.eat('.');
        self.take_while(|c| c.is_ascii_digit());
        let text = self.text.get(start..self.at).unwrap_or_default();
        Kind::Number(text.parse().unwrap_or(f64::NAN))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, c: char) {
        self.at = self.at.saturating_add(c.len_utf8());
    }

    fn eat(&mut self, c: char) -> bool {
        let there = self.peek() == Some(c);
        if there {
            self.skip(c);
        }
        there
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at = self.at.saturating_add(length);
        rest.get(..length).unwrap_or_default()
    }
}
