# Everything that a newcomer, a developer and CI do. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The crates that `coverage` and `mutants` look at; all of theirs if empty.
CRATES ?=

# Options for every cargo command, such as --locked or --offline.
export CARGO_FLAGS ?=
# How long each fuzz target runs.
export FUZZ_SECONDS ?= 60

# How long `soak` takes.
SOAK_MINUTES ?= 30
PUSH_MINUTES ?= 10

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
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target purpose; do \
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
run: ## Run a gateway with its backends and show its access log; SCENARIO (a folder of envoy-config), PORT, ADMIN_PORT …
	@envoy-config/run --check-ports
	@$(MAKE) build backends >&2
	@envoy-config/run

# A module that traps on demand. It stands apart from the modules, which is what is shipped.
.PHONY: trapping-module
trapping-module: setup
	@echo 'Building the module that traps' >&2
	@cargo build --quiet $(CARGO_FLAGS) --release --target wasm32-wasip1 -p portcullis-trapping-module
	@install -D -m 644 $${CARGO_TARGET_DIR:-target}/wasm32-wasip1/release/portcullis_trapping_module.wasm \
		dist/test/trapping.wasm

.PHONY: test
test: build trapping-module test-lab ## Run all tests, the end-to-end ones against a real Envoy included
	@cargo test --quiet $(CARGO_FLAGS) --workspace --all-features --no-fail-fast

.PHONY: floods
floods: build ## Flood a gateway in 512 MiB with what stays open, beside a bare Envoy (6 minutes; 4 GiB; root)
	@PORTCULLIS_FLOODS=1 cargo test --quiet $(CARGO_FLAGS) --workspace --all-features --test abuse floods -- --nocapture

.PHONY: matrix
matrix: build ## Run the whole reliability matrix in Envoy (5 minutes) and write docs/reliability.md
	@cargo run --quiet $(CARGO_FLAGS) --profile native -p portcullis-reliability

.PHONY: soak
soak: build ## Look for growth under load for SOAK_MINUTES (30), and with 24 pushes a minute for PUSH_MINUTES (10)
	@cargo build --quiet $(CARGO_FLAGS) --profile native -p portcullis-reliability
	@$${CARGO_TARGET_DIR:-target}/native/portcullis-reliability soak $(SOAK_MINUTES)
	@$${CARGO_TARGET_DIR:-target}/native/portcullis-reliability pushes $(PUSH_MINUTES)

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
fuzz: setup ## Run each fuzz target for FUZZ_SECONDS (needs a nightly toolchain); FUZZ_ONLY, FUZZ_KEEP
	@.ci/setup-checks fuzz
	@.ci/fuzz

.PHONY: coverage
coverage: setup ## Measure how much of each crate its tests run; CRATES (folders of filters)
	@.ci/setup-checks coverage
	@.ci/coverage $(CRATES)

.PHONY: mutants
mutants: setup ## Change code and see whether tests notice (hours); CRATES (policy client-id rate-limit), MUTANTS_FLAGS
	@.ci/setup-checks mutants
	@.ci/mutants $(CRATES)

.PHONY: h2spec
h2spec: build ## Run h2spec on Envoy with and without the policies (needs Go)
	@.ci/setup-checks h2spec
	@cargo run --quiet $(CARGO_FLAGS) -p portcullis-abuse --example h2spec -- .tools/bin/h2spec

.PHONY: crs
crs: build ## Send the requests of the OWASP core rule set's tests to Envoy with and without the policies (needs Go)
	@.ci/setup-checks crs
	@cargo run --quiet $(CARGO_FLAGS) -p portcullis-abuse --example crs -- .tools/crs

.PHONY: timing
timing: build ## Measure whether a refusal's time tells of the secret; needs an idle machine
	@cargo run --quiet $(CARGO_FLAGS) --profile native -p portcullis-abuse --example timing

.PHONY: reproducible
reproducible: setup ## Build the modules twice from nothing and compare them
	@.ci/check-reproducible $(MODULES)

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
