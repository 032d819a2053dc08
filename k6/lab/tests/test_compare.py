import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from .. import compare
from . import runs


class Comparing(unittest.TestCase):
    def compare(self, base, new):
        """The exit status and what is printed."""
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for name, document in (("base", base), ("new", new)):
                files.append(Path(folder) / f"{name}.json")
                files[-1].write_text(json.dumps(document), encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                status = compare.main(list(map(str, files)))
            return status, output.getvalue()

    def test_two_runs_of_one_build_do_not_differ(self):
        for seed in range(0, 16, 2):
            with self.subTest(seed):
                status, output = self.compare(runs.noisy(seed), runs.noisy(seed + 1))
                self.assertEqual(status, compare.SAME, output)

    def test_finds_a_slowdown_of_20_percent(self):
        for seed in range(0, 8, 2):
            with self.subTest(seed):
                status, output = self.compare(runs.noisy(seed), runs.noisy(seed + 1, slower=0.2))
                self.assertEqual(status, compare.WORSE, output)
                self.assertIn("| flex-max-qps | policies | requests per second | -", output)

    def test_an_improvement_is_no_failure(self):
        status, output = self.compare(runs.noisy(1, slower=0.2), runs.noisy(2))
        self.assertEqual(status, compare.SAME, output)
        self.assertIn("better", output)

    def test_a_slower_machine_is_no_slowdown(self):
        status, output = self.compare(runs.noisy(1), runs.noisy(2, drift=0.5))
        self.assertEqual(status, compare.SAME, output)

    def test_throughput_that_the_load_limits_says_nothing(self):
        base, new = runs.noisy(1), runs.noisy(2, slower=0.2)
        for document in (base, new):
            for measured in document["measurements"]:
                measured["bound_by"] = "load"
                measured["gateway"]["cpu_us_per_request"] = 100.0
        status, output = self.compare(base, new)
        self.assertEqual(status, compare.SAME, output)

    def test_too_few_repetitions_decide_nothing(self):
        base, new = runs.noisy(1), runs.noisy(2, slower=0.5)
        for document in (base, new):
            document["measurements"] = [
                measured
                for measured in document["measurements"]
                if measured["repetition"] == 0 and measured["scenario"] == "flex-get"
            ]
        status, output = self.compare(base, new)
        self.assertEqual(status, compare.SAME, output)
        self.assertIn("0 without a difference beyond noise", output)
        self.assertIn("too few repetitions to tell", output)

    def test_says_how_the_runs_differ(self):
        new = runs.noisy(2)
        new["versions"] = {"envoy": "1.41.0"}
        new["complete"] = False
        _, output = self.compare(runs.noisy(1), new)
        self.assertIn("the runs differ in versions: envoy=1.40.0, envoy=1.41.0", output)
        self.assertIn("the new run is not complete", output)

    def test_runs_that_have_nothing_in_common(self):
        other = runs.noisy(2)
        for measured in other["measurements"]:
            measured["scenario"] = "another"
        self.assertEqual(self.compare(runs.noisy(1), other)[0], compare.UNUSABLE)

    def test_a_file_that_is_no_run(self):
        status, output = self.compare({"format": "portcullis-load/1"}, runs.noisy(1))
        self.assertEqual(status, compare.UNUSABLE)
        self.assertIn("is not a record of the format portcullis-bench/1", output)


if __name__ == "__main__":
    unittest.main()
