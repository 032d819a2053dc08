//! Reading a list of clients a part at a time, so that a long one does not stall the worker.
//!
//! The document is split into clients here, and serde reads each client. What is needed for that is little: strings,
//! nesting, and the members of the outermost object.

use std::collections::BTreeMap;
use std::collections::btree_map;

use portcullis_policy::{ConfigError, config};

use super::document::{Client, ClientEntry, ClientList, compile};

/// The longest text of one client, in bytes: all that it may have, escaped to the last character.
const MAX_ENTRY_BYTES: usize = 64 << 10;

/// How much a list may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListLimits {
    /// How many clients it may have.
    pub(crate) clients: usize,
    /// How many bytes it may take, with the text that it is read from.
    pub(crate) memory: usize,
}

/// How much is done at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portion {
    /// The most bytes that are read, but for the rest of a client.
    pub(crate) bytes: usize,
    /// The most clients that are read.
    pub(crate) clients: usize,
}

/// How far the reading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Unfinished,
    Finished,
}

/// A list that is being read.
#[derive(Debug)]
pub(crate) struct Loader {
    text: Vec<u8>,
    at: usize,
    expected: Expected,
    limits: ListLimits,
    version: Option<u32>,
    clients: Option<BTreeMap<String, Client>>,
    most_secrets: usize,
    memory: usize,
}

/// What comes next in the text, white space aside.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Object,
    FirstName,
    Name,
    Colon(Member),
    Value(Member),
    NameOrEnd,
    FirstClient,
    Client,
    ClientOrEnd,
    Nothing,
}

#[derive(Debug, Clone, Copy)]
enum Member {
    Version,
    Clients,
}

impl Loader {
    pub(crate) fn new(text: Vec<u8>, limits: ListLimits) -> Self {
        Self {
            at: 0,
            expected: Expected::Object,
            limits,
            version: None,
            clients: None,
            most_secrets: 0,
            memory: text.capacity(),
            text,
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// The first thing that is wrong with the list.
    pub(crate) fn advance(&mut self, portion: Portion) -> Result<Progress, ConfigError> {
        let stop = self.at.saturating_add(portion.bytes);
        let enough = self.len().saturating_add(portion.clients);
        loop {
            self.skip_space(stop);
            if self.at >= self.text.len() {
                return self.check_whole().map(|()| Progress::Finished);
            }
            if self.at >= stop || self.len() >= enough {
                return Ok(Progress::Unfinished);
            }
            self.step()?;
        }
    }

    /// The list that has been read, and finished.
    pub(crate) fn finish(self) -> ClientList {
        ClientList::new(self.clients.unwrap_or_default(), self.most_secrets)
    }

    fn len(&self) -> usize {
        self.clients.as_ref().map_or(0, BTreeMap::len)
    }

    fn skip_space(&mut self, stop: usize) {
        let rest = self.text.get(self.at..stop.min(self.text.len())).unwrap_or_default();
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at = self.at.saturating_add(space);
    }

    fn check_whole(&self) -> Result<(), ConfigError> {
        if !matches!(self.expected, Expected::Nothing) {
            return Err(ConfigError::new("", "not JSON: it ends too early"));
        }
        for (name, is_there) in [("version", self.version.is_some()), ("clients", self.clients.is_some())] {
            if !is_there {
                return Err(ConfigError::new("", format!("missing field `{name}`")));
            }
        }
        Ok(())
    }

    /// Reads one item, which begins here.
    fn step(&mut self) -> Result<(), ConfigError> {
        let byte = self.text.get(self.at).copied().unwrap_or_default();
        let next = match (self.expected, byte) {
            (Expected::Object, b'{') => Expected::FirstName,
            // serde would also take an array for a structure, member by member.
            (Expected::Object, _) => return Err(ConfigError::new("", "must be a JSON object")),
            (Expected::FirstName | Expected::NameOrEnd, b'}') => Expected::Nothing,
            (Expected::NameOrEnd, b',') => Expected::Name,
            (Expected::FirstName | Expected::Name, b'"') => return self.read_name(),
            (Expected::Colon(member), b':') => Expected::Value(member),
            (Expected::Value(Member::Version), _) => return self.read_version(),
            (Expected::Value(Member::Clients), b'[') => {
                self.clients = Some(BTreeMap::new());
                Expected::FirstClient
            }
            (Expected::Value(Member::Clients), _) => {
                return Err(ConfigError::new("clients", "expected a sequence"));
            }
            (Expected::FirstClient | Expected::ClientOrEnd, b']') => Expected::NameOrEnd,
            (Expected::ClientOrEnd, b',') => Expected::Client,
            (Expected::FirstClient | Expected::Client, b'{') => return self.read_client(),
            (Expected::FirstClient | Expected::Client, _) => {
                return Err(ConfigError::new(self.place(), "must be a JSON object"));
            }
            _ => {
                return Err(ConfigError::new(
                    "",
                    format!("not JSON: unexpected character at byte {}", self.at),
                ));
            }
        };
        self.at = self.at.saturating_add(1);
        self.expected = next;
        Ok(())
    }

    fn read_name(&mut self) -> Result<(), ConfigError> {
        let (name, end) = self.value("")?;
        let name: String = config::parse_value(name)?;
        let member = match name.as_str() {
            "version" if self.version.is_none() => Member::Version,
            "clients" if self.clients.is_none() => Member::Clients,
            "version" | "clients" => {
                return Err(ConfigError::new("", format!("duplicate field `{name}`")));
            }
            _ => return Err(ConfigError::new("", "unknown field, expected `version` or `clients`")),
        };
        self.at = end;
        self.expected = Expected::Colon(member);
        Ok(())
    }

    fn read_version(&mut self) -> Result<(), ConfigError> {
        let (version, end) = self.value("version")?;
        match config::parse_value(version).map_err(|error| error.within("version"))? {
            1 => self.version = Some(1),
            _ => return Err(ConfigError::new("version", "must be 1")),
        }
        self.at = end;
        self.expected = Expected::NameOrEnd;
        Ok(())
    }

    fn read_client(&mut self) -> Result<(), ConfigError> {
        let place = self.place();
        if self.len() >= self.limits.clients {
            let problem = format!("has more than {} items (max_clients)", self.limits.clients);
            return Err(ConfigError::new("clients", problem));
        }
        let (text, end) = self.value(&place)?;
        let within = |error: ConfigError| error.within(&place);
        let entry: ClientEntry = config::parse_value(text).map_err(within)?;
        let (id, client) = compile(entry).map_err(within)?;
        self.memory = self.memory.saturating_add(client.memory(&id));
        if self.memory > self.limits.memory {
            let problem =
                format!("takes more than {} bytes of memory (max_memory_bytes)", self.limits.memory);
            return Err(ConfigError::new("clients", problem));
        }
        self.most_secrets = self.most_secrets.max(client.secrets());
        match self.clients.get_or_insert_default().entry(id) {
            btree_map::Entry::Vacant(free) => free.insert(client),
            btree_map::Entry::Occupied(_) => {
                return Err(within(ConfigError::new("id", "is another client's too")));
            }
        };
        self.at = end;
        self.expected = Expected::ClientOrEnd;
        Ok(())
    }

    /// The path of the client that comes next.
    fn place(&self) -> String {
        format!("clients[{}]", self.len())
    }

    /// The text of the value that begins here, and where it ends. Brackets and quotes match in it; the rest is for serde
    /// to check.
    fn value(&self, place: &str) -> Result<(&[u8], usize), ConfigError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let window = rest.get(..MAX_ENTRY_BYTES).unwrap_or(rest);
        let Some(value) = length(window).and_then(|length| window.get(..length)) else {
            return Err(match window.len() < rest.len() {
                true => ConfigError::new(place, format!("is longer than {MAX_ENTRY_BYTES} bytes")),
                false => ConfigError::new("", "not JSON: it ends too early"),
            });
        };
        Ok((value, self.at.saturating_add(value.len())))
    }
}

/// How long the value at the beginning of this text is; none if it does not end.
fn length(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => continue,
            (false, b'"') => in_string = true,
            (false, b'{' | b'[') => depth = depth.saturating_add(1),
            // The end of what a number or a word stands in.
            (false, b'}' | b']' | b',' | b' ' | b'\t' | b'\n' | b'\r') if depth == 0 => return Some(at),
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            (false, _) => continue,
        }
        if depth == 0 && !in_string {
            return at.checked_add(1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::document::Document;
    use super::*;

    const LIMITS: ListLimits = ListLimits { clients: 10, memory: 1 << 20 };

    #[allow(
        clippy::panic_in_result_fn,
        clippy::unreachable,
        clippy::arithmetic_side_effects,
        reason = "the error is what is compared, and a test may panic"
    )]
    fn load(text: &str, portion: Portion) -> Result<(usize, usize), String> {
        let mut loader = Loader::new(text.as_bytes().to_vec(), LIMITS);
        for steps in 1.. {
            match loader.advance(portion).map_err(|error| error.to_string())? {
                Progress::Finished => return Ok((loader.finish().len(), steps)),
                Progress::Unfinished => assert!(steps <= text.len() + 1, "{text}"),
            }
        }
        unreachable!()
    }

