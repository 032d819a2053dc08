"""The lab: measures gateways under load, beside each other, within the CPU and memory that they would have in a
cluster. README.md in this folder says how; `make bench` runs it."""
