import os
import unittest

from ..account import Sample, cpu_seconds, machine_seconds, resident_bytes, usage
from ..limits import Throttling


def sample(at, cpu, resident=0, periods=0, busy=0.0):
    return Sample(at, {"gateway": cpu}, resident, Throttling(periods, periods, float(periods)), busy)


class Windows(unittest.TestCase):
    SAMPLES = [
        sample(0, 0, 10, 0, 0),
        sample(1, 0.5, 30, 10, 1),
        sample(2, 1.5, 20, 20, 3),
        sample(3, 1.5, 20, 30, 4),
    ]

    def test_cpu_time_is_interpolated_between_samples(self):
        used = usage(self.SAMPLES, 0.5, 1.5)
        self.assertAlmostEqual(used.cpu["gateway"], 0.25 + 0.5)
        self.assertAlmostEqual(used.millicores("gateway"), 750)
        self.assertEqual(used.throttling, Throttling(10, 10, 10.0))

    def test_memory_is_the_most_within_the_window(self):
        self.assertEqual(usage(self.SAMPLES, 0.5, 2.5).resident_peak, 30)
        self.assertEqual(usage(self.SAMPLES, 2.0, 2.5).resident_peak, 20)

    def test_what_strangers_use_is_the_rest(self):
        self.assertAlmostEqual(usage(self.SAMPLES, 0, 3).others, 4 - 1.5)

    def test_a_process_that_joins_late_counts_from_then_on(self):
        samples = [sample(0, 0), Sample(1, {"gateway": 1.0, "generator": 0.0}, 0, Throttling(0, 0, 0)),
                   Sample(2, {"gateway": 1.0, "generator": 0.8}, 0, Throttling(0, 0, 0))]  # fmt: skip
        self.assertAlmostEqual(usage(samples, 0, 2).cpu["generator"], 0.8)

    def test_a_window_outside_the_samples_is_refused(self):
        for start, end in ((-1, 1), (1, 4), (2, 2)):
            with self.subTest(start=start), self.assertRaises(ValueError):
                usage(self.SAMPLES, start, end)


class Processes(unittest.TestCase):
    def test_reads_what_this_process_uses(self):
        before = cpu_seconds(os.getpid())
        sum(range(2_000_000))
        self.assertGreater(cpu_seconds(os.getpid()), before)
        self.assertGreater(resident_bytes(os.getpid()), 1 << 20)

    def test_reads_the_machine(self):
        ticks = os.sysconf("SC_CLK_TCK")
        busy, stolen = machine_seconds("cpu  100 0 200 999 50 10 20 30 0 0\ncpu0 1 2 3\n")
        self.assertAlmostEqual(busy, 330 / ticks)
        self.assertAlmostEqual(stolen, 30 / ticks)


if __name__ == "__main__":
    unittest.main()
