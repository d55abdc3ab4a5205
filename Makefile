# One command a verb. Each does its own set-up, from python3 and make alone, into .venv,
# and again only when the pins change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests never open a window or a sound device of the person who runs them.
# They keep compiled modules, whatever the environment says: every process of a test would compile them anew.
HEADLESS := SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy PYTHONDONTWRITEBYTECODE=
# Thousands of journals are written and synced by the tests; where memory is plentiful (4 GB free there, 6 GB in
# all), they spare the disk. A run needs less than 500 MB and leaves nothing (tests/conftest.py); benches use the disk.
SCRATCH := $(shell [ -w /dev/shm ] && [ "$$(df --output=avail -k /dev/shm | tail -n 1)" -gt 4000000 ] \
  && [ "$$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt 6000000 ] && echo /dev/shm || echo $${TMPDIR:-/tmp})
# Workers of the test run: one more than there are cores, for a quarter of the time a worker waits for processes and
# devices; five at most (each holds up to 1.5 GB).
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); [ $$cores -gt 4 ] && cores=4; echo $$((cores + 1)))
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test test-near test-slow check format bench conformance mutants docs deb image image-boot manuals pins clean

help:            ## this list
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

setup: $(VENV)/.cabinet ## what the cabinet needs, into .venv
setup-dev: $(VENV)/.dev ## the same, with laboratory, test and check tools

run: $(VENV)/.cabinet ## start the cabinet: a window where there is a display, else a browser page
	@$(BIN)/egm run $(ARGS)

test: $(VENV)/.dev ## the test suite (the slow tier apart)
	$(HEADLESS) TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal $(ARGS)

test-near: $(VENV)/.dev ## the tests of the packages that differ from the last commit, or from BASE
	@folders=$$(git diff --name-only $(or $(BASE),HEAD) -- '*.py' \
	  | sed -nE 's#^(tests/.*)/[^/]*$$#\1#p; s#^((egm|tools)/[^/]+|meters|paytables|rng)/.*#tests/\1#p' | sort -u \
	  | while read -r folder; do [ -d "$$folder" ] && echo "$$folder"; done); \
	if [ -z "$$folders" ]; then echo "make: no package differs from $(or $(BASE),HEAD)"; else \
	  $(HEADLESS) TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal $(ARGS) $$folders; fi

test-slow: $(VENV)/.dev ## the slow tier: calibration, long soaks, thousands of flips
	$(HEADLESS) TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -m slow --timeout 5400 $(ARGS)

check: $(VENV)/.dev ## ruff, mypy strict, the walls between the folders
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.dev.checks.chance
	$(BIN)/python -m tools.dev.checks.untyped
	$(BIN)/python -m tools.dev.checks.lines

format: $(VENV)/.dev ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev ## measured figures, each beside a named baseline of the same run
	$(HEADLESS) $(BIN)/python -m tools.dev.bench $(ARGS)

conformance: $(VENV)/.dev ## write CONFORMANCE.md, and into build/conformance every requirement with its tests
	$(BIN)/python -m tools.dev.conformance $(ARGS)

mutants: $(VENV)/.dev ## take away what each row of a regulation asks for in turn: its tests must fail
	TMPDIR=$(SCRATCH) $(BIN)/python -m tools.dev.mutants $(ARGS)

docs: $(VENV)/.dev ## write the generated parts of the pages, and build the documentation site into build/site
	$(BIN)/python -m tools.dev.docs $(ARGS)
	$(BIN)/python -m tools.dev.site

manuals: $(VENV)/.dev ## the operator's and the service manual in each language as PDF, into build/manuals/
	@mkdir -p build/manuals
	@for kind in operator service; do for language in en fr; do \
	  $(BIN)/egm manual $$kind --language $$language --out build/manuals/$$kind-$$language.pdf || exit 1; done; done

deb: $(VENV)/.cabinet ## the Debian package of the cabinet, into build/
	@$(BIN)/python -m tools.image.deb $(ARGS)

image: $(VENV)/.cabinet ## a whole computer: system disk, second medium and signed update, into build/image (needs root)
	@$(BIN)/python -m tools.image.image $(ARGS)

image-boot: $(VENV)/.cabinet ## start that computer in QEMU
	@$(BIN)/python -m tools.image.emulated $(ARGS)

pins: $(VENV)/.dev ## resolve the pinned requirement files anew (hashes, no index address)
	$(BIN)/uv pip compile $(COMPILE) pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile $(COMPILE) --extra lab pyproject.toml -c requirements.txt -o requirements-lab.txt
	$(BIN)/uv pip compile $(COMPILE) --extra dev pyproject.toml -c requirements-lab.txt -o requirements-dev.txt
	echo hatchling | $(BIN)/uv pip compile $(COMPILE) - -c requirements-dev.txt -o requirements-build.txt
COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-package open-egm $(UPGRADE)

clean:           ## remove the environment and every cache; never a machine's memory
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ------------------------------------------------------------------ set-up
# Debian ships python3 without the venv module's pip; where that is so, its package is installed first.
$(VENV)/bin/python:
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
	  rm -rf $(VENV); \
	  echo "make: python3 cannot make a virtual environment; installing Debian's python3-venv"; \
	  sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	  { $$sudo apt-get update -qq && $$sudo apt-get install -y -qq python3-venv; } || { \
	    echo "make: install the package python3-venv, then run this again" >&2; exit 1; }; \
	  $(PYTHON) -m venv $(VENV); }

$(VENV)/.cabinet: requirements.txt requirements-build.txt pyproject.toml | $(VENV)/bin/python
	@echo "make: installing the cabinet's packages into $(VENV)"
	@$(PIP) install --require-hashes -r requirements.txt -r requirements-build.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.cabinet
	@echo "make: installing the development packages into $(VENV)"
	@$(PIP) install --require-hashes -r requirements-dev.txt
	@touch $@
