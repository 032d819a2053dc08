import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from .. import __main__ as command
from .. import pictures
from .sample import sample


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id"))
        if tag == "a":
            self.links.append(found["href"])
        if tag in ("img", "script", "iframe", "object") or (tag == "link" and found.get("rel") != "icon"):
            self.loaded += [found[name] for name in ("src", "href", "data") if name in found]


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def report(self, document, drawing="pictures are drawn by one test"):
        (self.folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            with mock.patch.object(pictures, "problem", return_value=drawing):
                status = command.main([str(self.folder)])
        self.assertEqual(status, 0, output.getvalue())
        return (self.folder / "report/index.html").read_text(encoding="utf-8")

    def test_needs_nothing_from_elsewhere(self):
        text = self.report(sample())
        self.assertEqual(Links(text).loaded, [])
        self.assertNotRegex(re.sub(r'xmlns="[^"]*"', "", text), r"https?://")
        self.assertNotIn("url(", text)

    def test_every_link_leads_somewhere(self):
        found = Links(self.report(sample()))
        self.assertGreater(len(found.links), 10)
        for link in found.links:
            with self.subTest(link):
                if link.startswith("#"):
                    self.assertIn(link[1:], found.ids)
                else:
                    json.loads((self.folder / "report" / link).read_text(encoding="utf-8"))

    def test_each_claim_has_its_raw_data(self):
        self.report(sample())
        claim = json.loads((self.folder / "report/claims/qps-500m.json").read_text(encoding="utf-8"))
        self.assertEqual(claim["format"], "portcullis-claim/1")
        self.assertEqual({entry["variant"] for entry in claim["measurements"]}, {"policies", "bare"})
        self.assertEqual(claim["run"]["machine"]["cpu"], "Test CPU")

    def test_text_of_a_record_is_no_markup(self):
        text = self.report(sample())
        self.assertNotIn("<two cores>", text)
        self.assertIn("&lt;two cores&gt;", text)

    def test_warns_of_what_makes_figures_doubtful(self):
        doubtful = {**sample(), "complete": False, "load_average_before": [6.0, 1.0, 1.0], "profile": "tiny"}
        text = self.report(doubtful)
        for warning in ("cut short", "load average was 6.0", "its figures mean nothing"):
            self.assertIn(warning, text)
        self.assertNotIn('class="warning"', self.report(sample()))

    def test_says_how_much_was_disturbed(self):
        disturbed = sample()
        for entry in [entry for entry in disturbed["measurements"] if "strangers" in entry][:3]:
            entry["strangers"] = {"millicores": 60.0, "stolen_millicores": 50.0}
        self.assertRegex(self.report(disturbed), r"In 3 of \d+ measurements")

    def test_no_run_is_an_error(self):
        output = io.StringIO()
        with contextlib.redirect_stderr(output):
            self.assertEqual(command.main([str(self.folder / "nothing")]), 2)
        self.assertIn("nothing", output.getvalue())

    def test_pictures_are_drawn(self):
        problem = pictures.problem()
        if problem is not None:
            print(f"the report's pictures are NOT TESTED: {problem}", file=sys.stderr)
            self.skipTest(problem)
        self.report(sample(), drawing=None)
        files = list((self.folder / "report/charts").glob("*.png"))
        self.assertGreater(len(files), 12)
        for file in files:
            content = file.read_bytes()
            self.assertTrue(content.startswith(b"\x89PNG\r\n\x1a\n"))
            self.assertEqual(int.from_bytes(content[16:20], "big"), 920)


if __name__ == "__main__":
    unittest.main()
