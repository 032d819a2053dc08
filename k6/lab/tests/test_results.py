import json
import tempfile
import unittest
from pathlib import Path

from .. import cli, results
from ..bench import Bench, Conditions
from ..limits.affinity import Affinity
from ..processes import Failure
from ..profiles import PROFILES
from ..progress import Progress


class Silent(Progress):
    def say(self, text):
        pass


class Fake:
    """A scenario that measures once and then ends in some way."""

    name = "fake"
    title = "Fake"

    def __init__(self, end):
        self._end = end

    def facts(self, _profile):
        return {"title": self.title}

    def expected_seconds(self, _conditions):
        return 1.0

    def run(self, bench):
        bench.record.add(
            {"scenario": "fake", "step": "a", "variant": "bare", "repetition": 0, **self._end.facts}
        )
        self._end()


class End:
    def __init__(self, error=None, **facts):
        self.error = error
        self.facts = facts

    def __call__(self):
        if self.error is not None:
            raise self.error


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_with(self, *ends):
        """The exit status and the record."""
        record = results.Record(self.folder / "run", {"profile": "tiny"})
        bench = Bench(Conditions(PROFILES["tiny"], Affinity()), record, Silent(), self.folder)
        return cli.run(bench, [Fake(end) for end in ends]), results.load(self.folder / "run")

    def test_a_whole_run_is_complete(self):
        status, document = self.run_with(End())
        self.assertEqual((status, document["complete"], len(document["measurements"])), (0, True, 1))

    def test_an_interrupted_run_keeps_what_it_has(self):
        status, document = self.run_with(End(), End(KeyboardInterrupt()), End())
        self.assertEqual((status, document["complete"]), (cli.INTERRUPTED, False))
        self.assertEqual(len(document["measurements"]), 2)
        self.assertIsNotNone(document["ended"])

    def test_a_scenario_that_fails_does_not_end_the_others(self):
        status, document = self.run_with(End(Failure("no gateway")), End())
        self.assertEqual((status, document["complete"]), (cli.FAILED, False))
        self.assertEqual(len(document["measurements"]), 2)
        self.assertEqual(document["left_out"][0]["why"], "no gateway")

    def test_a_mistake_in_a_scenario_does_not_end_the_others_either(self):
        status, document = self.run_with(End(ZeroDivisionError()), End())
        self.assertEqual((status, len(document["measurements"])), (cli.FAILED, 2))
        self.assertEqual(document["left_out"][0]["why"], "ZeroDivisionError()")

    def test_a_gateway_above_its_quota_fails_the_run(self):
        gateway = {"millicores": 600.0}
        status, _ = self.run_with(End(None, quota_kept=False, gateway=gateway, millicores=500))
        self.assertEqual(status, cli.QUOTA_BROKEN)

    def test_a_run_that_is_killed_leaves_a_record(self):
        record = results.Record(self.folder / "killed", {"profile": "tiny"})
        record.add({"scenario": "fake"})
        document = json.loads(record.path.read_text())
        self.assertEqual((len(document["measurements"]), document["complete"]), (1, False))

    def test_finds_the_latest_run(self):
        for name in ("20260101T000000Z-tiny", "20260201T000000Z-tiny", "20260301T000000Z-empty"):
            (self.folder / name).mkdir()
            if "empty" not in name:
                (self.folder / name / "run.json").write_text("{}")
        self.assertEqual(results.latest(self.folder).name, "20260201T000000Z-tiny")


if __name__ == "__main__":
    unittest.main()
