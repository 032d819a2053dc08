"""kubectl, as `measure` uses it: pods, their limits of CPU time, what they use, and load as a Job."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "k6"))

from lab import account  # noqa: E402
from lab.limits import Throttling  # noqa: E402

Json = Dict[str, Any]

JOB = HERE / "job.yaml"
# What says how much a container uses, and where it lies: in pods of the chart, in those of the load, in the backends'.
PROGRAM = "portcullis-pod"
PLACES = ["/opt/portcullis", "/tools", "/usr/bin"]

# k6's exit status when thresholds were crossed: the figures are there, and say so.
CROSSED = 99
# How long to wait for a resize, for a pod to start, and for a run beyond the time that it says it takes.
RESIZE_SECONDS, START_SECONDS, GRACE_SECONDS = 60, 180, 180
# How long a series of samples is at most: nobody leaves a sampler in a pod for good.
LONGEST_SECONDS = 24 * 3600


class Failure(Exception):
    """What cannot be measured, and why."""


def kubectl(namespace: str, *arguments: str, stdin: Optional[str] = None) -> str:
    command = ["kubectl", "--namespace", namespace, *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise Failure(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def get(namespace: str, *arguments: str) -> Json:
    return json.loads(kubectl(namespace, "get", *arguments, "--output", "json"))


class Container:
    """A container of the one pod that a selector finds."""

    def __init__(self, namespace: str, selector: str, name: str = ""):
        found = [
            pod
            for pod in get(namespace, "pods", "--selector", selector)["items"]
            if "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] in ("Pending", "Running")
        ]
        if len(found) != 1:
            raise Failure(f"{selector}: {len(found)} pods in {namespace}, where one is measured at a time")
        self.namespace, (self._pod,) = namespace, found
        self.pod = self._pod["metadata"]["name"]
        self.name = name or self._pod["spec"]["containers"][0]["name"]
        self._program = ""
        self._before = self._cpu()

    def _cpu(self) -> Tuple[str, str]:
        """Request and limit, as they stand in the pod; nothing where there is none."""
        resources = self._spec().get("resources", {})
        return resources.get("requests", {}).get("cpu", ""), resources.get("limits", {}).get("cpu", "")

    @property
    def kind(self) -> str:
        """`containers`, or `initContainers` for a native sidecar."""
        for kind in ("containers", "initContainers"):
            if any(entry["name"] == self.name for entry in self._pod["spec"].get(kind, [])):
                return kind
        raise Failure(f"pod {self.pod} has no container {self.name}")

    @property
    def node(self) -> str:
        return self._pod["spec"]["nodeName"]

    @property
    def image(self) -> str:
        return self._spec()["image"]

    @property
    def labels(self) -> Dict[str, str]:
        return self._pod["metadata"].get("labels", {})

    @property
    def memory_bytes(self) -> Optional[int]:
        limit = self._spec().get("resources", {}).get("limits", {}).get("memory")
        return int(quantity(limit)) if limit else None

    @property
    def millicores(self) -> int:
        """The limit of CPU time. Raises Failure where there is none."""
        _, limit = self._cpu()
        if not limit:
            raise Failure(f"pod {self.pod} has no limit of CPU time")
        return round(1000 * quantity(limit))

    def _spec(self) -> Json:
        (found,) = [entry for entry in self._pod["spec"][self.kind] if entry["name"] == self.name]
        return found

    def resize(self, millicores: int) -> None:
        """Gives the running container another limit of CPU time, and sees that the kernel has it. Request and limit
        are equal, or the scheduler's share of a busy node would be measured, and not the limit."""
        self._resize(f"{millicores}m", f"{millicores}m", millicores)

    def give_back(self) -> None:
        """The request and the limit that it had at first."""
        request, limit = self._before
        if (request, limit) != self._cpu():
            self._resize(request or limit, limit, round(1000 * quantity(limit)))

    def _resize(self, request: str, limit: str, millicores: int) -> None:
        entry = {"name": self.name, "resources": {"requests": {"cpu": request}, "limits": {"cpu": limit}}}
        patch = json.dumps({"spec": {self.kind: [entry]}})
        kubectl(self.namespace, "patch", "pod", self.pod, "--subresource", "resize", "--patch", patch)
        deadline = time.monotonic() + RESIZE_SECONDS
        while True:
            quota = self.quota_millicores()
            if quota == millicores:
                break
            if time.monotonic() > deadline:
                conditions = [
                    f"{condition['type']}: {condition.get('message', '')}"
                    for condition in get(self.namespace, "pod", self.pod)["status"]["conditions"]
                    if condition["type"].startswith("PodResize")
                ]
                raise Failure(f"pod {self.pod}: quota {quota}, not {millicores} millicores; {conditions}")
            time.sleep(0.5)
        self._pod = get(self.namespace, "pod", self.pod)

    def quota_millicores(self) -> Optional[int]:
        """What the kernel allows the container, read in its control group."""
        return json.loads(self._ask("0").splitlines()[1])["quota_millicores"]

    def machine(self) -> Json:
        """The node's processor and load averages."""
        return json.loads(self._ask("0").splitlines()[0])

    def _ask(self, seconds: str) -> str:
        return kubectl(self.namespace, "exec", self.pod, "--container", self.name, "--", self.program, "usage", seconds)

    @property
    def program(self) -> str:
        if not self._program:
            problems = []
            for place in PLACES:
                self._program = f"{place}/{PROGRAM}"
                try:
                    self._ask("0")
                    break
                except Failure as failure:
                    problems.append(str(failure))
            else:
                self._program = ""
                raise Failure(f"{PROGRAM} does not run in pod {self.pod}:\n" + "\n".join(problems))
        return self._program


