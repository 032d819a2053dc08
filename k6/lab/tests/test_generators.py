import unittest

from ..exchange import Request, filler
from ..generators import fortio, k6

REPORT = {
    "StartTime": "2026-01-31T12:00:00.500000001Z",
    "ActualDuration": 2_000_000_000,
    "DurationHistogram": {
        "Count": 100, "Min": 0.001, "Max": 0.009, "Avg": 0.004, "StdDev": 0.002,
        "Percentiles": [{"Percentile": p, "Value": p / 10000} for p in (50, 90, 95, 99, 99.9)],
    },
    "RetCodes": {"200": 100},
    "Sizes": {"Sum": 100 * 1150},
    "HeaderSizes": {"Sum": 100 * 126},
}  # fmt: skip

REQUEST = Request("/", reply=filler(1024))


class Fortio(unittest.TestCase):
    def test_reads_a_report(self):
        found = fortio.outcome(REPORT, REQUEST)
        self.assertAlmostEqual(found.start, 1769860800.5, places=5)
        self.assertEqual((found.seconds, found.requests, found.errors), (2.0, 100, 0))
        self.assertAlmostEqual(found.latency_ms["mean"], 4.0)
        self.assertAlmostEqual(found.latency_ms["p99_9"], 9.99)

    def test_other_statuses_are_errors(self):
        report = {**REPORT, "RetCodes": {"200": 90, "503": 8, "-1": 2}}
        self.assertEqual(fortio.outcome(report, REQUEST).errors, 10)

    def test_a_wrong_size_makes_all_replies_doubtful(self):
        report = {**REPORT, "Sizes": {"Sum": 100 * 1150 - 1}}
        self.assertEqual(fortio.outcome(report, REQUEST).errors, 100)

    def test_no_reply_has_no_latency(self):
        report = {
            **REPORT,
            "DurationHistogram": {"Count": 0},
            "RetCodes": {},
            "Sizes": {"Sum": 0},
            "HeaderSizes": {"Sum": 0},
        }
        found = fortio.outcome(report, REQUEST)
        self.assertEqual((found.requests, found.errors, found.latency_ms), (0, 0, None))


class K6(unittest.TestCase):
    def phase(self, name, **more):
        return {
            "name": name, "vus": 2, "warmup": 1, "duration": 4, "requests": 200, "error_rate": 0.01,
            "corrupt_rate": 0.02, "latency_ms": {"count": 200, "mean": 5.0, "p50": 4.0}, **more,
        }  # fmt: skip

    def test_places_phases_in_time(self):
        summary = {"started": "2026-01-31T12:00:00.000Z", "phases": [self.phase("a"), self.phase("b")]}
        first, second = k6.outcomes(summary)
        self.assertEqual(first.start, 1769860801.0)
        self.assertEqual(second.start, 1769860806.0)
        self.assertEqual((first.requests, first.errors, first.seconds), (200, 6, 4))
        self.assertEqual(first.latency_ms, {"mean": 5.0, "p50": 4.0})

    def test_keeps_what_else_was_measured(self):
        summary = {"started": "2026-01-31T12:00:00.000Z", "phases": [self.phase("a", added_ms={"p50": 0.3})]}
        self.assertEqual(k6.outcomes(summary)[0].extra, {"added_ms": {"p50": 0.3}})

    def test_a_phase_without_replies_has_no_latency(self):
        summary = {
            "started": "2026-01-31T12:00:00.000Z",
            "phases": [self.phase("a", requests=0, latency_ms=None)],
        }
        self.assertIsNone(k6.outcomes(summary)[0].latency_ms)


if __name__ == "__main__":
    unittest.main()
