//! Which requests are concerned.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::headers::{HeaderList, is_token};
use crate::percent;

/// Which requests are concerned. A path that could mean two things (dot segments, encoded slashes, path parameters,
/// empty segments, anything beyond ASCII) is always concerned, whatever the rules say.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Scope {
    /// If not empty, only requests that match one of these are concerned. Upper and lower case count as the same here,
    /// as they do to some upstreams.
    pub only: Vec<RequestRule>,
    /// Requests that match one of these are not concerned.
    pub exempt: Vec<RequestRule>,
    /// Whether CORS preflight requests are concerned: OPTIONS with the headers Origin and
    /// Access-Control-Request-Method. Browsers send them without credentials.
    pub cors_preflight: CorsPreflight,
}

/// A rule that requests match or not.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RequestRule {
    /// A path, without query, that the request's path is or lies below: `/a` matches `/a` and `/a/b`, not `/ab`.
    pub path_prefix: String,
    /// The methods that match; empty for all.
    #[serde(default)]
    pub methods: Vec<String>,
}

/// Whether CORS preflight requests are concerned.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CorsPreflight {
    /// They are, as any other request.
    #[default]
    Enforced,
    /// They are not.
    Exempt,
}

/// Compiled rules.
#[derive(Debug)]
pub struct CompiledScope {
    /// In lower case, and compared with requests in lower case.
    only: Vec<Rule>,
    exempt: Vec<Rule>,
    cors_preflight: CorsPreflight,
}

/// Whether a request is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// It is.
    Enforced,
    /// It is not.
    Exempt,
}

#[derive(Debug)]
struct Rule {
    prefix: Vec<u8>,
    methods: Vec<String>,
}

