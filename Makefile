# `make demo` and `make test` each create .venv, install what is missing, and then work.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SITES := demo/brain_tumor
NOW := $(shell date +%Y%m%d-%H%M%S)
RUN_DEMO = $(BIN)/wardround run jobs/brain_tumor --env sim --sites site_configs --baselines
export OMP_WAIT_POLICY = PASSIVE

.PHONY: help install demo demo-quick test lint format clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

install: $(STAMP)  ## .venv with everything, at the tested versions

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: set PYTHON=python3.12 or another from 3.11 to 3.13"; exit 1; }
	@echo "Installing into $(VENV): torch, MONAI, FLARE and what they need; some minutes, about 2 GB"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[flare,imaging,tabular,dev]'
	touch $@

$(SITES)/.generated: $(STAMP) custom/wardround/workloads/brain_tumor/synth/*.py
	@echo "Generating four hospitals in $(SITES): 68 cases of 48-voxel cubes"
	rm -rf $(SITES)
	$(BIN)/wardround synth brain-tumor $(SITES) --size 48 --train 6 --validation 4 --test 8 --seed 0
	touch $@

demo: $(SITES)/.generated  ## three hospitals train a brain-tumor network, beside alone and pooled; within 8 minutes
	@echo "Three hospitals train together, a fourth is only scored; then each alone, and all data pooled"
	$(RUN_DEMO) --out results/demo/$(NOW)

demo-quick: $(SITES)/.generated  ## the same with fewer rounds and steps; within 3 minutes
	@echo "The demo with 4 rounds of 24 steps: what it looks like, not what it can do"
	$(RUN_DEMO) --out results/demo-quick/$(NOW) \
		--set training.rounds=4 --set training.local_steps=24 --set evaluation.personalise_steps=12

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

clean:  ## removes what demos and tests wrote, not .venv nor other results
	rm -rf demo results/demo results/demo-quick build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
