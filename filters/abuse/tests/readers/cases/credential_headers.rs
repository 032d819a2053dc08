//! Credentials in headers under other spellings of their names.

use super::FORGED;
use super::spellings;
use crate::gateway::{Fate, Gateway};
use crate::reader::Reader;
use crate::rule::{CREDENTIALS, Mode};
use crate::tally::Tally;

/// What has been verified where the credentials stand in headers, in the order of [`CREDENTIALS`].
const VERIFIED: [&str; 2] = ["acme", "s3cret"];

pub(crate) fn run(reader: &Reader, removing: &Gateway, keeping: &Gateway, tally: &mut Tally) {
    let path = Mode::Enforced.path();
    let good = [("client_id", &b"acme"[..]), ("client_secret", b"s3cret")];
    for spelling in spellings::all() {
        let names = CREDENTIALS.map(|name| spelling.of(name));
        let forged = names.each_ref().map(|name| (name.as_str(), FORGED.as_bytes()));
        let mut check = |fate: Fate, said: [Option<&str>; 2], case: &str| {
            for (name, said) in CREDENTIALS.into_iter().zip(said) {
                let found = fate.seen.as_ref().map(|seen| seen.header(name));
                tally.cell(found.as_deref(), said, || format!("{case}, spelled {}: {name}", spelling.name));
            }
        };
        let beside_basic = [Mode::Enforced.credentials(), &forged].concat();
        check(removing.get(reader, path, &beside_basic), [None; 2], "headers beside Basic");
        check(
            removing.get(reader, path, &[&good[..], &forged].concat()),
            [None; 2],
            "headers after good ones",
        );
        check(
            removing.get(reader, path, &[&forged[..], &good].concat()),
            [None; 2],
            "headers before good ones",
        );
        let kept = VERIFIED.map(Some);
        check(
            keeping.get(reader, path, &[&good[..], &forged].concat()),
            kept,
            "kept headers after good ones",
        );
        check(
            keeping.get(reader, path, &[&forged[..], &good].concat()),
            kept,
            "kept headers before good ones",
        );
        // Good ones in this spelling alone: whether they are taken or not, none are left.
        let spelled = [(names[0].as_str(), &b"acme"[..]), (names[1].as_str(), b"s3cret")];
        check(removing.get(reader, path, &spelled), [None; 2], "headers alone");
    }
}
