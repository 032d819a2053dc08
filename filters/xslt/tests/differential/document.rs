//! Documents to transform.

use crate::random::Random;

const ELEMENTS: &[&str] = &["a", "b", "c", "d", "p:a", "p:b"];
/// No two have the same local name: libxslt takes `p:x` for `@x` in patterns.
const ATTRIBUTES: &[&str] = &["x", "y", "p:w"];
const TEXTS: &[&str] = &[
    "1",
    "2",
    "3",
    "10",
    "-4",
    "2.5",
    "007",
    "red",
    "green",
    "blue",
    " ",
    "\n  ",
    " two words ",
    "x &lt; y",
    "&amp;",
    "\u{e9}\u{4e16}",
    "<![CDATA[<x>]]>",
    "",
    "NaN",
];
const VALUES: &[&str] = &["1", "2", "3", "12", "", "red", "green", " x  y ", "&quot;&lt;", "\u{fc}"];

/// A document of up to five levels. It has no `xml:space`, which libxslt does not look at when it strips white space.
pub(crate) fn generate(random: &mut Random) -> String {
    let mut out = String::new();
    if random.one_in(5) {
        out.push_str("<!--before--><?before it?>");
    }
    element(random, "doc", 0, &mut out);
    if random.one_in(8) {
        out.push_str("\n<!--after-->");
    }
    out
}

/// A document of so many bytes, which are at least 100: a list of records like those of the others.
pub(crate) fn of_size(random: &mut Random, bytes: usize) -> String {
    const END: &str = "<!----></doc>";
    let mut out = "<doc xmlns:p=\"urn:p\">".to_owned();
    let mut record = String::new();
    loop {
        record.clear();
        element(random, "a", 2, &mut record);
        if out.len() + record.len() + END.len() > bytes {
            break;
        }
        out.push_str(&record);
    }
    let padding = bytes.saturating_sub(out.len() + END.len());
    out + "<!--" + &"x".repeat(padding) + "--></doc>"
}

fn element(random: &mut Random, name: &str, depth: usize, out: &mut String) {
    out.push('<');
    out.push_str(name);
    if depth == 0 {
        out.push_str(" xmlns:p=\"urn:p\"");
        if random.one_in(4) {
            out.push_str(" xmlns:q=\"urn:q\"");
        }
    } else if random.one_in(25) {
        // A prefix that no name has: libxslt confuses elements that take attributes from where it means something else.
        out.push_str(" xmlns:q=\"urn:other\"");
    }
    for attribute in ATTRIBUTES {
        if random.one_in(4) {
            out.push_str(&format!(" {attribute}=\"{}\"", random.of(VALUES)));
        }
    }
    if random.one_in(30) {
        out.push_str(" xml:lang=\"en\"");
    }
    out.push('>');
    let children = if depth < 4 { random.below(5 + usize::from(depth < 2) * 3) } else { random.below(2) };
    for _ in 0..children {
        match random.below(12) {
            0..=5 if depth < 4 => {
                let name = random.of(ELEMENTS);
                element(random, name, depth + 1, out);
            }
            10 => out.push_str("<!--note-->"),
            11 => out.push_str("<?go there?>"),
            _ => out.push_str(random.of(TEXTS)),
        }
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}
