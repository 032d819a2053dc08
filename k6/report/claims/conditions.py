"""Whether the measurements are worth anything: errors and limits."""

from __future__ import annotations

from typing import List

from ..data import Run
from .common import Claim, verdict


def errors(run: Run) -> List[Claim]:
    measured = [entry for entry in run.document["measurements"] if "errors" in entry]
    if not measured:
        return []
    total = sum(entry["requests"] for entry in measured)
    wrong = [entry for entry in measured if entry["errors"]]
    errors = sum(entry["errors"] for entry in measured)
    return [
        Claim(
            "errors", "Replies were right", "no error", f"{errors} of {total} replies wrong", verdict(errors == 0),
            "k6 verifies every reply byte for byte; with fortio all statuses and the sum of all sizes are, and a reply "
            "before and after each measurement byte for byte.",
            wrong,
        )
    ]  # fmt: skip


def quota(run: Run) -> List[Claim]:
    measured = [entry for entry in run.document["measurements"] if "quota_kept" in entry]
    if not measured:
        return []
    most = max(measured, key=lambda entry: entry["gateway"]["millicores"] / entry["millicores"])
    share = most["gateway"]["millicores"] / most["millicores"]
    broken = [entry for entry in measured if not entry["quota_kept"]]
    return [
        Claim(
            "quota", "Gateways stayed within their CPU quota", "at most 5 % above, in every measurement",
            f"at most {share:.1%} of the quota, in {len(measured)} measurements", verdict(not broken),
            f"CPU time of all the gateway's threads, by the scheduler's account; limits by {run.document['cpu_limit']}.",
            broken or [most],
        )
    ]  # fmt: skip
