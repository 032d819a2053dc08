# Everything that a newcomer, a developer and CI do. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Options for every cargo command, such as --locked or --offline.
export CARGO_FLAGS ?=
# How long each fuzz target runs.
export FUZZ_SECONDS ?= 60

# Options of the overhead measurement: see k6/overhead/README.md.
OVERHEAD_FLAGS ?=
# Options of the benchmarks: see k6/lab/README.md.
BENCH_FLAGS ?=
SCENARIO ?=
PROFILE ?=
RUN ?=
REPORT_FLAGS ?=
# Python with the lab and its report.
LAB := PYTHONPATH=k6 PYTHONDONTWRITEBYTECODE=1 .tools/venv/bin/python
# Options of the measurement of transformations: see k6/transform/README.md.
TRANSFORM_FLAGS ?=

# One module for each folder of filters/modules; its package is portcullis-<folder>-module.
MODULES ?= $(notdir $(patsubst %/,%,$(wildcard filters/modules/*/)))

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target purpose; do \
		printf '  make %-15s %s\n' "$$target" "$$purpose"; \
	done

.PHONY: setup
setup: ## Install the Rust toolchain, Envoy and k6 at the pinned versions, without root
	@.ci/setup

.PHONY: build
build: setup ## Build the modules into dist/ and report on them
	@.ci/build-modules $(MODULES)

.PHONY: backends
backends: setup
	@echo 'Building the backends' >&2
	@cargo build --quiet $(CARGO_FLAGS) --profile native -p portcullis-backends

.PHONY: run
run: ## Run the gateway with its backends and show its access log; PORT, ADMIN_PORT, AUTH_PORT, ECHO_PORT
	@envoy-config/run --check-ports
	@$(MAKE) build backends >&2
	@envoy-config/run

.PHONY: test
test: build test-lab ## Run all tests, the end-to-end ones against a real Envoy included
	@cargo test --quiet $(CARGO_FLAGS) --workspace --all-features --no-fail-fast

.PHONY: lint
lint: build ## Check formatting, lints, shell scripts, licences and the Envoy configurations
	@.ci/lint $(MODULES)

.PHONY: fmt
fmt: setup ## Format the code
	@cargo fmt --all

.PHONY: test-load
test-load: build backends ## Test the load scripts with their quick profile: they pass, and fail where they must
	@k6/tests/run

.PHONY: images
images: build ## Build the container images and the OCI artifacts of the modules into dist/images, without Docker
	@helm/images/build

.PHONY: test-helm
test-helm: build backends ## Test the chart without a cluster: what it renders, refuses, and does in a real Envoy
	@.ci/setup-helm
	@.tools/helm-venv/bin/python helm/tests/run

.PHONY: test-k8s
test-k8s: build ## Test the chart in a real single-node Kubernetes (Linux, root; first 15 CPU minutes of building)
	@helm/lab/run

.PHONY: test-istio
test-istio: build ## Test the policies in Istio, without Kubernetes (Linux; first 10 CPU minutes of building)
	@envoy-config/istio/lab/run

.PHONY: fuzz
fuzz: setup ## Run each fuzz target for FUZZ_SECONDS (needs a nightly toolchain and cargo-fuzz)
	@.ci/fuzz

# What `overhead` and `bench` measure with.
.PHONY: overhead-programs
overhead-programs: build backends
	@cargo build --quiet $(CARGO_FLAGS) --release --target wasm32-wasip1 \
		-p portcullis-sdk-no-op-module -p portcullis-sdk-headers-module
	@for module in no-op headers; do \
		install -D -m 644 \
			$${CARGO_TARGET_DIR:-target}/wasm32-wasip1/release/portcullis_sdk_$$(echo $$module | tr - _)_module.wasm \
			dist/bench/sdk-$$module.wasm; \
	done
	@cargo build --quiet $(CARGO_FLAGS) --profile native -p portcullis-overhead

.PHONY: overhead
overhead: overhead-programs ## Measure the CPU time that filters add to a request, beside bare Envoy; OVERHEAD_FLAGS
	@$${CARGO_TARGET_DIR:-target}/native/portcullis-overhead $(OVERHEAD_FLAGS)

.PHONY: bench
bench: overhead-programs ## Run the benchmarks and make their report; SCENARIO, PROFILE (sampled, full, tiny), BENCH_FLAGS
	@$(LAB) -m lab $(if $(PROFILE),--profile $(PROFILE)) $(if $(SCENARIO),--scenario $(SCENARIO)) $(BENCH_FLAGS)

.PHONY: report
report: setup ## Make the report of a run of the benchmarks; RUN (its folder or run.json; the latest), REPORT_FLAGS
	@$(LAB) -m report $(RUN) $(REPORT_FLAGS)

.PHONY: bench-compare
bench-compare: setup ## Compare two runs of the benchmarks; BASE, NEW. Fails if NEW is worse, beyond noise
	@$(LAB) -m lab.compare $(BASE) $(NEW)

.PHONY: test-lab
test-lab: setup ## Test the benchmarks' own code, without measuring
	@$(LAB) -m unittest discover --quiet --start-directory k6/lab/tests --top-level-directory k6
	@$(LAB) -m unittest discover --quiet --start-directory k6/report/tests --top-level-directory k6

.PHONY: test-bench
test-bench: overhead-programs test-lab ## Test the benchmarks by short runs of real gateways; needs an idle machine
	@$(LAB) k6/tests/bench

.PHONY: bench-transform
bench-transform: setup ## Measure the XSLT engine, native and inside Wasm, beside libxslt; TRANSFORM_FLAGS
	@cargo build --quiet $(CARGO_FLAGS) --release -p portcullis-transform-engine
	@cargo build --quiet $(CARGO_FLAGS) --release --target wasm32-wasip1 -p portcullis-transform-engine
	@target=$${CARGO_TARGET_DIR:-target} && mkdir -p dist/bench && \
		cp $$target/release/portcullis-transform-engine dist/bench/transform-engine && \
		cp $$target/wasm32-wasip1/release/portcullis-transform-engine.wasm dist/bench/transform-engine.wasm
	@k6/transform/build-libxslt dist/bench/transform-libxslt
	@cargo run --quiet $(CARGO_FLAGS) --profile native -p portcullis-transform-bench -- $(TRANSFORM_FLAGS)

.PHONY: docs
docs: setup ## Generate the reference documentation from the configuration types
	@cargo run --quiet $(CARGO_FLAGS) -p portcullis-cli -- docs

.PHONY: clean
clean: ## Remove what was built, not what was installed (.tools)
	@rm -rf dist
	@cargo clean --quiet
