//! Headers, addresses and queries of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_policy::HeaderList;
use portcullis_rate_limit::config::KeyPart;
use portcullis_rate_limit::key::address::SourceAddress;
use portcullis_rate_limit::key::{Completeness, KeyReader, Request};

/// A request as the input's lines make it: the first byte of each says what it is.
#[derive(Default)]
struct Lines {
    headers: HeaderList,
    client_id: Option<Vec<u8>>,
    source_address: Option<Vec<u8>>,
}

impl Lines {
    fn of(data: &[u8]) -> Self {
        let mut lines = Self::default();
        for line in data.split(|byte| *byte == b'\n') {
            let Some((kind, rest)) = line.split_first() else { continue };
            match kind {
                b'p' => lines.headers.add(":path", rest),
                b'm' => lines.headers.add(":method", rest),
                b'a' => lines.headers.add(":authority", rest),
                b'x' => lines.headers.add("x-forwarded-for", rest),
                b'h' => lines.headers.add("h", rest),
                b'c' => lines.client_id = Some(rest.to_vec()),
                b's' => lines.source_address = Some(rest.to_vec()),
                _ => lines.headers.add("i", line),
            }
        }
        lines
    }

    fn request(&self) -> Request<'_> {
        Request {
            headers: &self.headers,
            client_id: self.client_id.as_deref(),
            source_address: self.source_address.as_deref(),
        }
    }
}

fn parts() -> Vec<KeyPart> {
    let name = |name: &str| name.to_owned();
    let address = |trusted_hops| KeyPart::SourceAddress { trusted_hops, prefix_v4: 20, prefix_v6: 61 };
    vec![
        KeyPart::ClientId,
        KeyPart::Header { name: name("H") },
        KeyPart::Header { name: name("i") },
        KeyPart::Query { name: name("q") },
        KeyPart::Query { name: name("") },
        address(0),
        address(1),
        address(32),
        KeyPart::Path,
        KeyPart::Method,
        KeyPart::Host,
    ]
}

/// Reads a key back into its parts' values: what can be read back in one way only was written in one way only.
fn values(mut key: &[u8], parts: usize) -> Vec<Option<Vec<u8>>> {
    fn take<'a>(key: &mut &'a [u8], n: usize) -> &'a [u8] {
        let (head, tail) = key.split_at(n);
        *key = tail;
        head
    }
    fn text<'a>(key: &mut &'a [u8]) -> &'a [u8] {
        let length = u64::from_le_bytes(take(key, 8).try_into().unwrap());
        take(key, usize::try_from(length).unwrap())
    }
    let values = (0..parts)
        .map(|_| {
            take(&mut key, 1);
            text(&mut key);
            match take(&mut key, 1) {
                [1] => Some(text(&mut key).to_vec()),
                [0 | 2] => None,
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert!(key.is_empty(), "something is left over");
    values
}

fuzz_target!(|data: &[u8]| {
    let lines = Lines::of(data);
    let parts = parts();
    let reader = KeyReader::compile(&parts);
    let mut key = Vec::new();
    let completeness = reader.read(&lines.request(), &mut key);
    let mut again = Vec::new();
    assert_eq!(reader.read(&lines.request(), &mut again), completeness);
    assert_eq!(key, again);

    let values = values(&key, parts.len());
    assert_eq!(values.iter().all(Option::is_some), completeness == Completeness::Whole);
    for (part, value) in parts.iter().zip(&values) {
        let Some(value) = value else { continue };
        match part {
            KeyPart::SourceAddress { .. } => assert!([5, 17].contains(&value.len())),
            KeyPart::Path => assert!(!value.iter().any(|byte| b"?#".contains(byte))),
            KeyPart::Host => assert!(!value.iter().any(u8::is_ascii_uppercase)),
            _ => assert!(value.len() <= data.len()),
        }
    }

    // Repeating a parameter with another value never gives one more key than the one for all such requests.
    let mut twice = lines.headers.clone();
    for (name, value) in lines.headers.iter().filter(|(name, _)| *name == b"h") {
        twice.add(core::str::from_utf8(name).unwrap(), &[value, b"+"].concat());
    }
    let ambiguous = |headers: &HeaderList| {
        let mut out = Vec::new();
        let request = Request { headers, client_id: None, source_address: None };
        let header = [KeyPart::Header { name: "h".to_owned() }];
        (KeyReader::compile(&header).read(&request, &mut out), out)
    };
    let two = [("h", "1"), ("h", "2")].into_iter().collect();
    if lines.headers.contains("h") {
        assert_eq!(ambiguous(&twice), ambiguous(&two));
    }

    // An address is the same with and without a port, and its network is an address of it.
    let address = SourceAddress::new(0, 24, 64);
    let headers = HeaderList::new();
    if let Some(network) = address.read(&headers, Some(data)) {
        let text = network.address.to_string();
        assert_eq!(address.read(&headers, Some(text.as_bytes())), Some(network));
        let with_port = if network.address.is_ipv4() { format!("{text}:80") } else { format!("[{text}]:80") };
        assert_eq!(address.read(&headers, Some(with_port.as_bytes())), Some(network));
    }
});
