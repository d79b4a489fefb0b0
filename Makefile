# Set-up, checks and tests. Needs only make, Python >= 3.10 and the package registry; `make` alone lists the targets.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON ?= python3 python3.13 python3.12 python3.11 python3.10
PYTEST_ARGS ?=
WORKERS ?= 2
# Whole modules or classes share a running Airflow or JVM.
SCENES := tests/airflow tests/spark

BIN := .venv/bin
READY := .venv/.ready
LOCK := requirements/dev.txt
SOURCES := truewatch_lineage airflow_plugin dbt_wrapper spark_conf

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): $(LOCK) pyproject.toml
	@if ! $(BIN)/python -c '' 2>/dev/null; then \
		for candidate in $(PYTHON); do \
			if "$$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then \
				python="$$candidate"; break; \
			fi; \
		done; \
		if [ -z "$$python" ]; then \
			echo "No Python >= 3.10 with venv among: $(PYTHON)." >&2; \
			echo "Install one (on Debian: apt-get install python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
			exit 1; \
		fi; \
		echo "Making .venv with $$("$$python" --version)"; \
		"$$python" -m venv --clear .venv; \
	fi
	@echo "Installing what $(LOCK) pins"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: setup
setup: $(READY) ## Make .venv with everything that is pinned

.PHONY: demo
demo: $(READY) ## Send a real pipeline's events through an outage and show that all arrive
	@$(BIN)/truewatch-lineage demo

.PHONY: check
check: lint unit ## The fast inner loop: lint, types, layers, unit tests

.PHONY: lint
lint: $(READY) ## Ruff, mypy and the import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

.PHONY: unit
unit: $(READY) ## Unit and docs tests
	@$(BIN)/pytest -q -n $(WORKERS) -m "not slow and not serial" tests/unit tests/docs $(PYTEST_ARGS)

.PHONY: format
format: $(READY) ## Format the code and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

.PHONY: test
test: $(READY) ## Every test but the slow ones
	@$(BIN)/pytest -n $(WORKERS) -m "not slow and not serial" $(SCENES:%=--ignore=%) $(PYTEST_ARGS)
	@$(BIN)/pytest -n $(WORKERS) --dist loadscope -m "not slow and not serial" $(SCENES) $(PYTEST_ARGS)
	@$(BIN)/pytest -m "serial and not slow" $(PYTEST_ARGS)

.PHONY: test-full
test-full: test ## Also the slow loops, and Python 3.10 to 3.13 with the newest and the lowest dependencies
	@HYPOTHESIS_PROFILE=full $(BIN)/pytest -m slow $(PYTEST_ARGS)
	@$(BIN)/nox

.PHONY: bench
bench: $(READY) ## Measure beside upstream's http and async_http, and print ratios
	@$(BIN)/python benchmarks/serialise.py
	@$(BIN)/python benchmarks/run.py

.PHONY: events
events: $(READY) ## Validate and send a folder of events, and compare what arrives: make events DIR=folder
	@if [ -z "$(DIR)" ]; then echo "Name a folder: make events DIR=path/to/events" >&2; exit 2; fi
	@EVENTS_DIR="$(DIR)" $(BIN)/pytest -q -s tests/integration/test_event_folder.py $(PYTEST_ARGS)

.PHONY: lock
lock: $(READY) ## Pin the newest versions again in requirements/
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
		--no-emit-index-url --no-annotate --custom-compile-command "make lock" \
		--extra receiver --extra gateway --extra kafka --group dev -o $(LOCK) pyproject.toml
	@for file in requirements/*.in; do \
		$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
			--no-emit-index-url --no-annotate --custom-compile-command "make lock" \
			-o "$${file%.in}.txt" pyproject.toml "$$file" || exit 1; \
	done

.PHONY: clean
clean: ## Remove .venv, caches and builds
	@rm -rf .venv .nox .airflow .dbt .spark .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
