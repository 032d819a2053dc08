import math
import random
import unittest

from ..estimates import (
    bootstrap_median,
    bootstrap_r_squared,
    estimate,
    fit,
    holm,
    least_p,
    permutation_test,
    quartiles,
)


class Estimates(unittest.TestCase):
    def test_interval_is_students(self):
        found = estimate([10.0, 12.0, 14.0])
        self.assertEqual(found.value, 12)
        self.assertAlmostEqual(found.margin, 4.303 * 2 / math.sqrt(3), places=3)

    def test_one_repetition_proves_nothing(self):
        self.assertEqual(estimate([10.0]).margin, math.inf)

    def test_quartiles_are_interpolated(self):
        self.assertEqual(quartiles([4.0, 1.0, 2.0, 3.0]), (1.75, 2.5, 3.25))

    def test_the_bootstrap_is_the_same_each_time(self):
        sample = [random.Random(1).gauss(5, 1) for _ in range(30)]
        self.assertEqual(bootstrap_median(sample), bootstrap_median(sample))
        self.assertGreater(bootstrap_median([1.0, 2.0, 3.0, 9.0]).margin, 0)


class Lines(unittest.TestCase):
    def test_a_line_is_found(self):
        line = fit([(250, 1000), (500, 2000), (1000, 4000)])
        self.assertAlmostEqual(line.slope, 4)
        self.assertAlmostEqual(line.intercept, 0)
        self.assertAlmostEqual(line.r_squared, 1)

    def test_the_bootstrap_sees_how_far_repetitions_are_apart(self):
        same = bootstrap_r_squared([(250, [1000] * 3), (500, [2000] * 3), (1000, [4000] * 3)])
        self.assertAlmostEqual(same.low, 1)
        self.assertAlmostEqual(same.high, 1)
        apart = bootstrap_r_squared([(250, [900, 1100]), (500, [1000, 3000]), (1000, [3900, 4100])])
        self.assertLess(apart.low, 0.95)
        self.assertGreater(apart.high, 0.99)

    def test_what_is_no_line_explains_less(self):
        self.assertLess(fit([(1, 1), (2, 5), (3, 2), (4, 4)]).r_squared, 0.5)

    def test_one_place_is_no_line(self):
        with self.assertRaises(ValueError):
            fit([(1, 1), (1, 2)])


class Permutations(unittest.TestCase):
    def test_counts_exactly_where_it_can(self):
        # Of 20 ways to choose three of six, two are as far apart as this one.
        p = permutation_test([([1.0, 2.0, 3.0], [11.0, 12.0, 13.0])])
        self.assertAlmostEqual(p, 2 / 20, delta=0.01)

    def test_the_least_p_is_that_of_the_widest_gap(self):
        strata = [([1.0, 2.0, 3.0], [11.0, 12.0, 13.0])]
        self.assertEqual(least_p(strata), 2 / 20)
        self.assertEqual(least_p([([1.0], [2.0])]), 1)

    def test_steps_add_up(self):
        strata = [([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])] * 4
        self.assertLess(permutation_test(strata), 0.001)

    def test_no_difference_is_no_evidence(self):
        self.assertEqual(permutation_test([([1.0, 2.0], [1.0, 2.0])]), 1)

    def test_false_alarms_are_as_rare_as_p_says(self):
        chance = random.Random(7)
        alarms = 0
        for _ in range(200):
            strata = [
                ([chance.gauss(0, 1) for _ in range(3)], [chance.gauss(0, 1) for _ in range(3)])
                for _ in range(4)
            ]
            alarms += permutation_test(strata, draws=500) < 0.05
        self.assertLess(alarms, 25)

    def test_many_tests_are_corrected_for(self):
        self.assertEqual(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
        self.assertEqual(holm([0.9, 0.8]), [1.0, 1.0])


if __name__ == "__main__":
    unittest.main()
