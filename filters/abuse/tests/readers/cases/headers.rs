//! Identity headers that clients make up.

use super::FORGED;
use super::spellings;
use crate::gateway::Gateway;
use crate::reader::Reader;
use crate::rule::{self, IDENTITY, Mode};
use crate::tally::Tally;

pub(crate) fn run(reader: &Reader, gateway: &Gateway, tally: &mut Tally) {
    let spellings = spellings::all();
    for mode in Mode::ALL {
        let mut send = |names: Vec<String>, case: &str| {
            let forged = names.iter().map(|name| (name.as_str(), FORGED.as_bytes()));
            let fields: Vec<_> = forged.chain(mode.credentials().iter().copied()).collect();
            let fate = gateway.get(reader, mode.path(), &fields);
            rule::identity(tally, fate.seen.as_ref(), mode, case);
        };
        for spelling in &spellings {
            send(IDENTITY.map(|name| spelling.of(name)).to_vec(), &format!("spelled {}", spelling.name));
        }
        for name in IDENTITY {
            send(vec![name.to_owned(), name.to_owned()], &format!("{name} twice"));
            let all = spellings.iter().map(|spelling| spelling.of(name)).collect();
            send(all, &format!("{name} in all spellings"));
        }
    }
}
