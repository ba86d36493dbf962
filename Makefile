# make demo   everything from nothing to a report       make test   the quick tests
# make lint   style, types and import directions        make bench  the measured speeds
#
# PYTHON=...       the interpreter to use (3.11 to 3.13); found if not given
# TORCH_INDEX=...  a package index to take torch from; empty: the one that pip is set up with
# OUT=...          where the demo writes (runs/demo)

VENV ?= .venv
PYTHON ?=
TORCH_INDEX ?=
OUT ?= runs/demo
export VENV PYTHON TORCH_INDEX

BIN := $(VENV)/bin
INPUTS := pyproject.toml constraints.txt scripts/setup
# One thread in every process: the two workers are what uses two cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: demo setup setup-dev test test-slow lint bench clean
.DEFAULT_GOAL := demo

demo: setup
	$(BIN)/heedful demo --out $(OUT)

setup: $(VENV)/.stamp
setup-dev: $(VENV)/.stamp-dev

$(VENV)/.stamp: $(INPUTS)
	scripts/setup
	@touch $@

$(VENV)/.stamp-dev: $(INPUTS)
	scripts/setup --dev
	@touch $@ $(VENV)/.stamp

test: setup-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not slow" -n 2

test-slow: setup-dev
	$(ONE_THREAD) $(BIN)/python -m pytest -m slow -n 2

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	@set -e; for file in benchmarks/[a-z]*.py; do \
		echo "== $$file"; $(ONE_THREAD) $(BIN)/python "$$file"; \
	done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist
