//! Identity headers that clients make up, in trailers: some servers merge those into headers (RFC 9110, section 6.5.1).

use super::FORGED;
use super::spellings;
use crate::gateway::Gateway;
use crate::reader::Reader;
use crate::rule::{self, IDENTITY, Mode};
use crate::tally::Tally;

pub(crate) fn run(reader: &Reader, gateway: &Gateway, tally: &mut Tally) {
    for mode in Mode::ALL {
        // Servers may ignore trailers that have not been announced.
        for spelling in spellings::all() {
            let names = IDENTITY.map(|name| spelling.of(name));
            let announced = names.join(", ");
            let fields = [mode.credentials(), &[("trailer", announced.as_bytes())]].concat();
            let trailers = names.each_ref().map(|name| (name.as_str(), FORGED.as_bytes()));
            let fate = gateway.with_trailers(reader, mode.path(), &fields, &trailers);
            rule::identity(tally, fate.seen.as_ref(), mode, &format!("trailers spelled {}", spelling.name));
        }
    }
}