impl CompiledScope {
    /// Compiles the rules.
    ///
    /// # Errors
    /// The first rule that could never match, or that the rules leave no request that is concerned.
    pub fn compile(config: &Scope) -> Result<Self, ConfigError> {
        let rules = |rules: &[RequestRule], field: &str| {
            rules
                .iter()
                .enumerate()
                .map(|(at, rule)| {
                    Rule::compile(rule).map_err(|error| error.within(&format!("{field}[{at}]")))
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let (only, exempt) = (rules(&config.only, "only")?, rules(&config.exempt, "exempt")?);
        let everything = [Rule { prefix: Vec::new(), methods: Vec::new() }];
        let concerned = if only.is_empty() { &everything[..] } else { &only };
        if concerned.iter().all(|rule| exempt.iter().any(|exempt| exempt.covers(rule))) {
            let problem = "must leave some requests: so no request is concerned, and the policy does nothing. Leave the \
                           policy out if that is meant";
            return Err(ConfigError::new("exempt", problem));
        }
        Ok(Self {
            only: only.into_iter().map(Rule::in_lower_case).collect(),
            exempt,
            cors_preflight: config.cors_preflight,
        })
    }

    /// Whether the request with these headers is concerned.
    pub fn concern(&self, headers: &HeaderList) -> Concern {
        if self.cors_preflight == CorsPreflight::Exempt && is_cors_preflight(headers) {
            return Concern::Exempt;
        }
        if self.only.is_empty() && self.exempt.is_empty() {
            return Concern::Enforced;
        }
        // A request without a path (CONNECT) and a path that could mean two things are concerned.
        let Some(path) = headers.first(":path").and_then(plain_path) else {
            return Concern::Enforced;
        };
        let method = headers.first(":method").unwrap_or_default();
        if !self.only_concerns(&path, method) || self.exempt.iter().any(|rule| rule.matches(&path, method)) {
            Concern::Exempt
        } else {
            Concern::Enforced
        }
    }

    /// Whether the request is one of those that `only` names, to an upstream that does not tell upper from lower
    /// case: what decides on enforcing must not be stricter than the upstream.
    fn only_concerns(&self, path: &[u8], method: &[u8]) -> bool {
        if self.only.is_empty() {
            return true;
        }
        let (path, method) = (path.to_ascii_lowercase(), method.to_ascii_lowercase());
        self.only.iter().any(|rule| rule.matches(&path, &method))
    }
}

impl Rule {
    fn compile(rule: &RequestRule) -> Result<Self, ConfigError> {
        let prefix = rule.path_prefix.as_bytes();
        if plain_path(prefix).is_none_or(|plain| plain != prefix) || rule.path_prefix.contains('?') {
            return Err(ConfigError::new(
                "path_prefix",
                "must begin with / and be a plain path: no query, percent-encoding, dot segments, empty segments, \
                 semicolons, backslashes or characters beyond ASCII",
            ));
        }
        if let Some(at) = rule.methods.iter().position(|method| !is_token(method)) {
            return Err(ConfigError::new(format!("methods[{at}]"), "must be an HTTP method, such as GET"));
        }
        let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
        Ok(Self { prefix: prefix.to_vec(), methods: rule.methods.clone() })
    }

    fn in_lower_case(self) -> Self {
        Self {
            prefix: self.prefix.to_ascii_lowercase(),
            methods: self.methods.iter().map(|method| method.to_ascii_lowercase()).collect(),
        }
    }

    /// Whether all requests match that match the other rule.
    fn covers(&self, other: &Self) -> bool {
        let is_listed = |method: &String| self.methods.contains(method);
        let covers_methods =
            self.methods.is_empty() || (!other.methods.is_empty() && other.methods.iter().all(is_listed));
        covers_methods
            && Self { prefix: self.prefix.clone(), methods: Vec::new() }.matches(&other.prefix, b"")
    }

    fn matches(&self, path: &[u8], method: &[u8]) -> bool {
        path.strip_prefix(self.prefix.as_slice())
            .is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
            && (self.methods.is_empty() || self.methods.iter().any(|own| own.as_bytes() == method))
    }
}

/// The decoded path without its query, or `None` if an upstream might understand it otherwise than we do: dot
/// segments, empty segments, segments that end in a dot or a space, path parameters, fragments, backslashes, control
/// characters, anything beyond ASCII, and percent-encoding that is broken or doubled or hides one of those.
fn plain_path(path: &[u8]) -> Option<Vec<u8>> {
    let end = memchr::memchr(b'?', path).unwrap_or(path.len());
    let raw = path.get(..end)?;
    let decoded = percent::decode_path(raw)?;
    let slashes = |bytes: &[u8]| memchr::memchr_iter(b'/', bytes).count();
    let is_plain = decoded.first() == Some(&b'/')
        && slashes(raw) == slashes(&decoded)
        && decoded.iter().all(|byte| matches!(byte, b' '..=b'~') && !b"%;\\?#".contains(byte))
        && segments_are_plain(&decoded);
    is_plain.then(|| decoded.into_owned())
}

/// Only the last segment may be empty.
fn segments_are_plain(path: &[u8]) -> bool {
    let mut segments = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        if matches!(segment.last(), Some(b'.' | b' ')) || (segment.is_empty() && segments.peek().is_some()) {
            return false;
        }
    }
    true
}

/// The Fetch standard, section 3.2.1 ("CORS-preflight request"). Browsers spell these names so, and another spelling must
/// not exempt a request.
fn is_cors_preflight(headers: &HeaderList) -> bool {
    headers.first(":method") == Some(b"OPTIONS")
        && headers.contains("origin")
        && headers.contains("access-control-request-method")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(json: &str) -> Result<CompiledScope, String> {
        CompiledScope::compile(&serde_json::from_str(json).unwrap()).map_err(|error| error.to_string())
    }

    fn is_exempt(scope: &CompiledScope, method: &str, path: &str) -> bool {
        let headers = [(":method", method), (":path", path)].into_iter().collect();
        scope.concern(&headers) == Concern::Exempt
    }

    #[test]
    fn exempts_what_is_at_or_below_a_prefix_and_nothing_that_pretends_to_be() {
        let scope =
            scope(r#"{"exempt":[{"path_prefix":"/public"},{"path_prefix":"/r/","methods":["GET"]}]}"#)
                .unwrap();
        for (method, path, expected) in [
            ("GET", "/public", true),
            ("POST", "/public/", true),
            ("GET", "/public/a?b=/../", true),
            ("GET", "/%70ublic/a", true),
            ("GET", "/r", true),
            ("POST", "/r", false),
            ("GET", "/publicity", false),
            ("GET", "/PUBLIC", false),
            ("GET", "/private", false),
            ("GET", "/public/../private", false),
            ("GET", "/public/%2e%2e/private", false),
            ("GET", "/public/.%2e/private", false),
            ("GET", "/public/..%2fprivate", false),
            ("GET", "/public/..;/private", false),
            ("GET", "/public/%252e%252e/private", false),
            ("GET", "/public\\..\\private", false),
            ("GET", "/public//private", false),
            ("GET", "//public", false),
            ("GET", "/public/%00", false),
            ("GET", "/public/%", false),
            ("GET", "public", false),
            ("GET", "", false),
            ("GET", "http://host/public", false),
            ("GET", "/public/%c0%ae%c0%ae/private", false),
            ("GET", "/public/%ef%bc%8e%ef%bc%8e/private", false),
            ("GET", "/public/..%20/private", false),
            ("GET", "/public/.../private", false),
            ("GET", "/public#/private", false),
            ("GET", "/public/a.b/.c/~d", true),
            ("get", "/r", false),
        ] {
            assert_eq!(is_exempt(&scope, method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn enforces_only_below_the_named_prefixes_however_they_are_spelled() {
        let scope =
            scope(r#"{"only":[{"path_prefix":"/api"}],"exempt":[{"path_prefix":"/api/health"}]}"#).unwrap();
        for (path, expected) in [
            ("/api", false),
            ("/%61pi/x", false),
            ("/api/health", true),
            ("/other", true),
            ("/other/../api", false),
            ("/other/%2e%2e/api", false),
            ("/%2561pi", false),
            ("/API/x", false),
            ("/Api/HEALTH", false),
            ("/api./x", false),
            ("/api%20/x", false),
        ] {
            assert_eq!(is_exempt(&scope, "GET", path), expected, "{path}");
        }
    }

    #[test]
    fn is_not_evaded_by_the_case_of_a_method() {
        let scope = scope(r#"{"only":[{"path_prefix":"/","methods":["POST"]}]}"#).unwrap();
        for (method, expected) in [("POST", false), ("post", false), ("Post", false), ("GET", true)] {
            assert_eq!(is_exempt(&scope, method, "/a"), expected, "{method}");
        }
    }

    #[test]
    fn concerns_requests_without_a_path() {
        let scope = scope(r#"{"only":[{"path_prefix":"/api"}]}"#).unwrap();
        assert_eq!(scope.concern(&[(":method", "CONNECT")].into_iter().collect()), Concern::Enforced);
        assert_eq!(scope.concern(&HeaderList::new()), Concern::Enforced);
    }

    #[test]
    fn exempts_cors_preflights_only_if_told_and_only_whole_ones() {
        let preflight = [(":method", "OPTIONS"), ("origin", "o"), ("access-control-request-method", "PUT")];
        let concern = |json: &str, headers: &[(&str, &str)]| {
            scope(json).unwrap().concern(&headers.iter().copied().collect())
        };
        assert_eq!(concern("{}", &preflight), Concern::Enforced);
        assert_eq!(concern(r#"{"cors_preflight":"exempt"}"#, &preflight), Concern::Exempt);
        for without in 0..3 {
            let mut partial = preflight.to_vec();
            partial.remove(without);
            assert_eq!(concern(r#"{"cors_preflight":"exempt"}"#, &partial), Concern::Enforced);
        }
        for name in ["access_control_request_method", "access.control-request-method"] {
            let other = [preflight[0], preflight[1], (name, "PUT")];
            assert_eq!(concern(r#"{"cors_preflight":"exempt"}"#, &other), Concern::Enforced, "{name}");
        }
    }

    #[test]
    fn refuses_rules_that_leave_no_request() {
        const ROOT: &str = r#"{"path_prefix":"/"}"#;
        for (only, exempt, is_refused) in [
            ("", ROOT, true),
            ("", r#"{"path_prefix":"/a"},{"path_prefix":"/"}"#, true),
            (r#"{"path_prefix":"/api"}"#, ROOT, true),
            (
                r#"{"path_prefix":"/api/"},{"path_prefix":"/b/c"}"#,
                r#"{"path_prefix":"/b"},{"path_prefix":"/api"}"#,
                true,
            ),
            (
                r#"{"path_prefix":"/a","methods":["GET"]}"#,
                r#"{"path_prefix":"/a","methods":["PUT","GET"]}"#,
                true,
            ),
            (r#"{"path_prefix":"/a"}"#, r#"{"path_prefix":"/a","methods":["GET"]}"#, false),
            (
                r#"{"path_prefix":"/a","methods":["GET","PUT"]}"#,
                r#"{"path_prefix":"/a","methods":["GET"]}"#,
                false,
            ),
            (r#"{"path_prefix":"/a"}"#, r#"{"path_prefix":"/a/b"}"#, false),
            (r#"{"path_prefix":"/ab"}"#, r#"{"path_prefix":"/a"}"#, false),
            (r#"{"path_prefix":"/a"},{"path_prefix":"/b"}"#, r#"{"path_prefix":"/a"}"#, false),
            ("", r#"{"path_prefix":"/","methods":["GET"]}"#, false),
            (r#"{"path_prefix":"/"}"#, "", false),
            ("", "", false),
        ] {
            let scope = scope(&format!(r#"{{"only":[{only}],"exempt":[{exempt}]}}"#));
            let refusal = scope.err().filter(|error| error.starts_with("exempt: must leave some requests"));
            assert_eq!(refusal.is_some(), is_refused, "{only} {exempt}");
        }
    }

    #[test]
    fn refuses_rules_that_could_never_match() {
        for (json, path) in [
            (r#"{"only":[{"path_prefix":"api"}]}"#, "only[0].path_prefix"),
            (r#"{"exempt":[{"path_prefix":"/"},{"path_prefix":"/a/../b"}]}"#, "exempt[1].path_prefix"),
            (r#"{"exempt":[{"path_prefix":"/a?b"}]}"#, "exempt[0].path_prefix"),
            (r#"{"exempt":[{"path_prefix":"/%61"}]}"#, "exempt[0].path_prefix"),
            (r#"{"exempt":[{"path_prefix":"/","methods":["G T"]}]}"#, "exempt[0].methods[0]"),
        ] {
            let error = scope(json).err().unwrap();
            assert!(error.starts_with(path), "{json}: {error}");
        }
    }
}
