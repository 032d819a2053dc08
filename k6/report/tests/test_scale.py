import unittest

from ..scale import Categories, Linear, Logarithmic, readable


class Scales(unittest.TestCase):
    def test_ends_at_a_round_number_above_all_values(self):
        for most, top in ((7, 8), (948, 1000), (3441, 4000), (0.03, 0.03), (100, 100)):
            with self.subTest(most):
                scale = Linear.of([0, most])
                self.assertAlmostEqual(scale.top, top)
                self.assertAlmostEqual(scale.ticks()[-1], top)
                self.assertLessEqual(scale.place(most), 1 + 1e-9)

    def test_nothing_to_show_has_a_scale(self):
        self.assertEqual(Linear.of([]).place(0), 0)
        self.assertEqual(Linear.of([0.0, float("inf")]).place(0), 0)

    def test_decades_are_evenly_spaced(self):
        scale = Logarithmic.of([79, 2203])
        self.assertEqual(scale.ticks(), [10, 100, 1000, 10000])
        self.assertAlmostEqual(scale.place(100), 1 / 3)
        self.assertEqual(scale.place(0), 0)

    def test_categories_are_centred(self):
        self.assertEqual([Categories(2).place(n) for n in (0, 1)], [0.25, 0.75])

    def test_numbers_are_short(self):
        for value, text in (
            (0, "0"),
            (2500, "2500"),
            (12000, "12k"),
            (2e6, "2M"),
            (0.25, "0.25"),
            (3441.0, "3441"),
        ):
            self.assertEqual(readable(value), text)


if __name__ == "__main__":
    unittest.main()
