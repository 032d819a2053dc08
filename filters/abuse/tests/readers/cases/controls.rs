//! Requests of honest clients: they show that the reader sees what the gateway says, so that silence elsewhere means
//! something.

use crate::gateway::Gateway;
use crate::reader::Reader;
use crate::rule::{self, IDENTITY, Mode};
use crate::tally::Tally;

#[track_caller]
pub(crate) fn run(reader: &Reader, gateway: &Gateway, tally: &mut Tally) {
    for mode in Mode::ALL {
        let fate = gateway.get(reader, mode.path(), mode.credentials());
        let seen = fate.seen.unwrap_or_else(|| panic!("{} does not answer: {}", reader.name, fate.status));
        for (name, said) in IDENTITY.into_iter().zip(mode.says()) {
            let found = seen.header(name);
            assert_eq!(found.first().copied(), said, "{} {mode:?} {name} {seen:?}", reader.name);
        }
        rule::identity(tally, Some(&seen), mode, "nothing forged");
    }
    if reader.reads_queries {
        let seen = gateway.get(reader, "/public?a=1&b=2", &[]).seen.expect("an answer");
        assert!(seen.parameter("a").contains(&"1") && seen.parameter("b").contains(&"2"), "{seen:?}");
    }
}
