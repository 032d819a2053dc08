//! The page that shows results to people.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::axes::{Dependency, Failure, Fault, Framing, Mode, Pace, Protocol, Subject};
use crate::cells::{self, RULES};
use crate::outcome::{Answer, status};
use crate::results::{LongRun, Results, Row};

const INTRODUCTION: &str = "\
What becomes of requests when things go wrong, in a real Envoy: every policy, and all of them as one chain, with requests
of every kind and pace, while whatever the gateway depends on fails in every way. `make matrix` runs it all and writes this
page anew; [reliability.json](reliability.json) has the same for programs.

What must become of a request is not recorded but derived: a small model of each policy
([filters/reliability/src/model](../filters/reliability/src/model)) says what its page promises, and a cell fails if
anything else is seen. All of this is held against it:

- the status that the client gets, and whose body: the upstream's byte for byte, the upstream's as transformed, or the
  gateway's own;
- what the upstream has got: nothing, not even a connection; the beginning of the request; or the whole request with
  its trailers, with the identity, the marks and the route that it must have, without credentials, and once;
- status and details in the log, what policies have decided, and that access-log has written one line;
- how much each counter of the suite has grown, and that no other has; and when all cells of an Envoy have been run, that
  nothing more was counted.
";

const REDUCTION: &str = "\
All combinations would be too many. So a part of them is chosen (`filters/reliability/src/covering.rs`), for each subject
such that **every pair of values that can occur together does so in some cell**: HTTP version, kind of request, pace, what
fails and how, number of workers, what is configured for outages. Each failure is run under each configuration, too, with
a request whose client waits for the answer. The choice is greedy and the same on each run; a test
compares its pairs with those of all combinations. One dependency fails at a time; the others are up.
";

const VM_LIFE: &str = "\
## The life of the VM

What `make test` shows, too, in real Envoys and under load (`filters/reliability/tests/vm_life`):

| what happens | what becomes of requests |
|---|---|
| a VM traps, with `FAIL_RELOAD` | Those of other workers go on. Those of its own worker get 503 with what comes of them next. One that waits for a call-out's answer is ended by Envoy's `stream_idle_timeout`, for the VM that would take the answer is no more. The next request starts the VM anew; nothing passes unchecked meanwhile, connections stay open, and counts in shared data go on. |
| a configuration is pushed, several times | None is lost, nor the line of any; one that began before the first push ends after the last. Limits go on counting when other policies change, and begin anew when a period does. Old plugins and VMs are gone when their listener has drained. |
| the filter alone is pushed, by ECDS | None is lost, nor the line of any, and connections stay open. |
| a bad one is pushed: a mistake, an unknown policy, no module, a file that is none, a trap at the start | It is refused, and the one before serves on. |
| hot restart (`--restart-epoch`) | None is lost, nor the line of any; one that is under way ends in the old process, which ends by itself. |
";

/// The page.
pub fn page(results: &Results) -> String {
    let mut page = String::new();
    // Writing to a text cannot fail.
    let _ = write(&mut page, results);
    page
}

fn write(page: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(page, "# Reliability\n\n<!-- Written by `make matrix`. -->\n\n{INTRODUCTION}")?;
    writeln!(page, "- [In short](#in-short)\n- [When something fails](#when-something-fails)")?;
    writeln!(
        page,
        "- [The life of the VM](#the-life-of-the-vm), and [long runs](#long-runs)\n\
         - [The situations](#the-situations), and which of them are run\n- [All cells](#all-cells)\n"
    )?;
    in_short(page, results)?;
    when_something_fails(page, results)?;
    writeln!(page, "{VM_LIFE}")?;
    long_runs(page, results)?;
    situations(page)?;
    writeln!(page, "## All cells\n")?;
    writeln!(page, "{}\n", legend())?;
    Subject::ALL.iter().try_for_each(|subject| all_cells(page, *subject, results))
}

fn of(results: &Results, subject: Subject) -> impl Iterator<Item = &Row> {
    results.cells.iter().filter(move |row| row.cell.subject == subject)
}

fn in_short(page: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(page, "## In short\n\nEnvoy {}.\n", results.envoy)?;
    writeln!(page, "| | combinations that exist | cells run | as they must be |\n|---|---|---|---|")?;
    for subject in Subject::ALL {
        let run = of(results, *subject).count();
        let good = of(results, *subject).filter(|row| row.differences().is_empty()).count();
        writeln!(page, "| {} | {} | {run} | {good} |", subject.name(), cells::possible(*subject).len())?;
    }
    writeln!(page)
}

/// The requests that their clients wait for, by what fails.
fn when_something_fails(page: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(page, "## When something fails\n")?;
    writeln!(
        page,
        "Requests with a body whose clients wait for the answer, whatever their kind and pace.\n"
    )?;
    for subject in Subject::ALL {
        writeln!(page, "**{}**\n", subject.name())?;
        writeln!(
            page,
            "| fails | configured | status | upstream reached | decided |\n|---|---|---|---|---|"
        )?;
        for fault in subject.faults() {
            for mode in subject.modes() {
                let rows: Vec<_> = of(results, *subject)
                    .filter(|row| row.cell.fault == fault && row.cell.mode == *mode)
                    .filter(|row| row.cell.framing.has_body() && !row.cell.pace.is_aborted())
                    .collect();
                let all = |each: fn(&Row) -> String| {
                    let values: BTreeSet<_> = rows.iter().map(|row| each(row)).collect();
                    values.into_iter().collect::<Vec<_>>().join("; ")
                };
                writeln!(
                    page,
                    "| {} | {} | {} | {} | {} |",
                    fails(fault),
                    mode.name(),
                    all(|row| status(row.observed.status)),
                    all(|row| row.observed.upstream.words()),
                    all(decided),
                )?;
            }
        }
        writeln!(page)?;
    }
    Ok(())
}

