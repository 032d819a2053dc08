//! From text to an expression (XPath 1.0, the grammar of sections 2 and 3).

mod call;
mod path;

use super::ast::{Comparison, Expr, Operator, Predicate, Type, Variable};
use super::error::{CompileError, CompileErrorKind};
use super::lexer::{Kind, Lexer, QName, Token};
use super::pool::NamePool;
use super::rewrite;
use super::static_context::{Lookup, StaticContext};

/// How deep parentheses, arguments and predicates may be nested: what evaluates an expression takes a bounded amount
/// of stack for each level.
pub(super) const MAX_DEPTH: usize = 64;
/// How many comparisons of a chain (`a < b < c`) may have another one to their left: each takes a level too, so that
/// those of chains that are nested in one another count together.
const MAX_COMPARISONS: usize = 16;
/// How long an expression may be.
pub(super) const MAX_BYTES: usize = 64 << 10;

const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// Parses an expression, all of it.
pub(super) fn parse(
    text: &str,
    context: &dyn StaticContext,
    names: &mut NamePool,
) -> Result<Expr, CompileError> {
    let mut lexer = Lexer::new(text);
    if text.len() > MAX_BYTES {
        return Err(lexer.error(0, CompileErrorKind::TooLong(MAX_BYTES)));
    }
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == Kind::End {
            break;
        }
    }
    let mut parser = Parser { lexer, tokens, at: 0, depth: 0, chained: 0, context, names };
    let expression = parser.expression()?;
    match parser.peek() {
        Kind::End => Ok(expression),
        _ => Err(parser.unexpected("an operator or the end of the expression")),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The last one is [`Kind::End`].
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    /// How many comparisons whose left side is another one are within one another, in what is being parsed.
    chained: usize,
    context: &'a dyn StaticContext,
    names: &'a mut NamePool,
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Result<Expr, CompileError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(CompileErrorKind::TooDeep(MAX_DEPTH)));
        }
        self.depth = self.depth.saturating_add(1);
        let expression = self.or();
        self.depth = self.depth.saturating_sub(1);
        expression
    }

    fn or(&mut self) -> Result<Expr, CompileError> {
        let mut operands = vec![self.and()?];
        while self.eat(Kind::Or) {
            operands.push(self.and()?);
        }
        Ok(one_or(operands, Expr::Or))
    }

    fn and(&mut self) -> Result<Expr, CompileError> {
        let mut operands = vec![self.equality()?];
        while self.eat(Kind::And) {
            operands.push(self.equality()?);
        }
        Ok(one_or(operands, Expr::And))
    }

    fn equality(&mut self) -> Result<Expr, CompileError> {
        let beside = core::mem::take(&mut self.chained);
        let mut left = self.relational()?;
        loop {
            let comparison = match self.peek() {
                Kind::Equal => Comparison::Equal,
                Kind::NotEqual => Comparison::NotEqual,
                _ => break,
            };
            self.advance();
            let right = self.relational()?;
            left = self.compare(comparison, left, right)?;
        }
        self.chained = self.chained.max(beside);
        Ok(left)
    }

    fn relational(&mut self) -> Result<Expr, CompileError> {
        let beside = core::mem::take(&mut self.chained);
        let mut left = self.additive()?;
        loop {
            let comparison = match self.peek() {
                Kind::Less => Comparison::Less,
                Kind::LessOrEqual => Comparison::LessOrEqual,
                Kind::Greater => Comparison::Greater,
                Kind::GreaterOrEqual => Comparison::GreaterOrEqual,
                _ => break,
            };
            self.advance();
            let right = self.additive()?;
            left = self.compare(comparison, left, right)?;
        }
        self.chained = self.chained.max(beside);
        Ok(left)
    }

    fn compare(&mut self, comparison: Comparison, left: Expr, right: Expr) -> Result<Expr, CompileError> {
        if matches!(left, Expr::Compare { .. }) {
            if self.chained >= MAX_COMPARISONS {
                return Err(self.error(CompileErrorKind::TooManyComparisons(MAX_COMPARISONS)));
            }
            self.chained = self.chained.saturating_add(1);
        }
        Ok(Expr::Compare { comparison, left: Box::new(left), right: Box::new(right) })
    }

    fn additive(&mut self) -> Result<Expr, CompileError> {
        let first = self.multiplicative()?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.peek() {
                Kind::Plus => Operator::Add,
                Kind::Minus => Operator::Subtract,
                _ => return Ok(rewrite::arithmetic(first, rest)),
            };
            self.advance();
            rest.push((operator, self.multiplicative()?));
        }
    }

    fn multiplicative(&mut self) -> Result<Expr, CompileError> {
        let first = self.unary()?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.peek() {
                Kind::Multiply => Operator::Multiply,
                Kind::Div => Operator::Divide,
                Kind::Mod => Operator::Remainder,
                _ => return Ok(rewrite::arithmetic(first, rest)),
            };
            self.advance();
            rest.push((operator, self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Expr, CompileError> {
        let mut signs = 0_usize;
        while self.eat(Kind::Minus) {
            signs = signs.saturating_add(1);
        }
        let operand = self.union()?;
        Ok(match signs {
            0 => operand,
            // Two signs take each other back, but leave a number.
            even if even.is_multiple_of(2) => rewrite::negate(rewrite::negate(operand)),
            _ => rewrite::negate(operand),
        })
    }

    fn union(&mut self) -> Result<Expr, CompileError> {
        let at = self.position();
        let first = self.path()?;
        if self.peek() != Kind::Union {
            return Ok(first);
        }
        self.require_nodes(&first, at)?;
        let mut operands = vec![first];
        while self.eat(Kind::Union) {
            let at = self.position();
            let next = self.path()?;
            self.require_nodes(&next, at)?;
            operands.push(next);
        }
        Ok(Expr::Union(operands))
    }

    /// `FilterExpr`: what a path can start with besides steps.
    fn primary(&mut self) -> Result<Expr, CompileError> {
        let at = self.position();
        let primary = match self.peek() {
            Kind::Variable(name) => {
                let variable = self.variable(name)?;
                self.advance();
                variable
            }
            Kind::Literal(text) => {
                self.advance();
                Expr::Literal(text.into())
            }
            Kind::Number(number) => {
                self.advance();
                Expr::Number(number)
            }
            Kind::OpenParenthesis => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Kind::CloseParenthesis, "an operator or ')'")?;
                inner
            }
            Kind::Name(name) => self.call(name)?,
            _ => return Err(self.unexpected("an expression")),
        };
        if self.peek() != Kind::OpenBracket {
            return Ok(primary);
        }
        self.require_nodes(&primary, at)?;
        Ok(Expr::Filter { base: Box::new(primary), predicates: self.predicates()? })
    }

    fn variable(&mut self, name: QName<'a>) -> Result<Expr, CompileError> {
        let namespace = self.namespace_of(name)?;
        match self.context.variable(&namespace, name.local) {
            Lookup::Found(Variable { slot, type_ }) => Ok(Expr::Variable(Variable { slot, type_ })),
            Lookup::Unknown => Err(self.error(CompileErrorKind::UnknownVariable(name.to_string().into()))),
            Lookup::Unsupported => Err(self.error(CompileErrorKind::Refused {
                what: format!("the variable '${name}'").into(),
                reason: "there are no variables here",
            })),
        }
    }

    fn predicates(&mut self) -> Result<Vec<Predicate>, CompileError> {
        let mut predicates = Vec::new();
        while self.eat(Kind::OpenBracket) {
            predicates.push(Predicate::new(self.expression()?));
            self.expect(Kind::CloseBracket, "an operator or ']'")?;
        }
        Ok(predicates)
    }

    fn require_nodes(&self, expression: &Expr, at: usize) -> Result<(), CompileError> {
        match expression.type_() {
            Type::Nodes | Type::Any => Ok(()),
            found => Err(self.lexer.error(at, CompileErrorKind::NotNodes { found })),
        }
    }

    /// The namespace of a name; without a prefix, none (section 2.3).
    fn namespace_of(&self, name: QName<'a>) -> Result<Box<str>, CompileError> {
        match name.prefix {
            None => Ok("".into()),
            Some("xml") => Ok(XML_NAMESPACE.into()),
            Some(prefix) => match self.context.namespace(prefix) {
                Some(uri) => Ok(uri.into()),
                None => {
                    let prefix = QName { prefix: None, local: prefix }.to_string().into();
                    Err(self.error(CompileErrorKind::UndeclaredPrefix(prefix)))
                }
            },
        }
    }

    fn peek(&self) -> Kind<'a> {
        self.tokens.get(self.at).map_or(Kind::End, |token| token.kind)
    }

    fn peek_second(&self) -> Kind<'a> {
        self.tokens.get(self.at.saturating_add(1)).map_or(Kind::End, |token| token.kind)
    }

    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn eat(&mut self, kind: Kind<'_>) -> bool {
        let there = self.peek() == kind;
        if there {
            self.advance();
        }
        there
    }

    fn expect(&mut self, kind: Kind<'_>, expected: &'static str) -> Result<(), CompileError> {
        if self.eat(kind) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Where the next token begins.
    fn position(&self) -> usize {
        self.tokens.get(self.at).map_or(usize::MAX, |token| token.at)
    }

    fn error(&self, kind: CompileErrorKind) -> CompileError {
        self.lexer.error(self.position(), kind)
    }

    fn unexpected(&self, expected: &'static str) -> CompileError {
        self.error(CompileErrorKind::Unexpected { found: self.peek().to_string().into(), expected })
    }
}

/// The operand itself if it is the only one.
fn one_or(mut operands: Vec<Expr>, many: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    match operands.pop() {
        Some(only) if operands.is_empty() => only,
        last => {
            operands.extend(last);
            many(operands)
        }
    }
}
