//! The values that a stylesheet's parameters get.

use portcullis_policy::{ConfigError, Exchange, HeaderList, target};
use portcullis_xslt::{Parameter, Parameters, Stylesheet};

use crate::config::ParameterValue;
use crate::config::check::is_xml;

/// A parameter of a stylesheet.
#[derive(Debug)]
pub(crate) struct NamedParameter {
    namespace: String,
    local: String,
    value: ParameterValue,
}

impl NamedParameter {
    /// # Errors
    /// If the stylesheet declares no such parameter.
    pub(crate) fn compile(
        name: &str,
        value: &ParameterValue,
        stylesheet: &Stylesheet,
    ) -> Result<Self, ConfigError> {
        let (namespace, local) =
            name.strip_prefix('{').and_then(|rest| rest.split_once('}')).unwrap_or(("", name));
        if !stylesheet.has_parameter(namespace, local) {
            let problem = "must be a parameter that the stylesheet declares at its top level, by xsl:param";
            return Err(ConfigError::new(name, problem));
        }
        let value = match value {
            ParameterValue::Header(name) => ParameterValue::Header(name.to_ascii_lowercase()),
            ParameterValue::RequestHeader(name) => ParameterValue::RequestHeader(name.to_ascii_lowercase()),
            value => value.clone(),
        };
        Ok(Self { namespace: namespace.to_owned(), local: local.to_owned(), value })
    }
}

/// The values for a message with these headers.
pub(crate) fn gather(
    parameters: &[NamedParameter],
    message: &HeaderList,
    request: Option<&HeaderList>,
    exchange: &Exchange<'_>,
) -> Parameters {
    let mut gathered = Parameters::new();
    for NamedParameter { namespace, local, value } in parameters {
        let identity = exchange.identity();
        let text = match value {
            ParameterValue::Number(number) => {
                gathered.set(namespace, local, Parameter::Number(*number));
                continue;
            }
            ParameterValue::Boolean(truth) => {
                gathered.set(namespace, local, Parameter::Boolean(*truth));
                continue;
            }
            ParameterValue::Text(text) => Some(text.clone()),
            ParameterValue::Header(name) => header(message, name),
            ParameterValue::RequestHeader(name) => request.and_then(|request| header(request, name)),
            ParameterValue::Query(name) => request.and_then(|request| query(request, name)),
            ParameterValue::ClientId => identity.map(|identity| identity.client_id.clone()),
            ParameterValue::ClientName => identity.and_then(|identity| identity.name.clone()),
            ParameterValue::ClientTier => identity.and_then(|identity| identity.tier.clone()),
        };
        if let Some(text) = text.filter(|text| text.chars().all(is_xml)) {
            gathered.set(namespace, local, Parameter::String(text));
        }
    }
    gathered
}

/// The values of all fields that some reader takes for this name, as one field would have them (RFC 9110, section 5.3).
fn header(headers: &HeaderList, name: &str) -> Option<String> {
    let mut joined: Option<Vec<u8>> = None;
    for value in headers.all_spellings(name) {
        match &mut joined {
            None => joined = Some(value.to_vec()),
            Some(joined) => {
                joined.extend_from_slice(b", ");
                joined.extend_from_slice(value);
            }
        }
    }
    String::from_utf8(joined?).ok()
}

fn query(request: &HeaderList, name: &str) -> Option<String> {
    let path = request.first(":path").unwrap_or_default();
    let first = target::query_values(path, name).next()??;
    String::from_utf8(first.into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_name_are_joined() {
        let headers = [("a", "1"), ("b", "2"), ("a", "3")].into_iter().collect();
        assert_eq!(header(&headers, "a").as_deref(), Some("1, 3"));
        assert_eq!(header(&headers, "c"), None);
        let headers = [("x-a", "1"), ("x_a", "2"), ("x.a", "3")].into_iter().collect();
        assert_eq!(header(&headers, "x-a").as_deref(), Some("1, 2, 3"));
        let mut headers = HeaderList::new();
        headers.add("a", b"\xff");
        assert_eq!(header(&headers, "a"), None);
    }

    #[test]
    fn the_first_parameter_of_a_query_counts_if_it_can_be_decoded() {
        for (path, expected) in [
            ("/?k=a%20b&k=c", Some("a b")),
            ("/?k=%zz&k=c", None),
            ("/?j=c", None),
            ("/?k=%ff", None),
            ("/?k", Some("")),
        ] {
            let headers = [(":path", path)].into_iter().collect();
            assert_eq!(query(&headers, "k").as_deref(), expected, "{path}");
        }
    }
}
