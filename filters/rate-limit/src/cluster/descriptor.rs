//! What a request is, in the rate limit service's terms.

use core::fmt::Write;
use std::collections::BTreeMap;

use super::config::{DescriptorConfig, ServiceConfig};
use super::messages::{Entry, RateLimitDescriptor, RateLimitRequest};

/// The entry of a request that has none by its key: the key that Envoy's own filter gives to constants.
const GENERIC_KEY: &str = "generic_key";
const ALL: &str = "all";

/// The value of an entry whose part of the key is not there, is ambiguous or empty: the protocol allows no empty values, and
/// to leave the entry out would make the descriptor another one, for which the service mostly knows no limit.
pub(crate) const ABSENT: &str = "-";

/// What a request is, in the service's terms: the entries that are not the same for all requests, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Description(Vec<Entry>);

/// Makes requests to the service out of what the key says.
pub(crate) struct Descriptors {
    domain: String,
    fixed: Vec<Vec<Entry>>,
    entry_keys: BTreeMap<String, String>,
    tier_entry: Option<String>,
}

impl Descriptors {
    pub(crate) fn new(config: &ServiceConfig) -> Self {
        Self {
            domain: config.domain.clone(),
            fixed: config.descriptors.iter().map(fixed_entries).collect(),
            entry_keys: config.entry_keys.clone(),
            tier_entry: config.tier_entry.clone(),
        }
    }

    /// Begins a description with the tier, if there is one and the service is to be told of it.
    pub(crate) fn describe(&self, tier: Option<&str>) -> Description {
        let tier = self.tier_entry.as_deref().zip(tier.filter(|tier| !tier.is_empty()));
        let entry = |(key, tier): (&str, &str)| Entry { key: key.to_owned(), value: tier.to_owned() };
        Description(tier.map(entry).into_iter().collect())
    }

    /// Appends a part of the key. One that is not there has no value.
    pub(crate) fn append(&self, part: &str, value: Option<&[u8]>, description: &mut Description) {
        description.0.push(Entry { key: self.key(part), value: text(value) });
    }

    /// The request about what has this description.
    pub(crate) fn request(&self, Description(own): &Description) -> RateLimitRequest {
        let descriptor = |fixed: &Vec<Entry>| {
            let mut entries: Vec<Entry> = fixed.iter().chain(own).cloned().collect();
            if entries.is_empty() {
                entries.push(Entry { key: GENERIC_KEY.to_owned(), value: ALL.to_owned() });
            }
            RateLimitDescriptor { entries }
        };
        RateLimitRequest {
            domain: self.domain.clone(),
            descriptors: self.fixed.iter().map(descriptor).collect(),
        }
    }

    /// How many limits each request is under.
    pub(crate) fn count(&self) -> usize {
        self.fixed.len()
    }

    /// The service's name for an entry.
    fn key(&self, name: &str) -> String {
        self.entry_keys.get(name).map_or(name, String::as_str).to_owned()
    }
}

fn fixed_entries(config: &DescriptorConfig) -> Vec<Entry> {
    config.entries.iter().map(|entry| Entry { key: entry.key.clone(), value: entry.value.clone() }).collect()
}

/// A value as text, so that no two values give the same: the protocol's values are text, so bytes that are not UTF-8 are
/// percent-encoded, and so are the percent sign itself and a value that would look like none.
fn text(value: Option<&[u8]>) -> String {
    let value = value.unwrap_or_default();
    if value.is_empty() {
        return ABSENT.to_owned();
    }
    let mut text = String::with_capacity(value.len());
    if value == ABSENT.as_bytes() {
        value.iter().for_each(|byte| encode(*byte, &mut text));
        return text;
    }
    for chunk in value.utf8_chunks() {
        for (at, between) in chunk.valid().split('%').enumerate() {
            if at > 0 {
                encode(b'%', &mut text);
            }
            text.push_str(between);
        }
        chunk.invalid().iter().for_each(|byte| encode(*byte, &mut text));
    }
    text
}

