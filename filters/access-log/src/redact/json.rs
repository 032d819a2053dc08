//! Redaction of JSON texts that may be cut off anywhere.
//!
//! An ordinary parser cannot read half a text. This one reads from the beginning and writes as it goes, so that at every
//! point it knows the path to where it is; what it cannot be sure of it does not write, and with it nothing that follows.

use super::names::{Names, fold};
use super::pointers::{Pointers, States, Step};

/// What stands for the rest of a text.
const CUT: &str = "…";
/// What stands for a value.
const MASK: &[u8] = b"\"[redacted]\"";
/// Deeper than this a text ends.
const MAX_DEPTH: usize = 64;

/// The text with the values at `pointers`, and of members with these `names` at any depth, masked, without insignificant
/// white space. What is not JSON, or nested deeper than 64 levels, or follows the first value, becomes `…` with all that
/// comes after it.
pub fn redact(text: &[u8], pointers: &Pointers, names: &Names) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { text, at: 0, out: Some(Vec::with_capacity(text.len())), pointers, names };
    let end = reader.child(&pointers.start(), MAX_DEPTH, Named::Otherwise);
    reader.skip_space();
    let whole = end.is_ok() && reader.at == text.len();
    let mut out = reader.out.unwrap_or_default();
    if !whole {
        out.extend_from_slice(CUT.as_bytes());
    }
    out
}

/// The text is over, or no longer understood.
struct Stop;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// None while what is read is not shown.
    out: Option<Vec<u8>>,
    pointers: &'a Pointers,
    names: &'a Names,
}

