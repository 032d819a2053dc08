import unittest

from ..bench import Conditions
from ..limits.affinity import Affinity
from ..profiles import PROFILES
from ..scenarios import catalogue, overhead
from ..scenarios.overhead import Overhead
from ..scenarios.startup import Startup
from ..scenarios.steps import Steps


class Everything:
    """A limiter that can set any limit."""

    name = "everything"

    def supports(self, _millicores):
        return True


# Those whose messages k6 makes.
WITH_MESSAGES = ("wso2-soap", "wso2-transport", "wso2-xslt")


def scenarios():
    return [scenario for scenario in catalogue.scenarios() if scenario.name not in WITH_MESSAGES]


class Catalogue(unittest.TestCase):
    def test_names_are_unique_and_each_has_bare_envoy_beside_it(self):
        names = [scenario.name for scenario in catalogue.scenarios()]
        self.assertEqual(len(names), len(set(names)))
        for scenario in catalogue.scenarios():
            if not isinstance(scenario, Overhead):
                self.assertEqual(scenario.variants[0].name, "bare")
                variants = [variant.name for variant in scenario.variants]
                self.assertEqual(len(variants), len(set(variants)))

    def test_every_policy_is_shown_what_it_must_refuse(self):
        for scenario in catalogue.scenarios():
            for variant in getattr(scenario, "variants", []):
                # A rate limit refuses nothing below its limit; k6 looks for its headers.
                if variant.name == "policies" and scenario.name != "mule-rate-limit":
                    self.assertIsNotNone(variant.refuses, scenario.name)

    def test_the_sampled_profile_leaves_time_for_the_build(self):
        conditions = Conditions(PROFILES["sampled"], Everything(), {0, 1})
        chosen = catalogue.selected([], conditions.profile)
        seconds = sum(
            scenario.expected_seconds(conditions) for scenario in chosen if scenario.name not in WITH_MESSAGES
        )
        # And seven minutes for those with messages.
        self.assertLess(seconds, 20 * 60)

    def test_steps_of_a_scenario_have_names_of_their_own(self):
        for profile in PROFILES.values():
            for scenario in scenarios():
                if isinstance(scenario, Steps):
                    names = [step.name for step in scenario.matrix(profile)]
                    self.assertEqual(len(names), len(set(names)), scenario.name)

    def test_what_cannot_be_had_takes_no_time(self):
        cores = {0, 1}
        few = Conditions(PROFILES["sampled"], Affinity(), cores)
        all_of_them = Conditions(PROFILES["sampled"], Everything(), cores)
        for scenario in scenarios():
            self.assertLessEqual(scenario.expected_seconds(few), scenario.expected_seconds(all_of_them))

    def test_a_gateway_that_would_share_the_loads_cores_is_left_out(self):
        for profile, cores, problem in (("sampled", 2, True), ("sampled", 4, False), ("full", 2, False)):
            conditions = Conditions(PROFILES[profile], Everything(), set(range(cores)))
            self.assertEqual(bool(conditions.problem(2000)), problem)

    def test_the_smallest_gateways_start_once_in_the_sampled_profile(self):
        startup = next(scenario for scenario in catalogue.scenarios() if isinstance(scenario, Startup))
        sampled = PROFILES["sampled"]
        self.assertIn(70, [size.millicores for size in startup.sizes(sampled, 0)])
        self.assertNotIn(70, [size.millicores for size in startup.sizes(sampled, 1)])


class OverheadReports(unittest.TestCase):
    def test_a_variant_is_compared_with_its_own_proxy_alone(self):
        report = {
            "loads": [
                {
                    "title": "GET",
                    "variants": [
                        {"name": "bare", "title": "bare", "microseconds": [50.0, 60.0]},
                        {"name": "no-op", "title": "no-op", "over": "bare", "microseconds": [58.0, 67.0]},
                        {"name": "nginx", "title": "nginx", "microseconds": [30.0, 31.0]},
                        {"name": "nginx-xslt", "title": "x", "over": "nginx", "microseconds": [90.0, 95.0]},
                    ],
                }
            ]
        }
        found = overhead.measurements("overhead", report, "overhead.json")
        added = {(entry["variant"], entry["repetition"]): entry["added_cpu_us"] for entry in found}
        self.assertEqual((added["no-op", 0], added["no-op", 1]), (8.0, 7.0))
        self.assertEqual((added["nginx-xslt", 0], added["nginx-xslt", 1]), (60.0, 64.0))


if __name__ == "__main__":
    unittest.main()