def quantity(text: str) -> float:
    """A quantity of Kubernetes: `500m`, `2`, `512Mi`."""
    units = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
    for unit in sorted(units, key=len, reverse=True):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * units[unit]
    return float(text)


class Usage:
    """What a container uses while a `with` block lasts."""

    def __init__(self, role: str, container: Container):
        self.role = role
        self.samples: List[account.Sample] = []
        self._process = subprocess.Popen(
            [
                "kubectl", "--namespace", container.namespace, "exec", container.pod, "--container", container.name,
                "--", container.program, "usage", str(LONGEST_SECONDS),
            ],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        )  # fmt: skip
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Usage":
        self._thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not self.samples:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"{self.role}: there are no samples of what it uses")
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        # The first line is about the machine.
        self._process.stdout.readline()
        for line in self._process.stdout:
            if line.endswith("}\n"):
                self.samples.append(sample(self.role, json.loads(line)))


def sample(role: str, read: Json) -> account.Sample:
    return account.Sample(
        at=read["at"],
        cpu={role: read["cpu_us"] / 1e6},
        resident=read["resident_bytes"],
        throttling=Throttling(read["periods"], read["throttled_periods"], read["throttled_us"] / 1e6),
    )


class Load:
    """A run of a script: the Job of job.yaml with other variables. It is deleted when the `with` block ends."""

    def __init__(self, namespace: str, variables: Dict[str, str], hosts: Dict[str, str]):
        self._namespace = namespace
        job = json.loads(kubectl(namespace, "create", "--dry-run=client", "--output", "json", "--filename", str(JOB)))
        self.name = job["metadata"]["name"]
        pod = job["spec"]["template"]["spec"]
        pod["hostAliases"] = [{"hostnames": [host], "ip": address} for host, address in hosts.items()]
        (k6,) = pod["containers"]
        kept = [entry for entry in k6["env"] if entry["name"] not in variables]
        k6["env"] = kept + [{"name": name, "value": value} for name, value in variables.items()]
        self.image = k6["image"]
        self._job = job

    def __enter__(self) -> "Load":
        self._delete()
        kubectl(self._namespace, "create", "--filename", "-", stdin=json.dumps(self._job))
        return self

    def __exit__(self, *_: object) -> None:
        self._delete()

    def _delete(self) -> None:
        kubectl(self._namespace, "delete", "job", self.name, "--ignore-not-found", "--cascade=foreground")

    def container(self) -> Container:
        """The one that makes the load, once it runs."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            for pod in self._pods():
                if any("running" in entry["state"] for entry in pod["status"].get("containerStatuses", [])):
                    return Container(self._namespace, f"job-name={self.name}", "k6")
                if pod["status"]["phase"] in ("Failed", "Succeeded"):
                    raise Failure(f"the load has ended at once:\n{self._log()[-2000:]}")
            time.sleep(0.1)
        raise Failure(f"the load does not start: {[pod['status'] for pod in self._pods()]}")

    def summary(self, seconds: float) -> Json:
        """What the script has measured, when it is over."""
        deadline = time.monotonic() + seconds + GRACE_SECONDS
        while time.monotonic() < deadline:
            for pod in self._pods():
                for entry in pod["status"].get("containerStatuses", []):
                    ended = entry["state"].get("terminated")
                    if ended:
                        if ended["exitCode"] not in (0, CROSSED):
                            raise Failure(f"k6 has ended with status {ended['exitCode']}:\n{self._log()[-2000:]}")
                        return summary_in(self._log())
            time.sleep(0.5)
        raise Failure(f"the load does not end:\n{self._log()[-2000:]}")

    def _pods(self) -> List[Json]:
        return get(self._namespace, "pods", "--selector", f"job-name={self.name}")["items"]

    def _log(self) -> str:
        return kubectl(self._namespace, "logs", f"job/{self.name}", "--container", "k6")


def summary_in(log: str) -> Json:
    """The summary, which stands in the log among whatever else k6 says."""
    start = log.find('{\n  "format": "portcullis-load/')
    if start < 0:
        raise Failure(f"there is no summary in k6's log:\n{log[-2000:]}")
    return json.JSONDecoder().raw_decode(log[start:])[0]
