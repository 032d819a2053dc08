"""What `measure` makes of a script's summary and of what containers use. No cluster takes part."""

from __future__ import annotations

import io
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cluster  # noqa: E402
import record  # noqa: E402
from lab.account import Sample  # noqa: E402
from lab.bench import Cores  # noqa: E402
from lab.results import Record  # noqa: E402
from report.__main__ import main as report  # noqa: E402

STARTED = "2026-01-31T12:00:00.000Z"
EPOCH = 1769860800.0
LATENCY = {
    "count": 3000, "mean": 4.0, "stddev": 1.0, "min": 1.0, "p50": 4.0, "p90": 5.0, "p95": 6.0, "p99": 7.0,
    "p99_9": 8.0, "max": 9.0,
}  # fmt: skip


def phase(name: str, **more: Any) -> Dict[str, Any]:
    return {
        "name": name, "vus": 4, "size": 1024, "warmup": 1, "duration": 3, "requests": 3000, "requests_per_second": 1000.0,
        "error_rate": 0, "corrupt_rate": 0, "latency_ms": LATENCY, **more,
    }  # fmt: skip


def summary(script: str, *phases: Dict[str, Any], **parameters: str) -> Dict[str, Any]:
    return {
        "format": "portcullis-load/1", "script": script, "started": STARTED, "ended": STARTED, "passed": True,
        "parameters": {"TARGET": "http://gateway", **parameters}, "phases": list(phases),
    }  # fmt: skip


def samples(role: str, millicores: float, end: float = 10.0) -> List[Sample]:
    """Ten a second, of a container that uses that much all the time."""
    return [
        cluster.sample(role, {
            "at": EPOCH + tick / 10, "cpu_us": round(millicores * 100 * tick), "resident_bytes": 100 << 20,
            "quota_millicores": 500, "periods": tick, "throttled_periods": tick // 2, "throttled_us": 50 * tick,
        })
        for tick in range(-10, round(end * 10))
    ]  # fmt: skip


def measured(found: Dict[str, Any], series: Dict[str, List[Sample]], several: bool = False) -> List[Dict[str, Any]]:
    both = set(range(2))
    return record.measurements(
        found, series, variant="policies", repetition=0, millicores=500, several=several,
        cores=Cores(both, both), raw="raw/x.json",
    )  # fmt: skip


class Measurements(unittest.TestCase):
    def test_each_phase_has_what_was_used_within_it(self) -> None:
        found = summary("flex-max-qps", phase("vus-4"), phase("vus-8", vus=8))
        (first, second) = measured(found, {"gateway": samples("gateway", 490), "generator": samples("generator", 900)})
        self.assertEqual((first["step"], second["step"]), ("500m-4c", "500m-8c"))
        self.assertAlmostEqual(first["gateway"]["millicores"], 490, delta=1)
        self.assertAlmostEqual(first["gateway"]["cpu_us_per_request"], 490, delta=1)
        self.assertAlmostEqual(first["load"]["millicores"]["generator"], 900, delta=1)
        self.assertEqual((first["bound_by"], first["quota_kept"]), ("gateway", True))
        self.assertEqual(first["gateway"]["periods"], 30)
        self.assertNotIn("strangers", first)

    def test_more_than_the_quota_is_noticed(self) -> None:
        (entry,) = measured(summary("flex-max-qps", phase("vus-4")), {"gateway": samples("gateway", 600)})
        self.assertFalse(entry["quota_kept"])

    def test_a_generator_that_ends_early_is_on_record(self) -> None:
        series = {"gateway": samples("gateway", 100), "generator": samples("generator", 800, end=3.5)}
        (entry,) = measured(summary("flex-max-qps", phase("vus-4")), series)
        self.assertAlmostEqual(entry["load"]["millicores"]["generator"], 800, delta=1)

    def test_a_gateway_without_samples_is_not_made_up(self) -> None:
        with self.assertRaises(ValueError):
            measured(summary("flex-max-qps", phase("vus-4")), {"gateway": samples("gateway", 100, end=2.0)})


