//! Calls of functions.

use super::Parser;
use crate::xpath::ast::{Call, CoreFunction, Expr, Function, Type};
use crate::xpath::error::{CompileError, CompileErrorKind};
use crate::xpath::lexer::{Kind, QName};
use crate::xpath::signature::{self, More, Signature};

impl<'a> Parser<'a> {
    /// `name(arguments)`: the current token is the name, the next one the parenthesis.
    pub(super) fn call(&mut self, name: QName<'a>) -> Result<Expr, CompileError> {
        let at = self.position();
        let (function, signature) = self.function(name)?;
        self.advance();
        self.expect(Kind::OpenParenthesis, "'('")?;

        let is_host = matches!(function, Function::Host(_));
        let mut arguments = Vec::new();
        if self.peek() != Kind::CloseParenthesis {
            loop {
                let at = self.position();
                let argument = self.expression()?;
                let type_ = signature.argument(arguments.len());
                if type_ == Some(Type::Nodes) {
                    self.require_nodes(&argument, at)?;
                }
                // Those of the core library are evaluated as what they are needed as.
                arguments.push(match type_ {
                    Some(type_) if is_host => converted(argument, type_),
                    _ => argument,
                });
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
        }
        self.expect(Kind::CloseParenthesis, "an operator, ',' or ')'")?;

        let (found, least, most) = (arguments.len(), signature.required.len(), signature.most());
        if found < least || most.is_some_and(|most| found > most) {
            let kind = CompileErrorKind::Arguments { function: name.to_string().into(), found, least, most };
            return Err(self.lexer.error(at, kind));
        }
        if arguments.is_empty() && signature.more == More::ContextNode {
            arguments.push(Expr::context_node());
        }
        Ok(Expr::Call(Call { function, arguments }))
    }

    fn function(&self, name: QName<'a>) -> Result<(Function, Signature), CompileError> {
        let namespace = self.namespace_of(name)?;
        if namespace.is_empty()
            && let Some((function, signature)) = signature::core(name.local)
        {
            return Ok((Function::Core(function), signature));
        }
        if let Some(host) = self.context.function(&namespace, name.local) {
            let signature = Signature { required: host.required, optional: host.optional, more: More::None };
            return Ok((Function::Host(host.function), signature));
        }
        let reason = if namespace.is_empty() { signature::refusal(name.local) } else { None };
        Err(self.error(match reason {
            Some(reason) => {
                CompileErrorKind::Refused { what: format!("the function '{name}()'").into(), reason }
            }
            None => CompileErrorKind::UnknownFunction(name.to_string().into()),
        }))
    }
}

/// An argument as the type that a function takes (section 3.2), by the function that converts to it.
fn converted(argument: Expr, type_: Type) -> Expr {
    let function = match type_ {
        _ if argument.type_() == type_ => return argument,
        Type::Boolean => CoreFunction::Boolean,
        Type::Number => CoreFunction::Number,
        Type::String => CoreFunction::String,
        // Nothing else becomes a node-set.
        Type::Nodes | Type::Any => return argument,
    };
    Expr::Call(Call { function: Function::Core(function), arguments: vec![argument] })
}
