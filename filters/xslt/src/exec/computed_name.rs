//! Names that are computed (sections 7.1.2 and 7.1.3).

use super::error::{Failure, Result};
use super::machine::Machine;
use crate::error::TransformErrorKind;
use crate::program::{ComputedName, Named};
use crate::qname::{self, XML, XMLNS};
use crate::result::ResultName;

impl<'p> Machine<'p, '_> {
    pub(super) fn computed_name(&mut self, computed: &'p ComputedName) -> Result<ResultName> {
        if let Some(known) = computed.known {
            return self.result_name(known);
        }
        let name = self.string(&computed.name)?;
        let Some((prefix, local)) = qname::split(qname::trim(&name)) else {
            return Err(unusable("it is not a qualified name"));
        };
        let namespace = match &computed.namespace {
            Some(namespace) => Some(self.string(namespace)?),
            None => None,
        };
        let scopes = &self.program.scopes;
        let uri = match &namespace {
            Some(namespace) => &**namespace,
            None if prefix.is_empty() && computed.of == Named::Attribute => "",
            None if prefix.is_empty() => scopes.resolve(computed.scope, "").unwrap_or_default(),
            None => match scopes.resolve(computed.scope, prefix) {
                Some(uri) => uri,
                None => return Err(unusable("no namespace is bound to its prefix")),
            },
        };
        let declares = uri.is_empty() && computed.of == Named::Attribute && local == "xmlns";
        if uri == XMLNS || declares {
            return Err(unusable("it is one of a namespace declaration"));
        }
        let prefix = if (prefix == "xml") == (uri == XML) && prefix != "xmlns" { prefix } else { "" };
        let bytes = name.len().saturating_add(uri.len());
        self.budget.charge_bytes(bytes)?;
        self.budget.hold(bytes)?;
        let names = self.document.names_mut();
        let before = names.bytes();
        let interned = names.uri(uri).and_then(|uri| names.name(uri, local)).zip(names.prefix(prefix));
        let (name, prefix) = interned.ok_or(Failure::Nodes)?;
        // Names stay to the end.
        let more = names.bytes().saturating_sub(before);
        self.keep(more)?;
        Ok(ResultName { name, prefix })
    }
}

fn unusable(reason: &'static str) -> Failure {
    TransformErrorKind::Name(reason).into()
}
