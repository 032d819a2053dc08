"""The command line: see `bench --help`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import traceback
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Dict, List

from . import machine, paths, profiles
from .bench import MEMORY_BYTES, Bench, Conditions, Scenario, split_cores
from .limits import Refused
from .limits.choose import CHOICES, choose
from .measurement import QUOTA_TOLERANCE
from .processes import Failure
from .progress import Progress
from .results import Document, Record
from .scenarios import catalogue

# Exit statuses beside 0.
FAILED, QUOTA_BROKEN, INTERRUPTED = 1, 3, 130


def arguments(words: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Measures the policies, beside bare Envoy and others that do the like, and writes a record.",
        epilog="Exit status: 0; 1 if a scenario failed; 3 if a gateway used more CPU time than its quota; "
        "130 if it was interrupted. What was measured is kept in any case.",
    )
    parser.add_argument(
        "--profile", choices=profiles.names(), default="sampled", help="how much (default: %(default)s)"
    )
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        help="only this one; may be given again, or as a list with commas",
    )
    parser.add_argument("--repetitions", type=int, help="in place of the profile's")
    parser.add_argument(
        "--cpu-limit", choices=CHOICES, default="auto", help="how to limit CPU time (default: %(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, help=f"the run's folder (default: a new one in {paths.RESULTS.name}/)"
    )
    parser.add_argument(
        "--handicap",
        type=float,
        default=0,
        metavar="PERCENT",
        help="deny everything but bare Envoy this part of its quota: to try bench-compare",
    )
    parser.add_argument("--list", action="store_true", help="list the scenarios, with how long they take")
    found = parser.parse_args(words)
    found.scenario = [name for listed in found.scenario for name in listed.split(",") if name]
    if found.repetitions is not None and found.repetitions < 1:
        parser.error("--repetitions must be 1 or more")
    if not 0 <= found.handicap < 100:
        parser.error("--handicap must be from 0 to less than 100")
    return found


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(words: List[str], conclude: Callable[[Path], object]) -> int:
    """`conclude` gets the folder of a run that is over."""
    options = arguments(words)
    profile = profiles.PROFILES[options.profile]
    if options.repetitions:
        profile = profile.with_repetitions(options.repetitions)
    try:
        scenarios = catalogue.selected(options.scenario, profile)
    except KeyError as unknown:
        names = ", ".join(scenario.name for scenario in catalogue.scenarios())
        say(f"bench: there is no scenario {unknown}: {names}")
        return 2
    except (paths.Missing, Failure) as failure:
        say(f"bench: {failure}")
        return FAILED
    try:
        conditions = Conditions(profile, choose(options.cpu_limit, say))
    except Refused as refusal:
        say(f"bench: {refusal}")
        return FAILED
    expected = {scenario.name: scenario.expected_seconds(conditions) for scenario in scenarios}
    if options.list:
        for scenario in scenarios:
            print(f"{scenario.name:20} {expected[scenario.name] / 60:6.1f} min  {scenario.title}")
        return 0
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    with tempfile.TemporaryDirectory(prefix="portcullis-bench-") as folder:
        record = Record(_output(options.output, profile.name), _facts(conditions, options.handicap / 100))
        minutes = sum(expected.values()) / 60
        say(f"bench: {len(scenarios)} scenarios, {minutes:.0f} min, CPU limits by {conditions.limiter.name}")
        progress = Progress()
        progress.expect(60 * minutes)
        bench = Bench(conditions, record, progress, Path(folder), options.handicap / 100)
        status = run(bench, scenarios)
    if record.document["measurements"]:
        conclude(record.folder)
    return status


def run(bench: Bench, scenarios: List[Scenario]) -> int:
    """Runs the scenarios, and gives the exit status."""
    failed = False
    interrupted = False
    try:
        for scenario in scenarios:
            try:
                # The facts first: what they need may be missing.
                bench.record.scenario(scenario.name, scenario.facts(bench.profile))
                scenario.run(bench)
            except Exception as failure:  # Whatever it is, the other scenarios have nothing to do with it.
                failed = True
                bench.record.leave_out(scenario.name, scenario.title, str(failure) or repr(failure))
                bench.progress.say(f"bench: {scenario.name} failed: {failure}")
                if not isinstance(failure, (Failure, paths.Missing, Refused, OSError)):
                    bench.progress.say(traceback.format_exc())
    except KeyboardInterrupt:
        interrupted = True
        bench.progress.say("bench: interrupted: what was measured is kept")
    finally:
        # A second Ctrl-C must not cut the record short.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        bench.record.end(complete=not failed and not interrupted)
    bench.progress.say(f"bench: {bench.record.path}")
    broken = over_quota(bench.record.document)
    for line in broken:
        bench.progress.say(f"bench: NOT WITHIN ITS QUOTA: {line}")
    if interrupted:
        return INTERRUPTED
    if failed:
        return FAILED
    return QUOTA_BROKEN if broken else 0


def over_quota(document: Document) -> List[str]:
    """Measurements of gateways that had more CPU time than the record says."""
    return [
        f"{entry['scenario']} {entry['step']} {entry['variant']} #{entry['repetition'] + 1}: "
        f"{entry['gateway']['millicores']:.0f} millicores of {entry['millicores']}"
        for entry in document["measurements"]
        if entry.get("quota_kept") is False
    ]


def _facts(conditions: Conditions, handicap: float) -> Dict[str, Any]:
    profile, limiter = conditions.profile, conditions.limiter.name
    cores = split_cores(conditions.cores, 1000)
    return {
        "profile": profile.name,
        "repetitions": profile.repetitions,
        "fewer_repetitions": profile.fewer_repetitions,
        "cpu_limit": limiter,
        "quota_tolerance": QUOTA_TOLERANCE,
        "memory_limit_bytes": MEMORY_BYTES if limiter != "affinity" else None,
        "handicap": handicap,
        "cores": {"gateway_up_to_1000m": sorted(cores.gateway), "load": sorted(cores.load)},
        "machine": machine.describe(),
        "load_average_before": machine.load_average(),
        "versions": machine.versions(),
        "build": machine.build(),
    }


def _output(given: Any, profile: str) -> Path:
    if given is not None:
        return given.resolve()
    return paths.RESULTS / f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{profile}"


def _interrupt(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt
