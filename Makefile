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

# One module for each folder of filters/modules; its package is portcullis-<folder>-module.
MODULES ?= $(notdir $(patsubst %/,%,$(wildcard filters/modules/*/)))

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target purpose; do \
		printf '  make %-8s %s\n' "$$target" "$$purpose"; \
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
test: build ## Run all tests, the end-to-end ones against a real Envoy included
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

.PHONY: fuzz
fuzz: setup ## Run each fuzz target for FUZZ_SECONDS (needs a nightly toolchain and cargo-fuzz)
	@.ci/fuzz

.PHONY: overhead
overhead: build backends ## Measure the CPU time that filters add to a request, beside bare Envoy; OVERHEAD_FLAGS
	@cargo build --quiet $(CARGO_FLAGS) --release --target wasm32-wasip1 \
		-p portcullis-sdk-no-op-module -p portcullis-sdk-headers-module
	@for module in no-op headers; do \
		install -D -m 644 \
			$${CARGO_TARGET_DIR:-target}/wasm32-wasip1/release/portcullis_sdk_$$(echo $$module | tr - _)_module.wasm \
			dist/bench/sdk-$$module.wasm; \
	done
	@cargo run --quiet $(CARGO_FLAGS) --profile native -p portcullis-overhead -- $(OVERHEAD_FLAGS)

.PHONY: docs
docs: setup ## Generate the reference documentation from the configuration types
	@cargo run --quiet $(CARGO_FLAGS) -p portcullis-cli -- docs

.PHONY: clean
clean: ## Remove what was built, not what was installed (.tools)
	@rm -rf dist
	@cargo clean --quiet
