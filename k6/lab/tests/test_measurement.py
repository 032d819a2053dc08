import unittest

from ..account import Usage
from ..bench import Cores, split_cores, workers
from ..generators import Outcome
from ..limits import Throttling
from ..measurement import Subject, allowance, bound_by, measurement

APART = Cores({1}, {0})


def subject(allowed=500):
    return Subject(
        "flex-get", "reply-1KB", "policies", 0, "fortio", 500, allowed, {"connections": 64}, "raw/x.json"
    )


def used(gateway, seconds=2.5):
    cpu = {"gateway": gateway * seconds / 1000, "generator": 0.5, "echo": 0.25, "lab": 0.1}
    return Usage(seconds, cpu, 80 << 20, Throttling(25, 20, 0.4), others=0.025)


class Measurements(unittest.TestCase):
    OUTCOME = Outcome(0.0, 2.5, 1000, 0, {"mean": 5.0})

    def test_works_out_what_a_request_cost(self):
        found = measurement(subject(), self.OUTCOME, used(490), APART)
        self.assertEqual(found["requests_per_second"], 400)
        self.assertAlmostEqual(found["gateway"]["millicores"], 490)
        self.assertAlmostEqual(found["gateway"]["cpu_us_per_request"], 490 * 2500 / 1000)
        self.assertEqual(found["load"]["millicores"], {"echo": 100.0, "generator": 200.0})
        self.assertEqual(found["strangers"]["millicores"], 10.0)
        self.assertTrue(found["quota_kept"])

    def test_more_than_five_percent_above_the_quota_is_on_record(self):
        for millicores, kept in ((524, True), (526, False)):
            self.assertIs(measurement(subject(), self.OUTCOME, used(millicores), APART)["quota_kept"], kept)

    def test_a_handicap_counts_as_the_quota(self):
        self.assertFalse(measurement(subject(allowed=400), self.OUTCOME, used(450), APART)["quota_kept"])

    def test_a_short_window_may_have_one_more_refill(self):
        self.assertAlmostEqual(allowance(500, 1.0), 500 * 1.15)
        self.assertAlmostEqual(allowance(500, 2.5), 500 * 1.05)

    def test_nothing_right_has_no_cost(self):
        outcome = Outcome(0.0, 2.5, 10, 10, None)
        self.assertIsNone(measurement(subject(), outcome, used(490), APART)["gateway"]["cpu_us_per_request"])


class Bounds(unittest.TestCase):
    def test_says_what_limits_the_throughput(self):
        for gateway, load, millicores, cores, expected in (
            (490, 300, 500, APART, "gateway"),
            (300, 950, 500, APART, "load"),
            (300, 300, 500, APART, "neither"),
            (990, 950, 1000, APART, "gateway"),
            # Both cores are used up between them.
            (1200, 790, 2000, Cores({0, 1}, {0, 1}), "load"),
        ):
            with self.subTest(expected, gateway=gateway):
                self.assertEqual(bound_by(gateway, load, millicores, cores), expected)


class SplittingCores(unittest.TestCase):
    def test_the_gateway_has_cores_of_its_own(self):
        for count, millicores, gateway, load in (
            (2, 500, {1}, {0}),
            (4, 1500, {2, 3}, {0, 1}),
            (2, 2000, {0, 1}, {0, 1}),
            (1, 500, {0}, {0}),
        ):
            cores = split_cores(set(range(count)), millicores)
            self.assertEqual((cores.gateway, cores.load), (gateway, load))
            self.assertEqual(cores.shared, gateway == load)

    def test_a_gateway_has_a_worker_for_each_core_that_it_may_use(self):
        self.assertEqual([workers(millicores) for millicores in (70, 1000, 1001, 2000)], [1, 1, 2, 2])


if __name__ == "__main__":
    unittest.main()
