//! What types cannot say, but for what is found out by compiling.

use portcullis_conditions::possible;
use portcullis_policy::headers::{is_field_value, is_token};
use portcullis_policy::{ConfigError, Direction};
use portcullis_xml::soap::MediaType;

use super::{Condition, Config, Limits, ParameterValue, Placement, SourceElement, Transformation};

/// How many parameters a transformation may have: each is looked up for each message.
const MAX_PARAMETERS: usize = 64;

impl Config {
    /// Refuses what makes no sense, with the path of the first field that does not.
    ///
    /// # Errors
    /// That field, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.request.is_none() && self.response.is_none() {
            return Err(ConfigError::new("", "must have `request`, `response`, or both"));
        }
        for name in self.stylesheets.keys() {
            check_name(name)?;
        }
        for (side, at, field) in [
            (&self.request, Direction::Request, "request"),
            (&self.response, Direction::Response, "response"),
        ] {
            if let Some(transformation) = side {
                transformation.check(at).map_err(|error| error.within(field))?;
            }
        }
        self.limits.check().map_err(|error| error.within("limits"))
    }
}

/// A name is a relative path that goes nowhere but down.
fn check_name(name: &str) -> Result<(), ConfigError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_step = |step: &str| !step.is_empty() && step != "." && step != ".." && step.bytes().all(is_plain);
    if name.len() <= 256 && name.split('/').all(is_step) {
        return Ok(());
    }
    let problem = "must have names that are relative paths of letters, digits, `.`, `_` and `-`, such as \
                   `orders/to-legacy.xsl`";
    Err(ConfigError::new("stylesheets", problem))
}

impl Transformation {
    fn check(&self, at: Direction) -> Result<(), ConfigError> {
        if let Some(when) = &self.when {
            when.check(at).map_err(|error| error.within("when"))?;
        }
        if self.source == SourceElement::Document && self.result == Placement::Message {
            let problem = "must be left out if the source is the document: both mean the same then";
            return Err(ConfigError::new("result", problem));
        }
        if self.parameters.len() > MAX_PARAMETERS {
            return Err(ConfigError::new("parameters", format!("must be {MAX_PARAMETERS} at most")));
        }
        for (name, value) in &self.parameters {
            value.check().map_err(|error| error.within(name).within("parameters"))?;
        }
        self.check_content_type()
    }

    fn check_content_type(&self) -> Result<(), ConfigError> {
        let Some(content_type) = &self.content_type else {
            return Ok(());
        };
        let refused = |problem| Err(ConfigError::new("content_type", problem));
        let parsed = MediaType::parse(content_type.as_bytes()).ok();
        let Some(media_type) = parsed.filter(|_| is_field_value(content_type.as_bytes())) else {
            return refused("must be a media type, such as `application/xml; charset=utf-8`");
        };
        match media_type.parameter("charset") {
            Some(charset) if !charset.eq_ignore_ascii_case(b"utf-8") => {
                refused("must have the charset utf-8, or none: results are in UTF-8")
            }
            _ => Ok(()),
        }
    }
}

impl ParameterValue {
    fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Header(name) if !is_token(name) => Err(ConfigError::new("header", "must be a header name")),
            Self::RequestHeader(name) if !is_token(name) => {
                Err(ConfigError::new("request-header", "must be a header name"))
            }
            Self::Query(name) if name.is_empty() => Err(ConfigError::new("query", "must not be empty")),
            Self::Text(text) if !text.chars().all(is_xml) => {
                Err(ConfigError::new("text", "must have characters of XML only"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether XML documents can have this character (XML 1.0, production 2).
pub(crate) fn is_xml(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => true,
    }
}

impl Condition {
    fn check(&self, at: Direction) -> Result<(), ConfigError> {
        let each = |field: &str, conditions: &[Self]| {
            let mut conditions = conditions.iter().enumerate();
            conditions.try_for_each(|(place, condition)| {
                condition.check(at).map_err(|error| error.within(&format!("{field}[{place}]")))
            })
        };
        match (self, at) {
            (Self::All(conditions), _) => each("all", conditions),
            (Self::Any(conditions), _) => each("any", conditions),
            (Self::Not(condition), _) => condition.check(at).map_err(|error| error.within("not")),
            (Self::Path(test), _) => possible::check_path(test).map_err(|error| error.within("path")),
            (Self::Host(test), _) => possible::check_host(test).map_err(|error| error.within("host")),
            (Self::Status(_), Direction::Request) => {
                Err(ConfigError::new("status", "is for responses: requests have none"))
            }
            (Self::RequestHeader { .. }, Direction::Request) => {
                Err(ConfigError::new("request-header", "is for responses: write `header` here"))
            }
            _ => Ok(()),
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), ConfigError> {
        in_range("max_bytes", self.max_bytes, 1024, 32 << 20)?;
        in_range("max_depth", self.max_depth, 4, 1024)?;
        in_range("max_nodes", self.max_nodes, 1000, 2 << 20)?;
        in_range("max_output_bytes", self.max_output_bytes, 1024, 16 << 20)?;
        in_range("max_steps", self.max_steps, 1000, 1_000_000_000)?;
        in_range("max_template_depth", self.max_template_depth, 16, 100_000)?;
        in_range("max_temporary_bytes", self.max_temporary_bytes, 64 << 10, 64 << 20)?;
        in_range("max_held_bytes", self.max_held_bytes, 1 << 20, 256 << 20)
    }
}

fn in_range(field: &str, value: u32, least: u32, most: u32) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(field, format!("must be from {least} to {most}")))
    }
}
