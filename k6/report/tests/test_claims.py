import unittest

from lab.tests.runs import document, measured

from ..claims import FACT, MET, MISSED, UNDECIDED, claims
from ..data import Run
from .sample import sample


def by_name(run):
    return {claim.name: claim for claim in claims(Run(run))}


class Claims(unittest.TestCase):
    def test_each_rests_on_measurements(self):
        found = by_name(sample())
        self.assertLessEqual(
            {"errors", "quota", "chain", "headers", "qps-250m", "qps-1000m", "linear", "wso2-soap-102400", "startup-1000m",
             "memory", "flex-request-size", "added-latency-reply-10KB", "flex-max-qps-beside-bare"},
            set(found),
        )  # fmt: skip
        for name, claim in found.items():
            with self.subTest(name):
                self.assertTrue(claim.method)
                if name != "errors":
                    self.assertTrue(claim.measurements)

    def test_a_goal_that_is_missed_is_missed(self):
        found = by_name(sample())
        # 9 requests per second and millicore: 2250, where 4740 are asked for.
        self.assertEqual(found["qps-250m"].verdict, MISSED)
        self.assertEqual(found["chain"].verdict, MET)
        # 1.2 % ± 2.1 %: at most 2 % is not proved.
        self.assertEqual(found["headers"].verdict, UNDECIDED)
        self.assertEqual(found["linear"].verdict, MET)

    def test_an_error_is_no_detail(self):
        run = sample()
        run["measurements"][0]["errors"] = 1
        claim = by_name(run)["errors"]
        self.assertEqual((claim.verdict, len(claim.measurements)), (MISSED, 1))

    def test_a_broken_quota_is_shown(self):
        run = sample()
        run["measurements"][5]["quota_kept"] = False
        claim = by_name(run)["quota"]
        self.assertEqual((claim.verdict, claim.measurements), (MISSED, [run["measurements"][5]]))

    def test_what_the_load_limited_is_not_held_against_the_gateway(self):
        run = sample()
        for entry in run["measurements"]:
            if entry["scenario"] == "wso2-soap":
                entry["bound_by"] = "load"
        claim = by_name(run)["wso2-soap-500"]
        self.assertEqual(claim.verdict, UNDECIDED)
        self.assertIn("limited by the load generator", claim.figure)

    def test_no_ratio_of_two_machines(self):
        for claim in by_name(sample()).values():
            if "published" in claim.goal and claim.name.startswith(("qps", "wso2")):
                self.assertNotIn("×", claim.figure)
                self.assertIn("of another machine", claim.goal)

    def test_a_line_that_bends_is_missed_if_its_repetitions_agree(self):
        for halved, expected in (((0, 1, 2), MISSED), ((0,), UNDECIDED), ((), MET)):
            with self.subTest(halved):
                run = sample()
                for entry in run["measurements"]:
                    if (
                        entry["scenario"] == "flex-max-qps" and entry["variant"] == "policies"
                        and entry["millicores"] == 500 and entry["repetition"] in halved
                    ):  # fmt: skip
                        entry["requests_per_second"] /= 2
                claim = by_name(run)["linear"]
                self.assertEqual(claim.verdict, expected, claim.figure)
                self.assertIn("bare Envoy", claim.figure)

    def test_a_number_to_reach_has_what_bare_envoy_does_beside_it(self):
        # 14 requests per second and millicore.
        self.assertRegex(by_name(sample())["qps-250m"].figure, r"^2295 ± \d+ requests/s; bare Envoy 3514$")

    def test_ratios_are_of_pairs(self):
        run = document(
            [
                measured("wso2-soap", "a", variant, repetition, speed * weather)
                for repetition, weather in enumerate((1.0, 3.0, 7.0))
                for variant, speed in (("bare", 200.0), ("policies", 100.0))
            ],
            scenarios={
                "wso2-soap": {"title": "t", "generator": "fortio", "variants": {"bare": "b", "policies": "p"}}
            },
        )
        for entry in run["measurements"]:
            entry.update(size=500, delay_ms=0, epoch="compact")
        claim = by_name(run)["wso2-soap-beside-bare"]
        self.assertEqual((claim.verdict, claim.figure), (FACT, "2.00 × (± 0.00)"))

    def test_the_knee_is_the_least_number_of_users_with_nearly_the_most_throughput(self):
        run = document(
            [
                measured("mule-proxy", f"vus-{users}", "bare", 0, qps, connections=users)
                for users, qps in ((10, 100.0), (25, 250.0), (50, 990.0), (100, 1000.0), (200, 5000.0))
            ],
            scenarios={"mule-proxy": {"title": "t", "generator": "k6", "variants": {"bare": "b"}}},
        )
        # What is past the knee has errors.
        run["measurements"][-1]["errors"] = run["measurements"][-1]["requests"] // 2
        self.assertEqual(by_name(run)["mule-proxy-knee"].figure, "b: 990 requests/s at 50 users")


if __name__ == "__main__":
    unittest.main()