    /// It takes what serde takes, in portions of any size.
    #[test]
    fn reads_the_same_in_whatever_portions() {
        for text in [
            r#"{"version":1,"clients":[]}"#,
            r#" { "clients" : [ { "id" : "a" } , {"id":"b","name":"}]\",\\"} ] , "version" : 1 } "#,
            r#"{"v\u0065rsion":1,"clients":[{"id":"\u0061"}]}"#,
            r#"{"version":1,"clients":[{"id":"a","secrets":[{"salt":"0011223344556677","sha256":"0000000000000000000000000000000000000000000000000000000000000000"}]}]}"#,
            r#"{"version":1,"clients":[{"id":"a"},]}"#,
            r#"{"version":1,"clients":[,{"id":"a"}]}"#,
            r#"{"version":1,"clients":[{"id":"a"}{"id":"b"}]}"#,
            r#"{"version":1,"clients":[{"id":"a"}]"#,
            r#"{"version":1,"clients":[{"id":"a"}]}}"#,
            r#"{"version":1,"clients":[{"id":"a"}]},"#,
            r#"{"version":1,,"clients":[]}"#,
            r#"{"version":1 "clients":[]}"#,
            r#"{"version":1.5,"clients":[]}"#,
            r#"{"version":1x,"clients":[]}"#,
            r#"{"version":,"clients":[]}"#,
            r#"{"version" 1,"clients":[]}"#,
            r#"{"version":1,"clients":[],"version":1}"#,
            r#"{"version":1,"clients":[],"clients":[]}"#,
            r#"{"version":1,"clients":{}}"#,
            r#"{"version":1,"clients":[3]}"#,
            r#"{"version":1,"clients":[{"id":"a"]}"#,
            r#"{"version":1,"clients":[{"id":"a]}"#,
            r#"{"version":1,"clients":[{"id":"a","id":"b"}]}"#,
            r#"{"version":1,"clients":[{"id":"a","x":[[[[]]]]}]}"#,
            r#"{,"version":1,"clients":[]}"#,
            r#"{"version":1,"clients":[],}"#,
            "",
            "{",
            "{}",
            "3",
            "\u{feff}{}",
            "{\"",
            "{\"version\"",
        ] {
            let all = Portion { bytes: usize::MAX, clients: usize::MAX };
            let whole = load(text, all);
            assert_eq!(whole.is_ok(), serde_json::from_str::<Document>(text).is_ok(), "{text}: {whole:?}");
            for portion in [1, 2, 7].map(|bytes| Portion { bytes, clients: usize::MAX }) {
                let parts = load(text, portion);
                assert_eq!(parts.map(|(len, _)| len), whole.clone().map(|(len, _)| len), "{text}");
            }
        }
    }

    #[test]
    fn does_no_more_at_a_time_than_a_portion() {
        let clients: Vec<String> = (0..10).map(|at| format!(r#"{{"id":"{at}"}}"#)).collect();
        let text = format!(r#"{{"version":1,"clients":[{}]}}"#, clients.join(","));
        assert_eq!(load(&text, Portion { bytes: usize::MAX, clients: 3 }), Ok((10, 4)));
        let spaces = format!("{}{text}", " ".repeat(1000));
        let (_, steps) = load(&spaces, Portion { bytes: 100, clients: usize::MAX }).unwrap();
        assert!(steps > 10, "{steps}");
    }

    #[test]
    fn refuses_a_list_beyond_its_limits() {
        let list = |clients: &[String]| format!(r#"{{"version":1,"clients":[{}]}}"#, clients.join(","));
        let clients: Vec<String> = (0..11).map(|at| format!(r#"{{"id":"{at}"}}"#)).collect();
        let all = Portion { bytes: usize::MAX, clients: usize::MAX };
        assert_eq!(load(&list(&clients[..10]), all), Ok((10, 1)));
        assert_eq!(load(&list(&clients), all).unwrap_err(), "clients: has more than 10 items (max_clients)");
        let long = |length| format!(r#"{{"id":"a","x":"{}"}}"#, "x".repeat(length));
        let error = load(&list(&[long(MAX_ENTRY_BYTES)]), all).unwrap_err();
        assert_eq!(error, "clients[0]: is longer than 65536 bytes");
        let mut small = Loader::new(list(&clients[..10]).into_bytes(), ListLimits { memory: 1000, ..LIMITS });
        let error = small.advance(all).unwrap_err().to_string();
        assert_eq!(error, "clients: takes more than 1000 bytes of memory (max_memory_bytes)");
    }
}
