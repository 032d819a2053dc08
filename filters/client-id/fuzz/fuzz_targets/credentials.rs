//! Query strings, Basic values, percent-encoding and credential headers of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_client_id::config::{Origin, SecretRule};
use portcullis_client_id::credentials::{self, Found, MAX_ID_BYTES, MAX_SECRET_BYTES, query};
use portcullis_policy::{HeaderList, percent};

fn origins() -> Vec<Origin> {
    let [id, secret] = ["client_id", "client_secret"].map(str::to_owned);
    vec![
        Origin::Basic,
        Origin::Headers { id: id.clone(), secret: secret.clone() },
        Origin::Query { id, secret },
    ]
}

/// The input's lines are header values; each is put into all places where credentials can stand.
fn headers(data: &[u8]) -> HeaderList {
    let mut list = HeaderList::new();
    for line in data.split(|byte| *byte == b'\n') {
        let (name, value) = match line.split_first() {
            Some((b'A', rest)) => ("authorization", [b"Basic ", rest].concat()),
            Some((b'a', rest)) => ("authorization", rest.to_vec()),
            Some((b'i', rest)) => ("client_id", rest.to_vec()),
            Some((b'I', rest)) => ("client.id", rest.to_vec()),
            Some((b's', rest)) => ("client_secret", rest.to_vec()),
            _ => (":path", [b"/a?", line].concat()),
        };
        list.add(name, &value);
    }
    list
}

fuzz_target!(|data: &[u8]| {
    let headers = headers(data);
    for rule in [SecretRule::Required, SecretRule::Optional] {
        if let (Found::Credentials(found), _) = credentials::find(&origins(), rule, &headers) {
            assert!(!found.id.is_empty() && found.id.len() <= MAX_ID_BYTES);
            assert!(!found.id.contains(|c: char| c == ':' || c.is_control()));
            match found.secret {
                Some(secret) => {
                    assert!(!secret.is_empty() && secret.len() <= MAX_SECRET_BYTES);
                    assert!(!secret.iter().any(u8::is_ascii_control));
                }
                None => assert_eq!(rule, SecretRule::Optional),
            }
        }
    }

    // What is taken out of a query is gone, and the rest is what it was.
    let names = ["client_id", "client_secret"];
    let parameters = |path: &[u8]| -> Vec<Vec<u8>> {
        let query = query::of_path(path).map(|range| path[range].to_vec()).unwrap_or_default();
        query.split(|byte| *byte == b'&').map(<[u8]>::to_vec).collect()
    };
    if let Some(kept) = query::without(data, names.iter()) {
        let left = query::of_path(&kept).map(|range| kept[range].to_vec()).unwrap_or_default();
        assert!(names.iter().all(|name| query::values(&left, name).next().is_none()));
        let before = parameters(data);
        let mut rest = before.iter();
        for parameter in parameters(&kept).iter().filter(|parameter| !parameter.is_empty()) {
            assert!(rest.any(|earlier| earlier == parameter), "a parameter appeared or moved");
        }
        assert_eq!(query::without(&kept, names.iter()), None);
    }

    if let Some(decoded) = percent::decode_form(data) {
        assert!(decoded.len() <= data.len());
    }
});
