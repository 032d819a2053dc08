"""The cases that the chart is tested with: values files, and what helm makes of them."""

import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
CHART = ROOT / "helm" / "portcullis"
TOOLS = ROOT / ".tools" / "bin"

# What the cluster is taken for where a case does not say.
CLUSTER = ["--kube-version", "1.33.0"]


@dataclass
class Case:
    """A values file. In its first lines `# helm: …` has options for helm, `# refused: …` a pattern of the message
    with which it must be refused."""

    path: Path

    @property
    def name(self):
        return self.path.stem

    def _said(self, what):
        found = re.search(rf"^# {what}: (.*)$", self.path.read_text(encoding="utf-8"), re.MULTILINE)
        return found.group(1) if found else ""

    @property
    def options(self):
        said = shlex.split(self._said("helm"))
        return said if "--kube-version" in said else CLUSTER + said

    @property
    def refused(self):
        return self._said("refused")


def all_in(folder):
    cases = [Case(path) for path in sorted(folder.glob("*.yaml"))]
    if not cases:
        raise RuntimeError(f"{folder} has no cases")
    return cases


def render(case):
    """What `helm template` prints, or its error: exactly one of the two."""
    run = subprocess.run(
        [TOOLS / "helm", "template", "test", CHART, "--namespace", "shop", "--values", case.path, *case.options],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return (run.stdout, "") if run.returncode == 0 else ("", run.stderr)


def render_consumer():
    """What an application's chart makes that includes the named templates: the text, and the error, as `render`."""
    with tempfile.TemporaryDirectory() as folder:
        chart = Path(folder) / "shop"
        shutil.copytree(ROOT / "helm" / "tests" / "consumer", chart)
        shutil.copytree(CHART, chart / "charts" / "portcullis")
        run = subprocess.run(
            [TOOLS / "helm", "template", "test", chart, "--namespace", "shop", *CLUSTER],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    return (run.stdout, "") if run.returncode == 0 else ("", run.stderr)


def objects(rendered):
    return [document for document in yaml.safe_load_all(rendered) if document]
