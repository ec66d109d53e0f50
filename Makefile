# ReTrace Gateway. `make` alone lists what there is; every target sets up what it needs and may be run again at any time.
# Only python3 (3.11 or newer) has to be there. What is installed lies in your cache folder, shared by all clones.

PYTHON ?= python3
VENV := .venv/bin/python
# Half of the time that collecting the tests takes is compiling them, if what comes of it may not be kept.
PYTEST := PYTHONDONTWRITEBYTECODE= $(VENV) -m pytest
ENGINE := .venv-engine/bin/python
TRAIN := .venv-train/bin/python

.DEFAULT_GOAL := help
.PHONY: help up down watch test test-fast check fix bench train train-context train-refine lock schema setup setup-all setup-redis setup-prometheus setup-chromium setup-train

help:  ## list the targets
	@echo
	@echo "  ReTrace Gateway"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "    make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  New here? make up, and follow what it prints. Working on the code? make test-fast and make check."
	@echo "  Settings: RETRACE_PORT, RETRACE_ENGINE_PORT, RETRACE_MODEL (id or folder), RETRACE_ENGINE_URL (your vLLM),"
	@echo "            RETRACE_PROMETHEUS_PORT, RETRACE_GRAFANA_PORT."
	@echo

up:  ## set up, start a small real model and the gateway in front of it, show two requests
	@$(PYTHON) -m deploy.setup.up

down:  ## stop what make up and make watch started
	@$(PYTHON) -m deploy.setup.down

watch:  ## watch what make up started: Prometheus with its alerts, and Grafana where there is one
	@$(PYTHON) -m deploy.setup.watch

test: setup-all setup-redis setup-prometheus setup-chromium  ## all tests, the ones against a real engine included
	$(PYTEST) -m "not engine and not alone" -n auto --dist worksteal $(ARGS)
	$(PYTEST) -m alone $(ARGS)
	$(ENGINE) -m pytest tests/engine/unit $(ARGS)
	$(PYTEST) -m engine $(ARGS)

test-fast: setup setup-redis setup-prometheus  ## the tests that need neither an engine, nor the machine for themselves, nor long
	$(PYTEST) -m "not engine and not alone and not long" -n auto --dist worksteal $(ARGS)

check: setup  ## lint, formatting, types
	$(VENV) -m ruff check .
	$(VENV) -m ruff format --check .
	$(VENV) -m mypy

fix: setup  ## mend what lint and formatting can mend by themselves
	$(VENV) -m ruff check --fix .
	$(VENV) -m ruff format .

bench: setup-all  ## measure what the gateway adds to a request
	$(VENV) -m tests.bench.overhead $(ARGS)

train: train-context train-refine  ## train all small models anew (ARGS="--data DIR"; see the model cards for the time)

train-refine: setup-train  ## train the needs-refine classifier anew (ARGS="--data DIR"; about three quarters of an hour)
	OMP_NUM_THREADS=1 $(TRAIN) -m classifiers.training.refine $(ARGS)

train-context: setup-train  ## train the models of the context hash anew (ARGS="--data DIR"; about a quarter of an hour)
	OMP_NUM_THREADS=1 $(TRAIN) -m classifiers.training.context $(ARGS)

schema: setup  ## write the JSON Schema of the rule files for editors
	$(VENV) -m gateway.cli schema --write rules/schema

lock:  ## fit the lock files to pyproject.toml and both requirements.in (ARGS=--upgrade: newest versions)
	@$(PYTHON) -m deploy.setup.lock $(ARGS)

# The environments and the model, without starting anything.
setup:
	@$(PYTHON) -m deploy.setup.env gateway

setup-all:
	@$(PYTHON) -m deploy.setup.env gateway engine
	@$(PYTHON) -m deploy.vllm.model

# A real redis-server for the tests; the gateway itself needs one only if many share their captures.
setup-redis:
	@$(PYTHON) -m deploy.setup.redis

# A real Prometheus, whose promtool tests the alerts.
setup-prometheus:
	@$(PYTHON) -m deploy.setup.prometheus

# A browser, which prints reports.
setup-chromium:
	@$(PYTHON) -m deploy.setup.chromium

setup-train:
	@$(PYTHON) -m deploy.setup.env train
