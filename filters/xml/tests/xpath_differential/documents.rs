//! Documents with a bit of everything.

use crate::random::Random;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "p:a", "q:b", "p:c"];
const ATTRIBUTES: [&str; 6] = ["k", "l", "m", "p:k", "q:l", "xml:lang"];
/// Numbers that any way of reading digits makes the same of, what is no number, and values that come often.
const TEXTS: [&str; 16] =
    ["1", "2", "3", "-1", "0", "2.5", " 3 ", "-.25", "1.", "+1", "x", "y", "xy", "a b", "  a\n\tb ", "äß𝄞"];
const LANGUAGES: [&str; 5] = ["en", "en-GB", "de", "DE-at", ""];

pub(crate) fn document(random: &mut Random) -> String {
    let mut text = String::new();
    let has_asides = random.one_in(2);
    if has_asides {
        text.push_str("<!--x-->");
        aside(random, &mut text);
    }
    text.push_str("<r xmlns:p='urn:p' xmlns:q='urn:q'");
    attributes(random, &mut text);
    text.push('>');
    for _ in 0..1 + random.below(4) {
        element(random, 1, &mut text);
    }
    text.push_str("</r>");
    // Only if there is something before it too: see `deviations.rs`.
    if has_asides {
        aside(random, &mut text);
    }
    text
}

fn element(random: &mut Random, depth: usize, text: &mut String) {
    let name = random.choose(&NAMES);
    text.push('<');
    text.push_str(name);
    if random.one_in(6) {
        text.push_str(random.choose(&[
            " xmlns='urn:p'",
            " xmlns=''",
            " xmlns:p='urn:q'",
            " xmlns:z='urn:z'",
        ]));
    }
    attributes(random, text);
    text.push('>');
    for _ in 0..random.below(5) {
        match random.below(4) {
            0 | 1 if depth < 5 => element(random, depth + 1, text),
            2 => aside(random, text),
            _ => text.push_str(random.choose(&TEXTS)),
        }
    }
    text.push_str("</");
    text.push_str(name);
    text.push('>');
}

fn attributes(random: &mut Random, text: &mut String) {
    // Each at most once, and not two of the same namespace when 'p' stands for that of 'q'.
    for name in ATTRIBUTES {
        if random.one_in(6) {
            let value = if name == "xml:lang" { random.choose(&LANGUAGES) } else { random.choose(&TEXTS) };
            text.push_str(&format!(" {name}='{}'", value.replace(['\n', '\t'], " ")));
        }
    }
}

fn aside(random: &mut Random, text: &mut String) {
    match random.below(4) {
        0 => text.push_str("<!--1-->"),
        1 => text.push_str("<?x 2?>"),
        2 => text.push_str("<?y?>"),
        _ => {}
    }
}
