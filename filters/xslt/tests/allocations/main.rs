//! How much memory a transformation takes, by the allocator's count, wherever it makes something grow: each place has a
//! stylesheet and a message that make as much there as they can.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

mod sites;

use peak_alloc::PeakAlloc;
use portcullis_xml::Limits;
use portcullis_xslt::{
    Bound, CompileOptions, NoMessages, Parameters, Stylesheet, TransformErrorKind, TransformLimits,
};

use sites::{SITES, Site};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

// docs/xslt-transform.md says how much memory the limits stand for.

/// For each byte of values. What grows has room for twice as much, and is there twice while it is moved to where there is
/// more room.
const FOR_EACH_TEMPORARY_BYTE: usize = 3;
/// For each node: in the tree and where it is noted down before, with room to grow, and while it is moved.
const FOR_EACH_NODE: usize = 100;
/// For each byte of output: room to grow, while it is moved, and where it is indented.
const FOR_EACH_OUTPUT_BYTE: usize = 8;
/// What any transformation may take.
const FOR_ALL: usize = 1 << 20;

/// The limits of xslt-transform, if nothing is configured.
fn defaults() -> TransformLimits {
    TransformLimits {
        steps: 20_000_000,
        template_depth: 10_000,
        output_bytes: 1 << 20,
        nodes: 1 << 18,
        temporary_bytes: 16 << 20,
        ..TransformLimits::default()
    }
}

/// The largest limits that xslt-transform can be configured with, but for steps: they are time, and these are enough for
/// each site to come to another bound if it can.
fn largest() -> TransformLimits {
    TransformLimits {
        steps: 40_000_000,
        template_depth: 100_000,
        output_bytes: 16 << 20,
        nodes: 1 << 21,
        temporary_bytes: 64 << 20,
        ..TransformLimits::default()
    }
}

/// How many bytes a site's transformation takes at most, and what it ends with.
fn run(site: &Site, limits: &TransformLimits, bytes: usize) -> (usize, Option<Bound>) {
    let source = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{}</xsl:stylesheet>",
        (site.rules)()
    );
    let stylesheet = Stylesheet::compile(source.as_bytes(), &CompileOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}", site.name));
    let within = Limits { document_bytes: 1 << 26, nodes: limits.nodes, depth: 1024, ..Limits::default() };
    let message = (site.message)(bytes);
    let input = stylesheet
        .parse(message.as_bytes(), &within)
        .unwrap_or_else(|error| panic!("{}: {error}", site.name));
    drop(message);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = stylesheet.transform(input, &Parameters::new(), limits, &mut NoMessages);
    let taken = MEMORY.peak_usage().saturating_sub(before);
    let bound = match result {
        Ok(_) => None,
        Err(error) => match error.kind {
            TransformErrorKind::LimitExceeded(bound, _) => Some(bound),
            other => panic!("{}: {other}", site.name),
        },
    };
    (taken, bound)
}

/// How many bytes a transformation may take that ends with this.
fn most(limits: &TransformLimits, bound: Option<Bound>) -> usize {
    let temporary = limits.temporary_bytes * FOR_EACH_TEMPORARY_BYTE;
    let more = match bound {
        Some(Bound::Nodes) => usize::try_from(limits.nodes).unwrap() * FOR_EACH_NODE,
        Some(Bound::OutputBytes) => limits.output_bytes * FOR_EACH_OUTPUT_BYTE,
        Some(Bound::TemporaryBytes | Bound::Steps | Bound::TemplateDepth) | None => 0,
    };
    temporary + more + FOR_ALL
}

/// One test, as all share the allocator.
#[test]
fn what_grows_is_bounded_wherever_it_grows() {
    let mut failures = Vec::new();
    for site in SITES {
        let (taken, bound) = run(site, &defaults(), 900_000);
        if bound != site.bound || taken > most(&defaults(), bound) {
            failures.push((site.name, "default limits", taken, bound));
        }
        let (taken, bound) = run(site, &largest(), 300_000);
        if taken > most(&largest(), bound) {
            failures.push((site.name, "largest limits", taken, bound));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// A VM has 1 GiB in Envoy 1.40. A worker transforms one message at a time, while it holds others.
#[test]
fn the_largest_limits_together_leave_room_in_a_vm() {
    /// The largest `max_held_bytes`.
    const HELD: usize = 256 << 20;
    let limits = largest();
    let all = limits.temporary_bytes * FOR_EACH_TEMPORARY_BYTE
        + usize::try_from(limits.nodes).unwrap() * FOR_EACH_NODE
        + limits.output_bytes * FOR_EACH_OUTPUT_BYTE
        + FOR_ALL;
    assert!(HELD + all < 800 << 20, "{all} bytes beside {HELD}");
}