fn encode(byte: u8, text: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(text, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn descriptors(change: Value) -> Descriptors {
        let mut document = json!({"cluster": "ratelimit", "domain": "shop"});
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        Descriptors::new(&serde_json::from_value(document).unwrap())
    }

    impl Descriptors {
        fn ask(&self, parts: &[(&str, Option<&[u8]>)], tier: Option<&str>) -> RateLimitRequest {
            let mut description = self.describe(tier);
            parts.iter().for_each(|(part, value)| self.append(part, *value, &mut description));
            self.request(&description)
        }
    }

    fn entries(request: &RateLimitRequest) -> Vec<Vec<(&str, &str)>> {
        request
            .descriptors
            .iter()
            .map(|it| it.entries.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect())
            .collect()
    }

    #[test]
    fn has_one_descriptor_with_the_parts_of_the_key_in_order() {
        let request =
            descriptors(json!({})).ask(&[("client_id", Some(&b"acme"[..])), ("path", Some(b"/a"))], None);
        assert_eq!(request.domain, "shop");
        assert_eq!(entries(&request), [[("client_id", "acme"), ("path", "/a")]]);
    }

    #[test]
    fn calls_entries_as_the_service_does() {
        let descriptors = descriptors(json!({"entry_keys": {"header_x-tenant": "tenant"}}));
        let request = descriptors.ask(&[("header_x-tenant", Some(&b"a"[..])), ("path", Some(b"/"))], None);
        assert_eq!(entries(&request), [[("tenant", "a"), ("path", "/")]]);
    }

    #[test]
    fn has_a_generic_entry_when_there_is_no_other() {
        let request = descriptors(json!({})).ask(&[], None);
        assert_eq!(entries(&request), [[("generic_key", "all")]]);
        let named = descriptors(json!({"descriptors": [{"entries": [{"key": "api", "value": "orders"}]}]}));
        assert_eq!(entries(&named.ask(&[], None)), [[("api", "orders")]]);
    }

    #[test]
    fn puts_fixed_entries_and_the_tier_before_the_key() {
        let descriptors = descriptors(json!({
            "tier_entry": "tier",
            "descriptors": [{"entries": [{"key": "per", "value": "minute"}]}, {}],
        }));
        let request = descriptors.ask(&[("client_id", Some(&b"acme"[..]))], Some("gold"));
        assert_eq!(
            entries(&request),
            [
                vec![("per", "minute"), ("tier", "gold"), ("client_id", "acme")],
                vec![("tier", "gold"), ("client_id", "acme")],
            ]
        );
        for none in [None, Some("")] {
            let request = descriptors.ask(&[("client_id", Some(&b"acme"[..]))], none);
            assert_eq!(entries(&request)[1], [("client_id", "acme")]);
        }
    }

    #[test]
    fn does_not_tell_the_tier_unless_it_is_asked_to() {
        let request = descriptors(json!({})).ask(&[("client_id", Some(&b"acme"[..]))], Some("gold"));
        assert_eq!(entries(&request), [[("client_id", "acme")]]);
    }

    #[test]
    fn keeps_the_entry_of_a_part_that_is_missing_or_empty() {
        let request = descriptors(json!({})).ask(&[("a", None), ("b", Some(&b""[..]))], None);
        assert_eq!(entries(&request), [[("a", "-"), ("b", "-")]]);
    }

    #[test]
    fn tells_values_apart_whatever_bytes_they_have() {
        for (value, expected) in [
            (&b"caf\xe9"[..], "caf%E9"),
            (b"caf\xe8", "caf%E8"),
            ("café".as_bytes(), "café"),
            (b"caf%E9", "caf%25E9"),
            (b"\xff\x80", "%FF%80"),
            (b"%FF%80", "%25FF%2580"),
            (b"%", "%25"),
            (b"%%", "%25%25"),
            (b"-", "%2D"),
            (b"--", "--"),
            (b"%2D", "%252D"),
        ] {
            let request = descriptors(json!({})).ask(&[("a", Some(value))], None);
            assert_eq!(entries(&request), [[("a", expected)]], "{value:?}");
        }
    }

    /// All values of up to four bytes that matter to the encoding.
    #[test]
    fn no_two_values_have_one_descriptor() {
        let mut values = vec![Vec::new()];
        let mut known = BTreeMap::new();
        for _ in 0..=4 {
            for value in &values {
                let text = text(Some(value.as_slice()));
                assert_eq!(known.insert(text.clone(), value.clone()), None, "{text}");
            }
            let longer = |value: &Vec<u8>| b"%-25DF\xff".map(|byte| [value.as_slice(), &[byte]].concat());
            values = values.iter().flat_map(longer).collect();
        }
        assert_eq!(known.len(), 1 + 7 + 49 + 343 + 2401);
    }

    proptest! {
        /// What can be undone makes one text of no two values.
        #[test]
        fn a_descriptor_says_what_the_value_was(value in proptest::collection::vec(any::<u8>(), 1..20)) {
            let decoded = portcullis_policy::percent::decode_path(text(Some(&value)).as_bytes()).unwrap().into_owned();
            prop_assert_eq!(decoded, value);
        }
    }
}
