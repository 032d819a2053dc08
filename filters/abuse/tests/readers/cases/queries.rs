//! Credentials in the query under other spellings of their names.
//!
//! PHP makes a variable's name of a parameter's: it skips spaces before it, ends it at a NUL and at `[`, which begins an
//! array, and turns spaces, dots and a `[` that nothing closes into underscores (php-src, `main/php_variables.c`,
//! `php_register_variable_ex`). Some readers separate parameters by `;` too, as HTML 4 recommended (appendix B.2.2), or
//! do not tell upper from lower case.

use super::FORGED;
use crate::gateway::{Fate, Gateway};
use crate::reader::Reader;
use crate::rule::{CREDENTIALS, Mode};
use crate::tally::Tally;

/// How the two parts of a name can be put together: what stands for `client_` and what follows the rest of the name.
const SPELLINGS: &[(&str, &str)] = &[
    ("client_", ""),
    ("client.", ""),
    ("client%2e", ""),
    ("client%20", ""),
    ("client+", ""),
    ("client%5F", ""),
    ("client%5f", ""),
    ("client[", ""),
    ("client%5B", ""),
    ("client-", ""),
    ("%63lient_", ""),
    ("CLIENT_", ""),
    ("client_", "[]"),
    ("client_", "[x]"),
    ("client_", "[x][y]"),
    ("client_", "[]x"),
    ("client_", "%5B%5D"),
    ("client_", "["),
    ("client_", "[x"),
    ("client.", "[]"),
    ("+client_", ""),
    ("%20client_", ""),
    ("+%20+client.", ""),
    (" client_", ""),
    ("client_", "%00"),
    ("client_", "%00x"),
    ("client.", "%00[]"),
    ("+client.", "%00"),
    ("client_", "+"),
    ("client_", "."),
    ("%00client_", ""),
    ("%09client_", ""),
    ("%0aclient_", ""),
    ("client%00_", ""),
    ("client_", "%"),
    ("client_", "%zz"),
    ("client_", "%00%"),
    ("client_", "[%"),
    ("client_", "[%zz]"),
    ("%zzclient_", ""),
    ("%", ";client_id"),
    ("x;client_", ""),
    ("x=1;client_", ""),
    ("x=1;+client.", ""),
    ("x=1;client_", "[]"),
    ("x=1%3Bclient_", ""),
    ("x=1%26client_", ""),
    (";client_", ""),
    ("?client_", ""),
    ("x=1?client_", ""),
    ("[client_", ""),
    ("[client_", "]"),
    ("_client_", ""),
    ("client%u005f", ""),
];

pub(crate) fn run(reader: &Reader, removing: &Gateway, keeping: &Gateway, tally: &mut Tally) {
    let path = Mode::Enforced.path();
    let good = "client_id=acme&client_secret=s3cret";
    let headers = Mode::Enforced.credentials();
    for (before, after) in SPELLINGS {
        let [id, secret] = ["id", "secret"].map(|part| format!("{before}{part}{after}"));
        let mut check = |fate: Fate, said: [Option<&str>; 2], query: &str, case: &str| {
            for (name, said) in CREDENTIALS.into_iter().zip(said) {
                let found = fate.seen.as_ref().map(|seen| seen.parameter(name));
                tally.cell(found.as_deref(), said, || format!("{case} ?{query}: {name}"));
            }
        };
        let forged = format!("{id}={FORGED}&{secret}={FORGED}");
        for (query, fields, case) in [
            (forged.clone(), headers, "query beside Basic"),
            (format!("{good}&{forged}"), &[][..], "query after good ones"),
            (format!("{forged}&{good}"), &[], "query before good ones"),
            (format!("{id}=acme&{secret}=s3cret"), &[], "query alone"),
        ] {
            // Envoy takes no spaces in a request target: then there is nothing to see.
            let fate = removing.get(reader, &format!("{path}?{query}"), fields);
            check(fate, [None; 2], &query, case);
        }
        let kept = [Some("acme"), Some("s3cret")];
        for (query, case) in [
            (format!("{good}&{forged}"), "kept query after good ones"),
            (format!("{forged}&{good}"), "kept query before good ones"),
        ] {
            check(keeping.get(reader, &format!("{path}?{query}"), &[]), kept, &query, case);
        }
    }
}
