//! What real servers and languages see of a request behind the gateway: see the rules in `rule.rs`.
#![cfg(test)]

mod cases;
mod gateway;
mod reader;
mod rule;
mod servers;
mod tally;

use std::io::Write as _;
use std::time::Instant;

use gateway::Gateway;
use reader::Reader;
use tally::Tally;

/// One test, so that each reader is started once and ended at the end.
#[test]
fn readers_see_what_the_gateway_says_and_nothing_that_clients_make_up() {
    let began = Instant::now();
    let readers = servers::start();
    let (removing, keeping) = (Gateway::start(&readers, "remove"), Gateway::start(&readers, "keep"));
    // Each reader has its cases one after the other; the readers take them at the same time.
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let run = |reader| {
            let (removing, keeping) = (&removing, &keeping);
            scope.spawn(move || check(reader, removing, keeping))
        };
        let threads: Vec<_> = readers.iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("the cases of a reader")).collect()
    });
    tell(&tallies, began);

    let silent: Vec<_> =
        tallies.iter().filter(|tally| tally.checked() == 0).map(|tally| tally.reader).collect();
    assert_eq!(silent, Vec::<&str>::new(), "these are installed, and answered nothing");
    let broken: Vec<_> = tallies.iter().flat_map(|tally| &tally.broken).collect();
    assert!(broken.is_empty(), "the rule is broken in {} cells:\n{}", broken.len(), joined(&broken));
    removing.assert_sound();
    keeping.assert_sound();
}

fn check(reader: &Reader, removing: &Gateway, keeping: &Gateway) -> Tally {
    let mut tally = Tally::of(reader);
    cases::controls::run(reader, removing, &mut tally);
    cases::headers::run(reader, removing, &mut tally);
    cases::trailers::run(reader, removing, &mut tally);
    cases::credential_headers::run(reader, removing, keeping, &mut tally);
    if reader.reads_queries {
        cases::queries::run(reader, removing, keeping, &mut tally);
    }
    if reader.reads_json {
        cases::json::run(reader, removing, &mut tally);
    }
    tally
}

/// Says what has been checked, past the test harness, which hides what passing tests print.
fn tell(tallies: &[Tally], began: Instant) {
    let lines: Vec<_> = tallies.iter().map(ToString::to_string).collect();
    let (cells, refused): (usize, usize) =
        (tallies.iter().map(Tally::checked).sum(), tallies.iter().map(|tally| tally.refused).sum());
    let text = format!(
        "{}\nreaders: {} × up to {} cells, {cells} checked, {refused} refused, in {:.0} s\n",
        lines.join("\n"),
        tallies.len(),
        tallies.iter().map(|tally| tally.checked() + tally.refused).max().unwrap_or_default(),
        began.elapsed().as_secs_f64(),
    );
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn joined(lines: &[&String]) -> String {
    lines.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n")
}
