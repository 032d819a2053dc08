//! Where in the stylesheet a transformation has failed.

use super::frame::Frame;
use super::machine::Machine;
use crate::error::{Place, TransformError, TransformErrorKind};
use crate::program::{Op, Program};

impl Machine<'_, '_> {
    /// An error at the instruction that is carried out.
    pub(super) fn locate(&self, kind: TransformErrorKind) -> TransformError {
        // Built-in rules stand nowhere: what has applied them does.
        let mut at = self.here();
        for frame in self.frames.iter().rev() {
            if at > Program::BUILT_IN.saturating_add(1) {
                break;
            }
            if let Frame::Call(call) = frame {
                at = call.return_to;
            }
        }
        let origin = self.program.origins.get(at).copied().unwrap_or_default();
        let document = usize::try_from(origin.document).ok().and_then(|at| self.program.documents.get(at));
        TransformError {
            place: Place {
                document: document.filter(|name| !name.is_empty()).cloned(),
                line: origin.line.max(1),
                column: origin.column.max(1),
                instruction: self.program.ops.get(at).map_or("", element).into(),
            },
            kind,
        }
    }
}

/// The element of XSLT that an instruction is part of; empty if that can be more than one.
fn element(op: &Op) -> &'static str {
    match op {
        Op::ValueOf(_) => "xsl:value-of",
        Op::StartElement(_) => "xsl:element",
        Op::EndAttribute(_) => "xsl:attribute",
        Op::EndComment => "xsl:comment",
        Op::EndInstruction(_) => "xsl:processing-instruction",
        Op::EndMessage(_) => "xsl:message",
        Op::Copy(..) | Op::EndCopy => "xsl:copy",
        Op::CopyOf(_) => "xsl:copy-of",
        Op::Number(_) => "xsl:number",
        Op::ForEach(..) | Op::Again(_) => "xsl:for-each",
        Op::Apply(_) | Op::ApplyNext => "xsl:apply-templates",
        Op::ApplyImports => "xsl:apply-imports",
        Op::Call(..) => "xsl:call-template",
        Op::Argument(..) | Op::EndTreeArgument(_) => "xsl:with-param",
        Op::Parameter(..) | Op::GlobalParameter(..) => "xsl:param",
        Op::Text(_)
        | Op::StartLiteral(_)
        | Op::EndElement
        | Op::Attribute(..)
        | Op::BeginText
        | Op::Jump(_)
        | Op::Unless(..)
        | Op::Use(..)
        | Op::Return
        | Op::Set(..)
        | Op::BeginTree
        | Op::EndTree(_)
        | Op::GlobalDone
        | Op::Need(_)
        | Op::Unknown => "",
    }
}
