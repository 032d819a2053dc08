import re
import unittest
from xml.etree import ElementTree

from lab.tests.runs import document, measured

from ..data import Run
from ..figures import figures
from ..svg import Chart, Point, Series
from .sample import sample

SVG = "{http://www.w3.org/2000/svg}"


def marks(svg, style):
    return re.findall(rf'<(?:rect|circle|path) class="mark (?:fill )?{style}"', svg)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.figures = {figure.name: figure for figure in figures(Run(sample()))}

    def test_there_is_one_for_each_published_kind(self):
        self.assertLessEqual(
            {
                "qps-by-millicores", "mean-by-millicores", "flex-get-qps", "flex-get-latency", "flex-request-size-500m",
                "wso2-soap-compact-100", "mule-client-id-qps", "flex-get-distribution", "tls-fresh", "tls-reused",
                "cpu-used", "memory", "overhead-1", "startup", "soak-memory", "added-latency",
            },
            set(self.figures),
        )  # fmt: skip

    def test_each_is_well_formed_and_has_marks(self):
        for name, figure in self.figures.items():
            with self.subTest(name):
                root = ElementTree.fromstring(figure.svg)
                drawn = [element for element in root.iter() if "mark" in element.get("class", "").split()]
                self.assertGreater(len(drawn), 1)
                self.assertNotIn("nan", figure.svg.lower().replace("dominant", ""))
                self.assertNotIn('inf"', figure.svg)

    def test_marks_are_within_the_picture(self):
        for name, figure in self.figures.items():
            width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', figure.svg).groups())
            for element in ElementTree.fromstring(figure.svg).iter(f"{SVG}circle"):
                with self.subTest(name):
                    self.assertTrue(0 <= float(element.get("cx")) <= width)
                    self.assertTrue(0 <= float(element.get("cy")) <= height)

    def test_published_points_say_whose_machine_it_was(self):
        figure = self.figures["qps-by-millicores"]
        # One is in the legend.
        self.assertEqual(len(marks(figure.svg, "published")), 3 + 1)
        self.assertIn("other machine", figure.svg)
        self.assertIn("the model of the nodes is not said", figure.svg)

    def test_a_throughput_that_the_gateway_did_not_limit_says_so(self):
        run = document(
            [measured("flex-get", "reply-1KB", "bare", 0, 100.0, bound_by="load")],
            scenarios={"flex-get": {"title": "GET", "generator": "fortio", "variants": {"bare": "Envoy"}}},
        )
        drawn = {figure.name: figure.svg for figure in figures(Run(run))}
        self.assertIn("not the gateway&#x27;s limit: load", drawn["flex-get-qps"])

    def test_an_empty_run_has_none(self):
        self.assertEqual(figures(Run(document([]))), [])


class Drawing(unittest.TestCase):
    def test_bars_are_as_high_as_their_values(self):
        series = [Series("a", "bare", [Point(0, 50), Point(1, 100)])]
        svg = Chart("t", "x", "y", series, ["one", "two"], kind="bars").svg()
        low, high = [
            float(height) for height in re.findall(r'class="mark fill bare"[^>]*height="([\d.]+)"', svg)
        ]
        self.assertAlmostEqual(high, 2 * low, delta=0.2)

    def test_titles_are_escaped(self):
        svg = Chart("<script>", "x", "y", [Series("&", "bare", [Point(1, 1, tip='"<b>')])]).svg()
        ElementTree.fromstring(svg)
        self.assertNotIn("<script>", svg)


if __name__ == "__main__":
    unittest.main()
