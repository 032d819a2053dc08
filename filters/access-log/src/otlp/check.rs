//! What the types of the configuration cannot say.

use core::ops::RangeInclusive;

use portcullis_policy::headers::{is_of_body, is_token};
use portcullis_policy::target::is_authority;
use portcullis_policy::{ConfigError, spelling};

use super::config::{OtlpConfig, Retry};

impl OtlpConfig {
    /// Checks what types cannot say.
    ///
    /// # Errors
    /// The first thing that is wrong, with its field.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_destination()?;
        self.check_resource()?;
        in_range("timeout_ms", self.timeout_ms, 1..=60_000)?;
        in_range("max_attribute_bytes", self.max_attribute_bytes, 16..=16_384)?;
        in_range("max_queue", self.max_queue, 1..=1_000_000)?;
        in_range("max_queue_bytes", self.max_queue_bytes, 65_536..=256 << 20)?;
        in_range("max_batch", self.max_batch, 1..=100_000)?;
        in_range("max_batch_bytes", self.max_batch_bytes, 65_536..=16 << 20)?;
        in_range("flush_interval_ms", self.flush_interval_ms, 100..=60_000)?;
        in_range("max_in_flight", self.max_in_flight, 1..=16)?;
        in_range("shutdown_ms", self.shutdown_ms, 0..=60_000)?;
        let Retry { initial_ms, max_ms, max_elapsed_ms } = self.retry;
        in_range("retry.initial_ms", initial_ms, 100..=60_000)?;
        in_range("retry.max_ms", max_ms, 100..=300_000)?;
        in_range("retry.max_elapsed_ms", max_elapsed_ms, 0..=86_400_000)?;
        if max_ms < initial_ms {
            return Err(ConfigError::new("retry.max_ms", "must not be less than retry.initial_ms"));
        }
        if self.max_batch > self.max_queue {
            return Err(ConfigError::new("max_batch", "must not be more than max_queue"));
        }
        if self.max_batch_bytes > self.max_queue_bytes {
            return Err(ConfigError::new("max_batch_bytes", "must not be more than max_queue_bytes"));
        }
        Ok(())
    }

    fn check_destination(&self) -> Result<(), ConfigError> {
        let is_visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if self.cluster.is_empty() {
            return Err(ConfigError::new("cluster", "must name an Envoy cluster"));
        }
        if !self.path.starts_with('/') || !is_visible(&self.path) || self.path.contains('#') {
            let problem = "must begin with / and be visible ASCII, percent-encoded if need be";
            return Err(ConfigError::new("path", problem));
        }
        let problem = "must be a host name, with a port if need be";
        match &self.authority {
            Some(authority) if !is_authority(authority) => {
                return Err(ConfigError::new("authority", problem));
            }
            None if !is_authority(&self.cluster) => {
                return Err(ConfigError::new(
                    "authority",
                    format!("{problem}, since the cluster's name is none"),
                ));
            }
            Some(_) | None => {}
        }
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &self.headers {
            let refuse = |problem: &str| Err(ConfigError::new(format!("headers.{name}"), problem));
            let is_one_of = |names: &[&str]| {
                names.iter().any(|other| spelling::is_same(name.as_bytes(), other.as_bytes()))
            };
            if !is_token(name) {
                return Err(ConfigError::new("headers", "must have header names"));
            }
            if is_of_body(name) {
                return refuse("must not be a header that the exporter sets itself");
            }
            if is_one_of(&seen) {
                return refuse("must not be there twice, in two spellings");
            }
            let is_text = |byte: u8| byte.is_ascii_graphic() || byte == b' ' || byte == b'\t' || byte >= 0x80;
            if !value.as_bytes().iter().copied().all(is_text)
                || value.as_bytes().trim_ascii() != value.as_bytes()
            {
                return refuse("must be text, without control characters and without space around it");
            }
            seen.push(name);
        }
        Ok(())
    }

    fn check_resource(&self) -> Result<(), ConfigError> {
        const MOST: usize = 16 * 1024;
        let total: usize =
            self.resource.iter().map(|(name, value)| name.len().saturating_add(value.len())).sum();
        if self.resource.contains_key("") {
            return Err(ConfigError::new("resource", "must not have an attribute without a name"));
        }
        if total > MOST {
            return Err(ConfigError::new("resource", "must not be longer than 16384 bytes altogether"));
        }
        Ok(())
    }
}

