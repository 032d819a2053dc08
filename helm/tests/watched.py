"""Whether the dashboard and the alerts ask for metrics that a gateway has: names, labels and their values.

A query for what does not exist is empty, and an alert on it never fires; nothing else says so.
"""

import json
import re

# Who a series is of, which Prometheus adds, and what the histogram's buckets have.
ADDED = {"namespace", "job", "pod", "le"}
METRIC = re.compile(r"\b((?:portcullis|envoy)_[a-z0-9_]+)\s*(\{[^}]*\})?")
MATCHER = re.compile(r'([a-z_]+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
SAMPLE = re.compile(r"^([a-z0-9_]+)(?:\{(.*)\})? ")


def series(metrics):
    """The label sets of each metric, by its name."""
    found = {}
    for line in metrics.splitlines():
        sample = SAMPLE.match(line)
        if sample:
            labels = dict(re.findall(r'([a-z_]+)="([^"]*)"', sample.group(2) or ""))
            found.setdefault(sample.group(1), []).append(labels)
    return found


def queries(objects):
    """What is asked by the dashboard and by the alerts among the objects: pairs of where, and a query."""
    for entry in objects:
        if entry["kind"] == "PrometheusRule":
            for group in entry["spec"]["groups"]:
                for rule in group["rules"]:
                    yield f"alert {rule['alert']}", rule["expr"]
        if entry["kind"] == "ConfigMap" and "portcullis.json" in entry["data"]:
            dashboard = json.loads(entry["data"]["portcullis.json"])
            for variable in dashboard["templating"]["list"]:
                if variable["type"] == "query":
                    yield f"variable {variable['name']}", variable["query"]
            for panel in dashboard["panels"]:
                for target in panel.get("targets", []):
                    yield f"panel {panel['title']}", target["expr"]


def matches(labels, matchers):
    """Whether a series is one that the matchers select; a label that it lacks is empty."""
    for name, operator, value in matchers:
        if name in ADDED:
            continue
        has = labels.get(name, "")
        equal = bool(re.fullmatch(value, has)) if "~" in operator else has == value
        if equal == operator.startswith("!"):
            return False
    return True


def problems(query, known):
    found = []
    # Names of labels that a sum is grouped by are no metrics.
    without_groups = re.sub(r"\bby \([^)]*\)", "", query)
    grouped = {name for names in re.findall(r"\bby \(([^)]*)\)", query) for name in re.split(r",\s*", names)}
    metrics = METRIC.findall(without_groups)
    if not metrics:
        found.append(f"no metric in {query}")
    for name, selector in metrics:
        if name not in known:
            found.append(f"no metric {name}")
            continue
        matchers = MATCHER.findall(selector)
        chosen = [labels for labels in known[name] if matches(labels, matchers)]
        # The first 5xx makes its counter; before there is none of that class.
        if not chosen and 'envoy_response_code_class="5"' in selector:
            matchers = [matcher for matcher in matchers if matcher[0] != "envoy_response_code_class"]
            chosen = [labels for labels in known[name] if matches(labels, matchers)]
        if not chosen:
            found.append(f"no series {name}{selector}")
        asked = {matcher[0] for matcher in matchers} | grouped
        has = {label for labels in known[name] for label in labels} | ADDED
        found += [f"{name} has no label {label}" for label in sorted(asked - has)]
    if query.count("(") != query.count(")") or query.count("{") != query.count("}"):
        found.append(f"brackets of {query}")
    return found


def checks(objects, metrics):
    """Pairs of what was looked at and the problems found."""
    known = series(metrics)
    asked = list(queries(objects))
    where = {name.split()[0] for name, _ in asked}
    yield "there are alerts, panels and variables", [] if where == {"alert", "panel", "variable"} else sorted(where)
    for what in sorted({name for name, _ in asked}):
        yield (
            f"{what} asks for what there is",
            [problem for name, query in asked if name == what for problem in problems(query, known)],
        )
    # The other way round: each counter of a policy is to be seen somewhere.
    named = {name for _, query in asked for name, _ in METRIC.findall(query)}
    yield (
        "each counter of a policy is shown",
        sorted(name for name in known if name.startswith("portcullis_") and name not in named),
    )
    yield (
        "alerts have a severity and say what is wrong",
        [
            rule["alert"]
            for entry in objects
            if entry["kind"] == "PrometheusRule"
            for group in entry["spec"]["groups"]
            for rule in group["rules"]
            if rule["labels"]["severity"] not in {"warning", "critical"}
            or not {"summary", "description"} <= set(rule["annotations"])
        ],
    )
