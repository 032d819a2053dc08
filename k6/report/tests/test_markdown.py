import json
import unittest
from pathlib import Path

from lab.results import load, text_of

from .. import markdown
from ..claims import claims
from ..data import Run
from .sample import sample

DOCS = Path(__file__).resolve().parents[3] / "docs"


class Figures(unittest.TestCase):
    def test_every_claim_has_a_line_with_its_raw_data(self):
        document = sample()
        found = claims(Run(document))
        text = markdown.table(document, found, "bench")
        for claim in found:
            self.assertIn(f"(bench/claims/{claim.name}.json)", text)
        self.assertEqual(len(text.splitlines()), 4 + len(found))

    def test_what_is_between_the_marks_is_replaced(self):
        text = f"a\n{markdown.BEGIN}\nold\n{markdown.END}\nb\n"
        new = markdown.replaced(text, "new\n")
        self.assertEqual(new, f"a\n{markdown.BEGIN}\n\nnew\n\n{markdown.END}\nb\n")
        self.assertEqual(markdown.replaced(new, "new\n"), new)

    def test_a_document_without_marks_is_refused(self):
        with self.assertRaises(markdown.NoPlace):
            markdown.replaced("a\n", "new\n")

    def test_the_published_figures_are_those_of_the_published_run(self):
        if not (DOCS / "bench/run.json").exists():
            self.skipTest("no run is published in docs/bench")
        document = load(DOCS / "bench/run.json")
        text = (DOCS / "performance.md").read_text(encoding="utf-8")
        self.assertEqual(
            text, markdown.replaced(text, markdown.table(document, claims(Run(document)), "bench"))
        )


class Records(unittest.TestCase):
    def test_a_record_has_a_line_for_each_measurement(self):
        document = sample()
        text = text_of(document)
        self.assertEqual(json.loads(text), document)
        self.assertGreater(len(text.splitlines()), len(document["measurements"]))
        self.assertEqual(
            json.loads(text_of({**document, "measurements": []})), {**document, "measurements": []}
        )


if __name__ == "__main__":
    unittest.main()