fn in_range(field: &str, value: u32, range: RangeInclusive<u32>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(field, format!("must be from {} to {}", range.start(), range.end())))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_policy::config;

    use super::*;

    fn problem(document: &str) -> Option<String> {
        let refused = config::parse::<OtlpConfig>(document.as_bytes()).and_then(|config| config.check());
        refused.err().map(|error| error.to_string())
    }

    /// A document with one more member.
    fn with(member: &str) -> String {
        format!(r#"{{"cluster":"c",{member}}}"#)
    }

    #[test]
    fn a_cluster_is_enough() {
        let read: OtlpConfig = config::parse(br#"{"cluster":"c"}"#).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", OtlpConfig::to_cluster("c")));
        assert!(read.check().is_ok());
    }

    #[test]
    fn the_ends_of_ranges_are_good_and_what_lies_beyond_is_not() {
        for (field, least, most) in [
            ("timeout_ms", 1, 60_000u64),
            ("max_attribute_bytes", 16, 16_384),
            ("flush_interval_ms", 100, 60_000),
            ("max_in_flight", 1, 16),
            ("shutdown_ms", 0, 60_000),
        ] {
            let refusal = Some(format!("{field}: must be from {least} to {most}"));
            for (value, expected) in [(least, None), (most, None), (most + 1, refusal.clone())] {
                assert_eq!(problem(&with(&format!("\"{field}\":{value}"))), expected, "{field} {value}");
            }
            if let Some(less) = least.checked_sub(1) {
                assert_eq!(problem(&with(&format!("\"{field}\":{less}"))), refusal, "{field}");
            }
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (member, expected) in [
            (r#""max_queue":1000001"#, "max_queue: must be from 1 to 1000000"),
            (r#""max_queue":0"#, "max_queue: must be from 1 to 1000000"),
            (r#""max_queue":1000"#, "max_batch: must not be more than max_queue"),
            (r#""max_batch":0"#, "max_batch: must be from 1 to 100000"),
            (r#""max_queue_bytes":65536"#, "max_batch_bytes: must not be more than max_queue_bytes"),
            (r#""max_queue_bytes":65535"#, "max_queue_bytes: must be from 65536 to 268435456"),
            (r#""max_batch_bytes":65535"#, "max_batch_bytes: must be from 65536 to 16777216"),
            (r#""retry":{"initial_ms":99}"#, "retry.initial_ms: must be from 100 to 60000"),
            (r#""retry":{"max_ms":300001}"#, "retry.max_ms: must be from 100 to 300000"),
            (r#""retry":{"max_ms":999}"#, "retry.max_ms: must not be less than retry.initial_ms"),
            (r#""retry":{"max_elapsed_ms":86400001}"#, "retry.max_elapsed_ms: must be from 0 to 86400000"),
            (
                r#""path":"v1/logs""#,
                "path: must begin with / and be visible ASCII, percent-encoded if need be",
            ),
            (r#""path":"/a b""#, "path: must begin with / and be visible ASCII, percent-encoded if need be"),
            (r#""authority":"""#, "authority: must be a host name, with a port if need be"),
            (r#""authority":"a b""#, "authority: must be a host name, with a port if need be"),
            (
                r#""headers":{"content-type":"x"}"#,
                "headers.content-type: must not be a header that the exporter sets itself",
            ),
            (r#""headers":{"Host":"x"}"#, "headers.Host: must not be a header that the exporter sets itself"),
            (r#""headers":{":path":"x"}"#, "headers: must have header names"),
            (r#""headers":{"":"x"}"#, "headers: must have header names"),
            (r#""authority":"user@collector""#, "authority: must be a host name, with a port if need be"),
            (r#""headers":{"Keep_Alive":"x"}"#, "headers.Keep_Alive: must not be a header that the exporter"),
            (r#""headers":{"A":"x","a":"y"}"#, "headers.a: must not be there twice, in two spellings"),
            (r#""headers":{"x-a":"x","x.a":"y"}"#, "headers.x.a: must not be there twice, in two spellings"),
            (r#""headers":{"a":"x","a":"y"}"#, "headers.a: duplicate field `a`"),
            (r#""resource":{"a":"x","a":"y"}"#, "resource.a: duplicate field `a`"),
            (r#""resource":{"":"x"}"#, "resource: must not have an attribute without a name"),
            (r#""otlp":1"#, "otlp: unknown field `otlp`"),
        ] {
            let said = problem(&with(member)).unwrap_or_default();
            assert!(said.starts_with(expected), "{member}: {said}");
        }
        assert_eq!(problem(r#"{"cluster":""}"#).as_deref(), Some("cluster: must name an Envoy cluster"));
        assert_eq!(problem("{}").as_deref(), Some("missing field `cluster`"));
        let long = format!(r#""resource":{{"a":"{}"}}"#, "x".repeat(16_384));
        assert_eq!(
            problem(&with(&long)).as_deref(),
            Some("resource: must not be longer than 16384 bytes altogether")
        );
        assert!(problem(r#"{"cluster":"a b"}"#).is_some_and(|said| said.starts_with("authority: ")));
        assert_eq!(problem(r#"{"cluster":"a b","authority":"c"}"#), None);
    }

    #[test]
    fn secrets_are_not_shown() {
        let document = with(r#""headers":{"authorization":"s3cret\r\nx"}"#);
        let said = problem(&document).unwrap();
        assert!(
            said.starts_with("headers.authorization: must be text") && !said.contains("s3cret"),
            "{said}"
        );
        let said = problem(&with(r#""headers":{"authorization":["s3cret"]}"#)).unwrap();
        assert!(!said.contains("s3cret"), "{said}");
        let config: OtlpConfig =
            config::parse(with(r#""headers":{"authorization":"s3cret"}"#).as_bytes()).unwrap();
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
