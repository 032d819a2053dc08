//! Text with command operators in it.

use portcullis_policy::Direction;

use super::operator::{Call, Operator};

/// A piece of a template.
#[derive(Debug)]
pub(crate) enum Part {
    /// Text that stands in every line as it is.
    Literal(String),
    /// What is replaced.
    Operator(Operator),
}

/// The longest template, in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// Reads a template. `%%` is a percent sign.
///
/// # Errors
/// Where it goes wrong and why, without any of the template's text.
pub(crate) fn compile(template: &str) -> Result<Vec<Part>, String> {
    if template.len() > MAX_BYTES {
        return Err(format!("must have {MAX_BYTES} bytes at the most"));
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some((before, from_percent)) = rest.find('%').and_then(|at| rest.split_at_checked(at)) {
        literal.push_str(before);
        if let Some(after) = from_percent.strip_prefix("%%") {
            literal.push('%');
            rest = after;
            continue;
        }
        let position = template.len().saturating_sub(from_percent.len());
        let at = |problem: String| format!("at byte {position}: {problem}");
        let (call, after) = read_call(from_percent).ok_or_else(|| {
            at("not an operator of the form %NAME%, %NAME(ARGUMENT)% or %NAME(ARGUMENT):LENGTH%; a percent sign \
                itself is written %%"
                .to_owned())
        })?;
        if !literal.is_empty() {
            parts.push(Part::Literal(core::mem::take(&mut literal)));
        }
        parts.push(Part::Operator(Operator::compile(&call).map_err(at)?));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() || parts.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// Whether one of the parts is the body of a message.
pub(crate) fn names_body(parts: &[Part], direction: Direction) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal(_) => false,
        Part::Operator(operator) => operator.body() == Some(direction),
    })
}

/// Reads what Envoy's expression `%([A-Z0-9_]+)(\((.*?)\))?(:([0-9]+))?%` matches at the beginning, and gives what
/// follows.
fn read_call(text: &str) -> Option<(Call<'_>, &str)> {
    let text = text.strip_prefix('%')?;
    let name_end = text.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))?;
    let (name, rest) = text.split_at_checked(name_end).filter(|(name, _)| !name.is_empty())?;
    if let Some(inside) = rest.strip_prefix('(') {
        // The argument ends at the first parenthesis behind which the operator can end.
        for (at, _) in inside.match_indices(')') {
            let (argument, tail) = inside.split_at_checked(at)?;
            if argument.contains('\n') {
                return None;
            }
            if let Some((limit, after)) = tail.strip_prefix(')').and_then(read_end) {
                return Some((Call { name, argument: Some(argument), limit }, after));
            }
        }
        return None;
    }
    let (limit, after) = read_end(rest)?;
    Some((Call { name, argument: None, limit }, after))
}

/// Reads `%`, or `:LENGTH%`.
fn read_end(text: &str) -> Option<(Option<usize>, &str)> {
    if let Some(after) = text.strip_prefix('%') {
        return Some((None, after));
    }
    let (digits, after) = text.strip_prefix(':')?.split_once('%')?;
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((Some(all_digits.then(|| digits.parse().ok())??), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(operator: &Operator) -> Option<usize> {
        match operator {
            Operator::Header(header) => header.limit,
            _ => None,
        }
    }

    fn shape(template: &str) -> String {
        match compile(template) {
            Ok(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Literal(text) => format!("'{text}'"),
                    Part::Operator(operator) => format!("<{:?}>", limit(operator)),
                })
                .collect(),
            Err(problem) => problem.split(';').next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn finds_operators_as_envoy_does() {
        for (template, expected) in [
            ("", "''"),
            ("plain", "'plain'"),
            ("%%", "'%'"),
            ("100%% of %PROTOCOL%%%", "'100% of '<None>'%'"),
            ("%PROTOCOL%%PROTOCOL%", "<None><None>"),
            ("%REQ(:METHOD)%", "<None>"),
            ("%REQ(A?B):12%", "<Some(12)>"),
            ("%REQ(A?):0%", "<Some(0)>"),
            ("%START_TIME(%Y-%m-%dT%H:%M:%S%z)%", "<None>"),
            ("%START_TIME((%Y))%", "<None>"),
            ("[%START_TIME%] é", "'['<None>'] é'"),
            ("%PORTCULLIS(OUTCOME:client-id)%", "<None>"),
        ] {
            assert_eq!(shape(template), expected, "{template}");
        }
    }

    #[test]
    fn says_where_a_template_goes_wrong_and_never_what_it_says() {
        let form = "not an operator of the form %NAME%, %NAME(ARGUMENT)% or %NAME(ARGUMENT):LENGTH%";
        for (template, at, problem) in [
            ("%", 0, form),
            ("a%", 1, form),
            ("é%secret%", 2, form),
            ("%PROTOCOL", 0, form),
            ("%PROTOCOL %", 0, form),
            ("%REQ(a%", 0, form),
            ("%REQ(a):%", 0, form),
            ("%REQ(a):x%", 0, form),
            ("%REQ(a):99999999999999999999999%", 0, form),
            ("%REQ(a\nb)%", 0, form),
            ("ok %PROTOCOL(x)%", 3, "this operator takes neither an argument nor a length"),
            ("%PROTOCOL:4%", 0, "this operator takes neither an argument nor a length"),
            ("%START_TIME(%s):4%", 0, "this operator takes no length"),
            ("%SECRET%", 0, "no such operator"),
            ("%REQ%", 0, "takes the name of a header, and may name another for when that is missing: `A?B`"),
            (
                "%REQ()%",
                0,
                "takes the name of a header, and may name another for when that is missing: `A?B`",
            ),
            (
                "%REQ(a b)%",
                0,
                "takes the name of a header, and may name another for when that is missing: `A?B`",
            ),
            (
                "%REQ(a?b?c)%",
                0,
                "takes the name of a header, and may name another for when that is missing: `A?B`",
            ),
            ("%FILTER_STATE(a)%", 0, "FILTER_STATE takes the name of an object and `:PLAIN`"),
            ("%FILTER_STATE(a:TYPED)%", 0, "FILTER_STATE takes the name of an object and `:PLAIN`"),
            ("%GRPC_STATUS(secret)%", 0, "GRPC_STATUS takes CAMEL_STRING, SNAKE_STRING or NUMBER"),
            (
                "%DYNAMIC_METADATA()%",
                0,
                "DYNAMIC_METADATA takes the name of a filter and keys, joined by colons",
            ),
        ] {
            let error = compile(template).err().unwrap();
            assert!(error.starts_with(&format!("at byte {at}: {problem}")), "{template}: {error}");
            assert!(!error.contains("secret") && !error.contains("SECRET"), "{error}");
        }
        assert!(compile(&"x".repeat(MAX_BYTES)).is_ok());
        assert!(compile(&"x".repeat(MAX_BYTES + 1)).is_err());
    }
}
