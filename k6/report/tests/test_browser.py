"""The page in headless Chromium: charts are drawn, no script fails, and it fits a phone. Skipped, and says so, where
there is no Chromium; with PORTCULLIS_REQUIRE_CHROMIUM=1 that is a failure."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html import unescape
from pathlib import Path

from ..claims import claims
from ..data import Run
from ..figures import figures
from ..page import page
from .sample import sample

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# What the browser would fetch for itself is none of the page's business.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)

# Runs before anything else of the page.
WATCH = """<script>
const failures = [];
addEventListener('error', (event) => failures.push(String(event.message || event.target.outerHTML)), true);
addEventListener('unhandledrejection', (event) => failures.push(String(event.reason)));
</script>"""

# Runs when the page is there; what it has seen is left in the document.
PROBE = """<script>
addEventListener('load', () => {
  const charts = [...document.querySelectorAll('figure svg')].map((svg) => {
    const outer = svg.getBoundingClientRect();
    const visible = [...svg.querySelectorAll('.mark')].filter((mark) => {
      const box = mark.getBoundingClientRect();
      const style = getComputedStyle(mark);
      return box.width > 0 && box.height > 0 && box.left >= outer.left - 1 && box.right <= outer.right + 1 &&
        box.top >= outer.top - 1 && box.bottom <= outer.bottom + 1 && (style.fill !== 'none' || style.stroke !== 'none');
    });
    const cut = [...svg.querySelectorAll('text')].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.left < outer.left || box.right > outer.right || box.top < outer.top || box.bottom > outer.bottom;
    });
    return { cut: cut.map((text) => text.textContent), name: svg.closest('figure').id, width: outer.width, height: outer.height, marks: visible.length,
      all: svg.querySelectorAll('.mark').length };
  });
  const mark = document.querySelector('[data-tip]');
  mark.dispatchEvent(new Event('click', { bubbles: true }));
  const tip = document.getElementById('tip');
  const result = { charts, failures, tip: tip.textContent, shown: getComputedStyle(tip).opacity,
    expected: mark.dataset.tip, page: document.documentElement.scrollWidth, window: innerWidth };
  const left = document.createElement('pre');
  left.id = 'probe';
  left.textContent = JSON.stringify(result);
  document.body.append(left);
});
</script>"""


def chromium():
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class InChromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if chromium() is None:
            if os.environ.get("PORTCULLIS_REQUIRE_CHROMIUM") == "1":
                raise AssertionError(f"there is no Chromium: none of {', '.join(NAMES)}")
            reason = f"the report is NOT TESTED IN A BROWSER: there is none of {', '.join(NAMES)}"
            print(reason, file=sys.stderr)
            raise unittest.SkipTest(reason)
        document = sample()
        run = Run(document)
        cls.page = page(document, figures(run), claims(run))
        cls.count = len(figures(run))

    def visit(self, text, width, height):
        """What the probe has seen, and what the browser has logged."""
        watched = text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", PROBE + "</body>", 1)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "index.html"
            file.write_text(watched, encoding="utf-8")
            finished = subprocess.run(
                [chromium(), *FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={width},{height}",
                 "--virtual-time-budget=5000", "--dump-dom", file.as_uri()],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
            )  # fmt: skip
        output = finished.stdout.decode(errors="replace")
        found = re.search(r'<pre id="probe">(.*?)</pre>', output, re.DOTALL)
        self.assertIsNotNone(found, f"{finished.stderr.decode(errors='replace')[-2000:]}\n{output[-500:]}")
        console = [
            line for line in finished.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line
        ]
        return json.loads(unescape(found[1])), console

    def test_every_chart_is_drawn_without_an_error(self):
        for name, width, height in (("desktop", 1280, 900), ("phone", 390, 844)):
            with self.subTest(name):
                seen, console = self.visit(self.page, width, height)
                self.assertEqual(seen["failures"], [])
                self.assertEqual(console, [])
                self.assertEqual(len(seen["charts"]), self.count)
                for chart in seen["charts"]:
                    self.assertGreater(chart["marks"], 0, chart)
                    self.assertEqual(chart["marks"], chart["all"], chart)
                    self.assertGreater(chart["width"], 250, chart)
                    self.assertEqual(chart["cut"], [], f"texts of {chart['name']} are cut off")
                self.assertEqual(seen["window"], width)
                self.assertLessEqual(seen["page"], width, "the page scrolls sideways")

    def test_a_mark_says_what_it_stands_for(self):
        seen, _ = self.visit(self.page, 1280, 900)
        self.assertEqual((seen["tip"], seen["shown"]), (seen["expected"], "1"))

    def test_a_script_that_fails_is_noticed(self):
        seen, console = self.visit(self.page.replace("(() => {", "(() => { missing();", 1), 1280, 900)
        self.assertTrue(any("missing" in failure for failure in seen["failures"]))
        self.assertTrue(console)

    def test_a_chart_that_is_not_drawn_is_noticed(self):
        hidden = self.page.replace("</style>", "#startup .mark { display: none; }</style>", 1)
        seen, _ = self.visit(hidden, 1280, 900)
        marks = {chart["name"]: chart["marks"] for chart in seen["charts"]}
        self.assertEqual(marks["startup"], 0)


if __name__ == "__main__":
    unittest.main()