fn long_runs(page: &mut String, results: &Results) -> std::fmt::Result {
    writeln!(page, "## Long runs\n")?;
    writeln!(
        page,
        "`make soak`: eight clients send as fast as they can, each request with credentials, a key and a path of its own, \
         to the gateway with all policies and two workers (`soak`); and the same while 24 configurations a minute are \
         pushed (`pushes`). Tables and caches are full within the first third, which does not count. Growth is the median \
         of the last fifth of the samples less that of the first; noise is the interquartile range around the trend. A run \
         fails if memory grows beyond that, and by more than a hundredth, all the time; a step is the most that was needed \
         at a time.\n"
    )?;
    writeln!(
        page,
        "| run | minutes | pushes | requests | per second | memory | growth | slope | noise | descriptors |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|---|---|")?;
    for (name, run) in &results.long_runs {
        let LongRun { minutes, pushes, requests, requests_per_second, memory_mib, .. } = run;
        let LongRun { growth_mib, slope_mib_per_hour, noise_mib, descriptors_growth, .. } = run;
        writeln!(
            page,
            "| {name} | {minutes:.0} | {pushes} | {requests} | {requests_per_second:.0} | {memory_mib:.1} MiB | \
             {growth_mib:+.2} MiB | {slope_mib_per_hour:+.2} MiB/h | {noise_mib:.2} MiB | {descriptors_growth:+.0} |"
        )?;
    }
    for (name, run) in results.long_runs.iter().filter(|(_, run)| !run.faults.is_empty()) {
        writeln!(page, "\n**✗ {name}: {}**", run.faults.join("; "))?;
    }
    writeln!(page)
}

fn situations(page: &mut String) -> std::fmt::Result {
    writeln!(page, "## The situations\n\n{REDUCTION}")?;
    let mut table = |title: &str, rows: Vec<(&str, &str)>| {
        writeln!(page, "| {title} | |\n|---|---|")?;
        rows.iter().try_for_each(|(name, meaning)| writeln!(page, "| {name} | {meaning} |"))?;
        writeln!(page)
    };
    table("subject", Subject::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("HTTP", Protocol::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("request", Framing::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("pace", Pace::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("dependency", Dependency::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("failure", Failure::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    table("configured for outages", Mode::ALL.iter().map(|value| (value.name(), value.meaning())).collect())?;
    writeln!(page, "Envoy has one worker thread or two.\n\nThese combinations do not exist:\n")?;
    writeln!(page, "| combination | why |\n|---|---|")?;
    RULES.iter().try_for_each(|rule| writeln!(page, "| {} | {} |", rule.what, rule.why))?;
    writeln!(page)
}

fn legend() -> &'static str {
    "*Client*: the status, and whose body. *Log*: the status in it, and what policies have decided. *Counted*: by how much \
     counters grew, if not by one. The status in \
     the log is 100 where the client was told to go on and left: to Envoy that is the response then."
}

fn all_cells(page: &mut String, subject: Subject, results: &Results) -> std::fmt::Result {
    writeln!(page, "### {}\n", subject.name())?;
    writeln!(
        page,
        "| HTTP | request | pace | fails | configured | workers | client | upstream | log | counted |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|---|---|")?;
    of(results, subject).try_for_each(|row| {
        let cell = &row.cell;
        let client = match row.observed.answer {
            Answer::Nothing => "left".to_owned(),
            answer => format!("{}, {}", status(row.observed.status), answer.words()),
        };
        let differences = row.differences();
        let verdict = if differences.is_empty() {
            String::new()
        } else {
            format!(" **✗ {}**", differences.join("; "))
        };
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {client} | {} | {} | {}{verdict} |",
            cell.protocol.name(),
            cell.framing.name(),
            cell.pace.name(),
            fails(cell.fault),
            cell.mode.name(),
            cell.workers,
            row.observed.upstream.words(),
            logged(row),
            counted(row),
        )
    })?;
    writeln!(page)
}

fn fails(fault: Option<Fault>) -> String {
    fault.map_or_else(
        || "nothing".to_owned(),
        |fault| format!("{}: {}", fault.dependency.name(), fault.failure.name()),
    )
}

fn decided(row: &Row) -> String {
    let outcomes: Vec<_> = row.observed.outcomes.iter().map(|outcome| format!("`{outcome}`")).collect();
    if outcomes.is_empty() { "-".to_owned() } else { outcomes.join(" ") }
}

fn logged(row: &Row) -> String {
    format!("{} {}", status(row.observed.logged_status), decided(row))
}

fn counted(row: &Row) -> String {
    let counter = |(name, growth): (&String, &u64)| match growth {
        1 => format!("`{name}`"),
        // How often something was tried again is a matter of time.
        _ if name.contains("otlp_") => format!("`{name}` more than once"),
        growth => format!("`{name}` {growth}"),
    };
    let counters: Vec<_> = row.observed.counters.iter().map(counter).collect();
    if counters.is_empty() { "nothing".to_owned() } else { counters.join(" ") }
}
