//! Which fields of the request a response depends on (RFC 9110, section 12.5.5): caches must know of them, or they would
//! give one client what was made for another.

use portcullis_policy::headers::is_reserved;
use portcullis_policy::{HeaderList, spelling};

use crate::config::{Condition, ParameterValue, Transformation};

/// What a transformation of responses adds to `vary`.
#[derive(Debug, Default)]
pub(crate) struct Vary {
    /// Names in lower case, each once, or `*` alone.
    fields: Vec<String>,
}

const ANY: &str = "*";

impl Vary {
    /// The fields that a transformation of responses looks at.
    pub(crate) fn of(transformation: &Transformation) -> Self {
        let mut vary = Self::default();
        if let Some(when) = &transformation.when {
            vary.add_condition(when);
        }
        for parameter in transformation.parameters.values() {
            match parameter {
                ParameterValue::RequestHeader(name) => vary.add(name),
                // Where a client's name comes from, client-id alone knows.
                ParameterValue::ClientId | ParameterValue::ClientName | ParameterValue::ClientTier => {
                    vary.add(ANY);
                }
                // The query is a part of what a response is stored under.
                ParameterValue::Query(_)
                | ParameterValue::Header(_)
                | ParameterValue::Text(_)
                | ParameterValue::Number(_)
                | ParameterValue::Boolean(_) => {}
            }
        }
        vary
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// What a response with these headers has to say besides, if anything. No cache knows a field of the request by
    /// another spelling, and the response depends on it all the same.
    pub(crate) fn missing(&self, headers: &HeaderList, request: Option<&HeaderList>) -> Option<String> {
        let stated = |wanted: &str| {
            let members = headers.all("vary").flat_map(|value| value.split(|byte| *byte == b','));
            let mut members = members.map(<[u8]>::trim_ascii);
            members.any(|member| member == ANY.as_bytes() || member.eq_ignore_ascii_case(wanted.as_bytes()))
        };
        if request.is_some_and(|request| self.is_spelled_otherwise(request)) {
            return (!stated(ANY)).then(|| ANY.to_owned());
        }
        let missing: Vec<_> = self.fields.iter().map(String::as_str).filter(|field| !stated(field)).collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }

    /// Whether the request has one of the fields under a name that is not among them.
    fn is_spelled_otherwise(&self, request: &HeaderList) -> bool {
        let is_ours = |name: &[u8]| self.fields.iter().any(|field| name == field.as_bytes());
        let is_like_ours =
            |name: &[u8]| self.fields.iter().any(|field| spelling::is_same(name, field.as_bytes()));
        request.iter().any(|(name, _)| is_like_ours(name) && !is_ours(name))
    }

    fn add_condition(&mut self, condition: &Condition) {
        match condition {
            Condition::All(conditions) | Condition::Any(conditions) => {
                conditions.iter().for_each(|condition| self.add_condition(condition));
            }
            Condition::Not(condition) => self.add_condition(condition),
            Condition::RequestHeader { name, .. } => self.add(name),
            // The response's own, and what it is stored under.
            Condition::Header { .. }
            | Condition::MediaType(_)
            | Condition::Status(_)
            | Condition::Method(_)
            | Condition::Path(_)
            | Condition::Host(_)
            | Condition::Query { .. } => {}
        }
    }

    fn add(&mut self, field: &str) {
        let field = field.to_ascii_lowercase();
        // What policies set does not come from one field of the client's.
        if field == ANY || is_reserved(field.as_bytes()) {
            self.fields = vec![ANY.to_owned()];
        } else if self.fields.iter().all(|known| *known != field && known != ANY) {
            self.fields.push(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vary(fields: &[&str]) -> Vary {
        let mut vary = Vary::default();
        fields.iter().for_each(|field| vary.add(field));
        vary
    }

    #[test]
    fn says_what_is_not_said_yet() {
        for (fields, stated, missing) in [
            (&["Accept", "x-a", "accept"][..], &[][..], Some("accept, x-a")),
            (&["accept", "x-a"], &["origin, ACCEPT"], Some("x-a")),
            (&["accept", "x-a"], &["x-a", "accept"], None),
            (&["accept"], &["*"], None),
            (&["accept", "x-portcullis-route", "x-a"], &["accept"], Some("*")),
            (&[], &[], None),
        ] {
            let headers = stated.iter().map(|value| ("vary", *value)).collect();
            assert_eq!(vary(fields).missing(&headers, None).as_deref(), missing, "{fields:?} {stated:?}");
        }
    }

    #[test]
    fn says_that_caches_cannot_tell_if_a_field_comes_in_another_spelling() {
        for (sent, stated, missing) in [
            (&["x-a", "x-b"][..], "", Some("x-a, x-b")),
            (&["x-a", "x_a"], "", Some("*")),
            (&["x.b"], "x-a, x-b", Some("*")),
            (&["x.b"], "*", None),
            (&["x_ab"], "x-a, x-b", None),
        ] {
            let request = sent.iter().map(|name| (*name, "1")).collect();
            let headers = [("vary", stated)].into_iter().collect();
            let said = vary(&["x-a", "x-b"]).missing(&headers, Some(&request));
            assert_eq!(said.as_deref(), missing, "{sent:?} {stated:?}");
        }
    }
}
