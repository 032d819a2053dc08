"""Whether the pods that the chart renders hang together: mounts, Secrets, ends. The API server checks none of it."""

import json
import re

import envoy_configs

CONTROLLERS = {"Deployment"}


def checks(objects):
    """Pairs of what was looked at and the problems found."""
    files = {
        entry["metadata"]["name"]: "".join(entry["data"].values()) for entry in envoy_configs.config_maps(objects)
    }
    for entry in objects:
        if entry["kind"] == "Pod":
            yield f"{entry['metadata']['name']}: mounts", mount_problems(entry["spec"])
        if entry["kind"] in CONTROLLERS:
            name, pod = entry["metadata"]["name"], entry["spec"]["template"]["spec"]
            yield f"{name}: mounts", mount_problems(pod)
            yield f"{name}: secrets", secret_problems(pod, files)
            yield f"{name}: end", end_problems(pod)
    for entry in objects:
        if entry["kind"] == "MutatingAdmissionPolicy":
            (mounted,) = [other["data"]["envoy.yaml"] for other in envoy_configs.config_maps(objects)]
            same = envoy_configs.as_injected(injected(entry)) == mounted
            yield "what is injected is what is mounted elsewhere", [] if same else ["it differs"]


def injected(policy):
    """The configuration that a MutatingAdmissionPolicy adds to pods, of its pieces, with a line's end as mounted ones have
    it."""
    pieces = [
        json.loads(variable["expression"])
        for variable in policy["spec"]["variables"]
        if variable["name"].startswith("piece")
    ]
    return "".join(pieces) + "\n"


def all_containers(pod):
    return pod.get("initContainers", []) + pod["containers"]


def mount_problems(pod):
    volumes = [volume["name"] for volume in pod.get("volumes", [])]
    found = [f"two volumes {name}" for name in set(volumes) if volumes.count(name) > 1]
    used = set()
    for container in all_containers(pod):
        mounts = container.get("volumeMounts") or []
        used |= {mount["name"] for mount in mounts}
        found += [
            f"{container['name']}: no volume {mount['name']}" for mount in mounts if mount["name"] not in volumes
        ]
        program = [word for word in words(container) if word.startswith("/opt/portcullis/")]
        if program and pod.get("volumes") and "portcullis-modules" in volumes:
            if not any(mount["mountPath"] == "/opt/portcullis" for mount in mounts):
                found.append(f"{container['name']}: no {program[0]}")
    return found + [f"nobody mounts {name}" for name in set(volumes) - used]


def words(container):
    hook = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [])
    return [*container.get("command", []), *container.get("args", []), *hook]


def secret_problems(pod, files):
    """Every file of a Secret that Envoy is to read is asked for by its key, and looked at before Envoy starts."""
    found = []
    content = "".join(
        files.get(volume["configMap"]["name"], "") for volume in pod["volumes"] if "configMap" in volume
    )
    wanted = set(envoy_configs.SECRET_FILE.findall(content))
    items = {
        (volume["secret"]["secretName"], item["key"])
        for volume in pod["volumes"]
        if "secret" in volume
        for item in volume["secret"].get("items", [])
    }
    found += [f"{'/'.join(file)}: read or mounted, not both" for file in wanted ^ items]
    envoy = next(container for container in all_containers(pod) if container["name"] == "envoy")
    mounted = {mount["mountPath"] for mount in envoy["volumeMounts"]}
    found += [f"{name}: not mounted" for name, _ in wanted if f"/etc/portcullis/secrets/{name}" not in mounted]
    checkers = [container for container in pod.get("initContainers", []) if container["name"] == "portcullis-secrets"]
    if not wanted:
        return found + (["there is nothing to check"] if checkers else [])
    if len(checkers) != 1:
        return [*found, "nobody checks the Secrets"]
    (checker,) = checkers
    arguments = checker["args"]
    credentials = set(re.findall(envoy_configs.SECRET_FILE, "\n".join(arguments[: arguments.index("--")])))
    rest = wanted - credentials
    if {key for _, key in rest} - {"tls.crt", "tls.key", "ca.crt"}:
        found.append(f"not checked: {rest}")
    if bool(rest) != ("/etc/portcullis/envoy/secrets.yaml" in arguments):
        found.append("certificates are not checked, or there are none")
    if checker["volumeMounts"] != envoy["volumeMounts"]:
        found.append("what is checked is not what Envoy sees")
    return found


def end_problems(pod):
    """Everybody stays until Envoy has drained."""
    found = []
    patience = 0
    for container in all_containers(pod):
        if container["name"].startswith("portcullis-"):
            continue
        hook = container.get("lifecycle", {}).get("preStop", {})
        if "exec" in hook:
            program, verb, admin, _least, most = hook["exec"]["command"]
            if (program, verb, admin) != ("/opt/portcullis/portcullis-pod", "drain", "127.0.0.1:9901"):
                found.append(f"{container['name']}: {hook}")
            patience = max(patience, int(most))
        elif "sleep" in hook:
            patience = max(patience, hook["sleep"]["seconds"])
        else:
            found.append(f"{container['name']}: ends before Envoy has drained")
        if "sleep" in hook and "exec" not in hook and container["name"] != "envoy":
            envoy = next(other for other in all_containers(pod) if other["name"] == "envoy")
            if hook["sleep"]["seconds"] < int(envoy["lifecycle"]["preStop"]["exec"]["command"][-1]):
                found.append(f"{container['name']}: sleeps for less than Envoy may drain")
    if pod["terminationGracePeriodSeconds"] <= patience:
        found.append(f"killed after {pod['terminationGracePeriodSeconds']} s, in the middle of {patience} s")
    return found
