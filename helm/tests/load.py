"""Checks of helm/load: its manifests, and what is made of measurements. The cluster that they run in is helm/lab's."""

import re
import subprocess
import sys

import yaml

from cases import CHART, ROOT, TOOLS

LOAD = ROOT / "helm" / "load"


def checks(schemas):
    for name in ("job", "testrun", "bare"):
        path = LOAD / f"{name}.yaml"
        yield f"{name}: kinds", kinds(path, schemas)
        yield f"{name}: versions", list(other_versions(path))
    yield "tests", unit_tests()


def kinds(path, schemas):
    run = subprocess.run(
        [TOOLS / "kubeconform", "-strict", "-schema-location", schemas, path],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return (run.stdout + run.stderr).splitlines() if run.returncode else []


def other_versions(path):
    """Images that are not of the version that the chart, and the tests, have."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    requirements = (ROOT / ".ci" / "requirements.txt").read_text(encoding="utf-8")
    expected = {
        f"{values['envoy']['image']['repository']}:{values['envoy']['image']['tag']}",
        f"{values['modules']['image']['repository']}:{chart['appVersion']}",
        "docker.io/grafana/k6:" + re.search(r"^k6==(\S+)", requirements, re.MULTILINE).group(1),
    }
    for image in re.findall(r"^\s*-? ?image: (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        if image not in expected:
            yield f"{image} is none of {', '.join(sorted(expected))}"


def unit_tests():
    run = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "discover", "--quiet", "--start-directory", LOAD],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return (run.stdout + run.stderr).splitlines() if run.returncode else []