/// What a value's name says of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// It is hidden.
    Hidden,
    /// Nothing, or there is none.
    Otherwise,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn advance(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.advance();
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(out) = &mut self.out {
            out.extend_from_slice(bytes);
        }
    }

    /// Takes this byte.
    fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        self.skip_space();
        if self.peek() != Some(byte) {
            return Err(Stop);
        }
        self.advance();
        self.write(&[byte]);
        Ok(())
    }

    fn value(&mut self, states: &States, depth: usize) -> Result<(), Stop> {
        self.skip_space();
        let depth = depth.checked_sub(1).ok_or(Stop)?;
        match self.peek().ok_or(Stop)? {
            b'{' => self.members(states, depth),
            b'[' => self.elements(states, depth),
            b'"' => self.string().map(drop),
            _ => self.scalar(),
        }
    }

    fn members(&mut self, states: &States, depth: usize) -> Result<(), Stop> {
        self.expect(b'{')?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            return self.expect(b'}');
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(Stop);
            }
            let name = self.string()?;
            self.expect(b':')?;
            // Nothing is looked for below what is not shown.
            if self.out.is_none() {
                self.value(states, depth)?;
            } else {
                let named = match &name {
                    Some(name) if !self.names.hide(name) => Named::Otherwise,
                    // A name that cannot be read may be any.
                    None if self.names.is_empty() => Named::Otherwise,
                    _ => Named::Hidden,
                };
                let folded = name.as_deref().map(fold);
                let step = folded.as_deref().map_or(Step::Unknown, Step::Name);
                self.child(&self.pointers.step(states, step), depth, named)?;
            }
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    fn elements(&mut self, states: &States, depth: usize) -> Result<(), Stop> {
        self.expect(b'[')?;
        self.skip_space();
        if self.peek() == Some(b']') {
            return self.expect(b']');
        }
        let mut index = 0usize;
        loop {
            if self.out.is_none() {
                self.value(states, depth)?;
            } else {
                let name = index.to_string();
                self.child(&self.pointers.step(states, Step::Name(&name)), depth, Named::Otherwise)?;
            }
            if !self.goes_on(b']')? {
                return Ok(());
            }
            index = index.saturating_add(1);
        }
    }

    /// Takes a comma, or the closing bracket.
    fn goes_on(&mut self, closing: u8) -> Result<bool, Stop> {
        self.skip_space();
        if self.peek() == Some(b',') {
            self.expect(b',')?;
            return Ok(true);
        }
        self.expect(closing)?;
        Ok(false)
    }

    /// A value, which may have to be masked.
    fn child(&mut self, states: &States, depth: usize, named: Named) -> Result<(), Stop> {
        if named == Named::Otherwise && !self.pointers.matches(states) {
            return self.value(states, depth);
        }
        self.write(MASK);
        let out = self.out.take();
        let end = self.value(states, depth);
        self.out = out;
        end
    }

    /// Reads a string, and gives it decoded; none if an escape in it is broken.
    fn string(&mut self) -> Result<Option<String>, Stop> {
        let start = self.at;
        self.advance();
        loop {
            match self.peek() {
                // Half a string is shown as far as it goes: its path is known. What follows the cut is not.
                None => {
                    self.write(self.text.get(start..).unwrap_or_default());
                    return Err(Stop);
                }
                Some(b'"') => break,
                Some(b'\\') => {
                    self.advance();
                    self.advance();
                }
                Some(0..0x20) => return Err(Stop),
                Some(_) => self.advance(),
            }
        }
        self.advance();
        let token = self.text.get(start..self.at).unwrap_or_default();
        self.write(token);
        Ok(serde_json::from_slice(token).ok())
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while let Some(b'a'..=b'z' | b'0'..=b'9' | b'+' | b'-' | b'.' | b'E') = self.peek() {
            self.advance();
        }
        let token = self.text.get(start..self.at).unwrap_or_default();
        let is_number = || {
            token.first().is_some_and(|first| first.is_ascii_digit() || *first == b'-')
                && token.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
        };
        if !matches!(token, b"true" | b"false" | b"null") && !is_number() {
            return Err(Stop);
        }
        self.write(token);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, pointers: &[&str]) -> String {
        let mut compiled = Pointers::default();
        for pointer in pointers {
            compiled.add(pointer).unwrap();
        }
        String::from_utf8(redact(text.as_bytes(), &compiled, &Names::default())).unwrap()
    }

    #[test]
    fn masks_what_a_pointer_points_at() {
        for (text, pointers, expected) in [
            (r#"{"a":1,"b":"x"}"#, &["/a"][..], r#"{"a":"[redacted]","b":"x"}"#),
            (r#"{"a":{"b":[1,2]},"c":3}"#, &["/a/b"], r#"{"a":{"b":"[redacted]"},"c":3}"#),
            (r#"{"a":{"b":{"c":[{}]}},"d":4}"#, &["/a"], r#"{"a":"[redacted]","d":4}"#),
            (r#"[{"card":1},{"card":2}]"#, &["/*/card"], r#"[{"card":"[redacted]"},{"card":"[redacted]"}]"#),
            (r#"[1,2,3]"#, &["/1"], r#"[1,"[redacted]",3]"#),
            (r#"{"1":"a"}"#, &["/1"], r#"{"1":"[redacted]"}"#),
            (r#"{"a/b":1,"m~n":2}"#, &["/a~1b", "/m~0n"], r#"{"a/b":"[redacted]","m~n":"[redacted]"}"#),
            (
                r#"{"x":{"y":{"z":1}},"z":2}"#,
                &["/**/z"],
                r#"{"x":{"y":{"z":"[redacted]"}},"z":"[redacted]"}"#,
            ),
            (
                r#"{"x":{"a":{"z":1}},"a":{"q":{"z":2},"z":3}}"#,
                &["/a/**/z"],
                r#"{"x":{"a":{"z":1}},"a":{"q":{"z":"[redacted]"},"z":"[redacted]"}}"#,
            ),
            (r#"{"a":{"b":1}}"#, &["/a/**"], r#"{"a":"[redacted]"}"#),
            (r#"{"a":1,"a":2}"#, &["/a"], r#"{"a":"[redacted]","a":"[redacted]"}"#),
            (r#"{"a":1}"#, &["/b", "/a/b"], r#"{"a":1}"#),
            (r#"{"":1}"#, &["/"], r#"{"":"[redacted]"}"#),
            ("7", &["/a"], "7"),
            ("7", &["/**"], r#""[redacted]""#),
            (r#""hunter2""#, &["/**"], r#""[redacted]""#),
            (r#"{"a":1}"#, &["/**"], r#""[redacted]""#),
            (r#"{"a":1}"#, &["/*"], r#"{"a":"[redacted]"}"#),
        ] {
            assert_eq!(shown(text, pointers), expected, "{text} {pointers:?}");
        }
    }

    #[test]
    fn finds_a_name_however_it_is_spelled() {
        for text in [
            r#"{"password":"hunter2"}"#,
            r#"{"Password":"hunter2"}"#,
            r#"{"pass\u0077ord":"hunter2"}"#,
            r#"{"\u0050ASSWORD":"hunter2"}"#,
            "{\"pa\u{17f}\u{17f}word\":\"hunter2\"}",
            // A name that nobody can read.
            r#"{"\ud800":"hunter2"}"#,
            r#"{"\x70assword":"hunter2"}"#,
        ] {
            let shown = shown(text, &["/password"]);
            assert!(shown.contains("[redacted]") && !shown.contains("hunter2"), "{text}: {shown}");
        }
    }

    #[test]
    fn hides_members_by_name_at_any_depth() {
        let mut names = Names::default();
        names.add("client_secret");
        for (text, expected) in [
            (r#"{"clientSecret":"s","b":1}"#, r#"{"clientSecret":"[redacted]","b":1}"#),
            (r#"[{"x":{"client-secret":{"a":[1]}}},2]"#, r#"[{"x":{"client-secret":"[redacted]"}},2]"#),
            (r#"{"oauth.client.secret":1}"#, r#"{"oauth.client.secret":"[redacted]"}"#),
            (r#"{"\ud800":"s"}"#, r#"{"\ud800":"[redacted]"}"#),
            (r#""client_secret""#, r#""client_secret""#),
        ] {
            let shown = redact(text.as_bytes(), &Pointers::default(), &names);
            assert_eq!(String::from_utf8(shown).unwrap(), expected);
        }
    }

    #[test]
    fn shows_a_text_without_insignificant_white_space() {
        let text =
            "\u{feff}\n{ \"a\" :\t[ 1 , -2.5e+3 , true,false , null ] ,\r\n\"b\" : { } , \"c\" : [ ] }\n";
        assert_eq!(shown(text, &[]), r#"{"a":[1,-2.5e+3,true,false,null],"b":{},"c":[]}"#);
    }

    #[test]
    fn no_cut_and_no_garbage_shows_a_masked_value() {
        let text = r#"{"a":{"password":["hunter2",{"x":"hunter2"}],"n":12},"list":[{"password":"hunter2"}],"z":"end"}"#;
        for end in 0..text.len() {
            for tail in ["", "}", "]", "\"", ",", ":", "'", "\\", "{", "\0", "\u{e9}"] {
                let cut = format!("{}{tail}", text.get(..end).unwrap());
                let shown = shown(&cut, &["/**/password"]);
                assert!(!shown.contains("hunter2"), "{cut}: {shown}");
                let is_json = serde_json::from_str::<serde_json::Value>(&cut).is_ok();
                assert_eq!(shown.ends_with(CUT), !is_json, "{cut}: {shown}");
            }
        }
    }

    #[test]
    fn ends_where_it_no_longer_understands() {
        for (text, expected) in [
            ("", "…"),
            ("{", "{…"),
            (r#"{"a":"unfini"#, r#"{"a":"unfini…"#),
            (r#"{"a":1"#, r#"{"a":1…"#),
            (r#"{'password':'hunter2'}"#, "{…"),
            (r#"{password:"hunter2"}"#, "{…"),
            (r#"{"a":1,/* x */"password":"hunter2"}"#, r#"{"a":1,…"#),
            (r#"{"a":1 "password":"hunter2"}"#, r#"{"a":1…"#),
            (r#"{"a":NaN,"b":1}"#, r#"{"a":…"#),
            ("{\"a\":\"x\ny\"}", r#"{"a":…"#),
            (r#"{"a":1}{"password":"hunter2"}"#, r#"{"a":1}…"#),
            ("<xml/>", "…"),
            (r#"["a"}"#, r#"["a"…"#),
        ] {
            assert_eq!(shown(text, &["/password"]), expected, "{text}");
        }
    }

    #[test]
    fn ends_where_a_text_is_nested_too_deeply() {
        let deep = format!("{}1{}", "[".repeat(63), "]".repeat(63));
        assert_eq!(shown(&deep, &[]), deep);
        let deeper = "[".repeat(100_000);
        assert_eq!(shown(&deeper, &[]), format!("{}…", "[".repeat(64)));
        let hidden = format!(r#"{{"password":{}"#, "[".repeat(100_000));
        assert_eq!(shown(&hidden, &["/password"]), r#"{"password":"[redacted]"…"#);
    }
}
