# `make demo` and `make test` each create .venv, install what is missing, and then work.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SITES := demo/brain_tumor
export OMP_WAIT_POLICY = PASSIVE

.PHONY: help install demo demo-quick test lint format benchmark clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

install: $(STAMP)  ## .venv with everything, at the tested versions

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: set PYTHON=python3.12 or another from 3.11 to 3.13"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[flare,imaging,dev]'
	touch $@

test: $(STAMP)  ## every test, the quick ones side by side, then real FLARE processes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not e2e" -n 2 -q
	$(BIN)/python -m pytest -m e2e -q

lint: $(STAMP)  ## ruff (format and rules), mypy, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## rewrites the code as ruff wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## removes what demos and tests wrote, not .venv
	rm -rf demo results build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
