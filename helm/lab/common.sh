# shellcheck shell=bash
# What the scripts of the lab agree on.
# shellcheck disable=SC2034 # Others use these.

lab=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$lab/../.." && pwd)

# Everything that a run writes. There is one lab on a machine at a time.
state=${PORTCULLIS_LAB_STATE:-/var/tmp/portcullis-lab}
# The programs, by what they are built from.
programs=$root/.tools/kubernetes/$(cat "$lab"/node/{go.mod,go.sum,main.go,pause/main.go} | sha256sum | cut -c1-16)

kubernetes_version=v1.33.13

# The host's end of the link to the node, and the node's.
host_address=10.77.0.254
node_address=10.77.0.1
link_prefix=24
# Addresses of pods, of Services, and those that load balancers get.
pod_range=10.88.0.0/16
service_range=10.96.0.0/16
balancer_range=10.77.1.0/24
dns_address=10.96.0.10

# The cgroup below which the pods are, in each hierarchy of cgroup v1.
cgroup=portcullis-lab
hierarchies=(cpu cpuacct cpuset memory devices freezer blkio pids systemd unified)

say() {
    printf 'lab: %s\n' "$*" >&2
}

# Ends with 77 if the lab cannot be had here: what needs it was not run, which is not the same as passed.
not_run() {
    printf 'lab: NOT RUN: %s\n' "$*" >&2
    exit 77
}
