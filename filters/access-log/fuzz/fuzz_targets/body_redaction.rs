//! No cut of a body and nothing behind the cut shows a secret; a body that is whole is shown with its secrets masked and
//! otherwise as it is.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use portcullis_access_log::fuzzing::{Names, Pointers, Syntax, redact_json, redact_parameters};
use serde_json::{Map, Value};

const SECRET: &str = "hunter2";
const MASK: &str = "[redacted]";

/// A value whose secrets are where pointers find them. The pointers are `/**/password` and `/cards/*`.
#[derive(Debug, Clone, Copy)]
enum Place {
    Anywhere,
    InCards,
    Root,
}

fn value(u: &mut Unstructured<'_>, depth: usize, place: Place) -> arbitrary::Result<Value> {
    if depth == 0 {
        return Ok(Value::from(u8::arbitrary(u)?));
    }
    Ok(match u.int_in_range(0..=6u8)? {
        0 => Value::Null,
        1 => Value::from(i64::arbitrary(u)?),
        2 => Value::from(bool::arbitrary(u)?),
        3 => Value::from(harmless(u)?),
        4 => {
            let elements = u.int_in_range(0..=3usize)?;
            let inside = matches!(place, Place::InCards);
            let elements = (0..elements).map(|_| {
                if inside { secret(u, depth - 1) } else { value(u, depth - 1, Place::Anywhere) }
            });
            Value::Array(elements.collect::<arbitrary::Result<_>>()?)
        }
        _ => {
            let mut members = Map::new();
            for _ in 0..u.int_in_range(0..=3usize)? {
                let (name, member) = match u.int_in_range(0..=4u8)? {
                    0 => (u.choose(&["password", "Password", "PASSWORD"])?.to_string(), secret(u, depth - 1)?),
                    1 if matches!(place, Place::Root) => {
                        ("cards".to_owned(), value(u, depth - 1, Place::InCards)?)
                    }
                    _ if matches!(place, Place::InCards) => (harmless(u)?, secret(u, depth - 1)?),
                    _ => (format!("x{}", harmless(u)?), value(u, depth - 1, Place::Anywhere)?),
                };
                members.insert(name, member);
            }
            Value::Object(members)
        }
    })
}

fn harmless(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    Ok(String::arbitrary(u)?.replace(SECRET, ""))
}

/// A value that is secret, whole.
fn secret(u: &mut Unstructured<'_>, depth: usize) -> arbitrary::Result<Value> {
    Ok(match u.int_in_range(0..=2u8)? {
        1 if depth > 0 => Value::Array(vec![secret(u, depth - 1)?, Value::from(SECRET)]),
        2 if depth > 0 => {
            let mut members = Map::new();
            members.insert(harmless(u)?, secret(u, depth - 1)?);
            Value::Object(members)
        }
        _ => Value::from(format!("{}{SECRET}", harmless(u)?)),
    })
}

/// What a whole body should look like, worked out the plain way.
fn masked(value: &Value, path: &[String], names: &Names) -> Value {
    let is_card = path.len() == 2 && path[0].eq_ignore_ascii_case("cards");
    let is_hidden = |name: &String| name.eq_ignore_ascii_case("password") || names.hide(name);
    if is_card || path.last().is_some_and(is_hidden) {
        return Value::from(MASK);
    }
    let below = |name: String, value: &Value| masked(value, &[path, &[name]].concat(), names);
    match value {
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(at, element)| below(at.to_string(), element)).collect()
        }
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), below(name.clone(), member))).collect()
        }
        other => other.clone(),
    }
}

fn check(data: &[u8]) -> arbitrary::Result<()> {
    let mut u = Unstructured::new(data);
    // Secrets are found by name, by pointer, or by their names' words: one knows of the other nothing.
    let (mut pointers, mut names) = (Pointers::default(), Names::default());
    pointers.add("/cards/*").expect("a pointer");
    match u.int_in_range(0..=2u8)? {
        0 => pointers.add("/**/password").expect("a pointer"),
        1 => names.add("pass_word"),
        _ => names = Names::of_secrets(),
    }

    // Whatever bytes come, it ends, and gives no more than it got but masks.
    let raw: &[u8] = Arbitrary::arbitrary(&mut u)?;
    let shown = redact_json(raw, &pointers, &names);
    assert!(shown.len() <= raw.len() * 13 + 3);
    let mut own = if bool::arbitrary(&mut u)? { Names::of_secrets() } else { Names::default() };
    own.add("password");
    own.add("token");
    for syntax in [Syntax::Query, Syntax::Form] {
        let shown = redact_parameters(raw, &own, syntax);
        for pair in shown.split(|byte| *byte == b'&') {
            let named = [&b"password="[..], b"TOKEN=", b"a[password]=", b"to-ken=", b"x;token="];
            if let Some(value) = named.into_iter().find_map(|name| pair.strip_prefix(name)) {
                assert_eq!(value, MASK.as_bytes());
            }
        }
        // A secret under a name, with whatever around it that does not end its pair.
        let word = |text: String| text.replace(['&', '='], "").replace(SECRET, "");
        let (before, after) = (word(String::arbitrary(&mut u)?), word(String::arbitrary(&mut u)?));
        let text = format!("{before}&x=1;user[Pass%77ord]={before}{SECRET}{after}&y={after}");
        let shown = redact_parameters(text.as_bytes(), &own, syntax);
        assert!(!String::from_utf8_lossy(&shown).contains(SECRET), "{text}");
    }

    let value = value(&mut u, 6, Place::Root)?;
    let text = if bool::arbitrary(&mut u)? { value.to_string() } else { format!("{value:#}") };
    let whole = redact_json(text.as_bytes(), &pointers, &names);
    let parsed: Value = serde_json::from_slice(&whole).expect("JSON");
    assert_eq!(parsed, masked(&value, &[], &names));

    let cut = usize::arbitrary(&mut u)? % (text.len() + 1);
    let tail: &[u8] = Arbitrary::arbitrary(&mut u)?;
    if tail.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
        return Ok(());
    }
    let cut = [&text.as_bytes()[..cut], tail].concat();
    // The tail may complete what the cut began.
    let begun = (1..SECRET.len()).any(|n| tail.starts_with(&SECRET.as_bytes()[n..]));
    let shown = redact_json(&cut, &pointers, &names);
    let shows = shown.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    assert!(begun || !shows, "{}", String::from_utf8_lossy(&cut));
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let _ = check(data);
});
