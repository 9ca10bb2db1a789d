# What a newcomer types. `make help` explains every target.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check -qq

# Installing compiles nothing (most of torch is never imported); what a process does import it
# compiles and keeps. Where the environment forbids that, each of the many processes of the tests
# would compile torch anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test check format lock benchmark clean

help: ## Explain every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.ready ## Label the embedded corpus with the embedded dictionary and show the gaps
	@$(BIN)/lacuner demo

test: .venv/.ready-dev ## Run all tests
	@$(BIN)/python -m pytest -n auto --dist worksteal

check: .venv/.ready-dev ## Check style and types (ruff, mypy strict)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: .venv/.ready-dev ## Bring the code into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

benchmark: .venv/.ready-dev ## Measure dictionary labelling with a million names (about ten minutes)
	@$(PIP) install --no-compile -r requirements-bench.lock
	@$(BIN)/python -m benchmarks.gazetteer

lock: ## Write the lock files anew from pyproject.toml
	@PYTHON=$(PYTHON) .ci/lock

clean: ## Remove the environment and everything that can be made again
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis demo-output build dist

# A Debian without python3-venv cannot put pip into an environment; the pip outside serves it then.
.venv/bin/python:
	@echo "making the environment .venv"
	@$(PYTHON) -m venv .venv 2>/dev/null || $(PYTHON) -m venv --without-pip .venv

.venv/.ready: requirements.lock requirements-encoder.lock pyproject.toml | .venv/bin/python
	@echo "installing Lacuner and what it needs (torch is large: a few minutes)"
	@$(PIP) install --no-compile -r requirements.lock
	@$(PIP) install --no-compile --no-deps -r requirements-encoder.lock
	@$(PIP) install --no-compile --no-deps --no-build-isolation -e .
	@touch $@

# seqeval comes as source; built the old way it takes a setuptools_scm without what that needs.
.venv/.ready-dev: requirements-dev.lock .venv/.ready
	@echo "installing what the tests need"
	@$(PIP) install --no-compile --use-pep517 -r requirements-dev.lock
	@touch $@