class Names(unittest.TestCase):
    def test_steps_are_called_as_the_report_knows_them(self) -> None:
        for scenario, one, several, name in [
            ("flex-max-qps", {}, False, "500m-4c"),
            ("flex-get", {"name": "reply-1KB"}, False, "reply-1KB"),
            ("flex-get", {"name": "reply-1KB"}, True, "reply-1KB-500m"),
            ("flex-reply-size", {"name": "reply-1KB"}, False, "reply-1KB-500m"),
            ("tls-p-256", {"name": "p-256-fresh", "reuse": "no"}, False, "fresh"),
        ]:
            self.assertEqual(record.step_of(scenario, phase("x") | one, 500, several), name)

    def test_a_script_for_several_certificates_is_an_experiment_for_each(self) -> None:
        self.assertEqual(record.scenario_of(summary("tls", KEY="p-256")), "tls-p-256")
        self.assertEqual(record.scenario_of(summary("flex-get")), "flex-get")

    def test_the_facts_are_those_that_charts_are_drawn_by(self) -> None:
        soap = phase("x", epoch="compact", size=500, message_bytes=502, delay=30)
        self.assertEqual(
            record.facts_of("wso2-soap", soap, {}),
            {"connections": 4, "request_bytes": 502, "reply_bytes": 502, "delay_ms": 30, "epoch": "compact", "size": 500,
             "message_bytes": 502},
        )  # fmt: skip
        grows = record.facts_of("flex-request-size", phase("x", size=51200), {"REPLY_SIZE": "1K"})
        self.assertEqual((grows["request_bytes"], grows["reply_bytes"]), (51200, 1024))
        posted = record.facts_of("flex-reply-size", phase("x", size=51200), {"REQUEST_SIZE": "2K"})
        self.assertEqual((posted["request_bytes"], posted["reply_bytes"]), (2048, 51200))


class Report(unittest.TestCase):
    def test_takes_the_record_of_every_script(self) -> None:
        soap = {"epoch": "compact", "size": 500, "message_bytes": 502, "delay": 0}
        runs = [
            summary("flex-max-qps", phase("vus-4")),
            summary("flex-get", phase("reply-1KB")),
            summary("flex-request-size", phase("request-1KB"), phase("request-50KB", size=51200), REPLY_SIZE="1K"),
            summary("flex-reply-size", phase("reply-1KB"), phase("reply-50KB", size=51200), REQUEST_SIZE="1K"),
            summary("mule-client-id", phase("vus-4", delay=70)),
            summary("mule-streaming", phase("vus-4", delay=70, first_byte_ms=LATENCY)),
            summary("tls", phase("p-256-fresh", key="p-256", reuse="no", handshake_ms=LATENCY), KEY="p-256"),
            summary("added-latency", phase("reply-10KB", direct_ms=LATENCY, added_ms=LATENCY)),
            summary("wso2-xslt", phase("compact-500B-4users-0ms", **soap)),
            summary("soak", phase("part-1")),
        ]
        with tempfile.TemporaryDirectory() as folder:
            whole = Record(Path(folder), FACTS)
            for found in runs:
                facts = record.scenario_facts(found, {"policies": "all of them"}, 1)
                whole.scenario(record.scenario_of(found), facts)
                for entry in measured(found, {"gateway": samples("gateway", 490)}):
                    whole.add(entry)
            whole.end(complete=True)
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                self.assertEqual(report([folder]), 0)
            page = (Path(folder) / "report" / "index.html").read_text(encoding="utf-8")
        for chart in ("qps-by-millicores", "flex-get-qps", "flex-reply-size-500m", "mule-client-id-qps",
                      "tls-fresh", "added-latency", "wso2-xslt-compact-4"):  # fmt: skip
            self.assertIn(f'id="{chart}"', page)


FACTS = record.facts(
    node={"architecture": "amd64", "osImage": "Debian", "kernelVersion": "6", "memory_bytes": 8 << 30},
    machine={"cpu": "some CPU", "virtual": True, "load_average": [0.5, 0.5, 0.5]},
    cores=Cores({0, 1}, {0, 1}),
    memory_bytes=512 << 20,
    topology="standard",
    repetitions=1,
    versions={"envoy": "v1.40.0", "k6": "1.1.0", "kubernetes": "v1.33.0"},
    build="portcullis-0.1.0",
)


class Readings(unittest.TestCase):
    def test_quantities(self) -> None:
        for text, value in [("500m", 0.5), ("2", 2.0), ("1.5", 1.5), ("512Mi", 512 << 20), ("1Gi", 1 << 30), ("2k", 2000.0)]:
            self.assertEqual(cluster.quantity(text), value, text)

    def test_the_summary_is_found_among_what_k6_says(self) -> None:
        text = json.dumps(summary("flex-get"), indent=2)
        log = f'time="…" level=warning msg="{{slow}}"\n{text}\n\ntime="…" level=error msg="thresholds"\n'
        self.assertEqual(cluster.summary_in(log)["script"], "flex-get")
        with self.assertRaisesRegex(cluster.Failure, "no summary"):
            cluster.summary_in("level=error\n")


if __name__ == "__main__":
    unittest.main()
