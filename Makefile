# Each target sets itself up in .venv with only python3 and make, and again only when the pinned requirements change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Tests never open a window or a sound device. They always write compiled modules, because otherwise every process of a
# test would compile them again.
HEADLESS := SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy PYTHONDONTWRITEBYTECODE=
# The tests write and sync thousands of journals. If /dev/shm has 4 GB free and the computer 6 GB of memory, they use
# memory instead of the disk. A run needs less than 500 MB and leaves no files (tests/conftest.py). Benchmarks use the disk.
SCRATCH := $(shell [ -w /dev/shm ] && [ "$$(df --output=avail -k /dev/shm | tail -n 1)" -gt 4000000 ] \
  && [ "$$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -gt 6000000 ] && echo /dev/shm || echo $${TMPDIR:-/tmp})
# Workers of a test run: one more than there are cores, because a worker waits for processes and devices a quarter of
# the time; at most five, because each uses up to 1.5 GB.
WORKERS ?= $(shell cores=$$(nproc 2>/dev/null || echo 2); [ $$cores -gt 4 ] && cores=4; echo $$((cores + 1)))
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run test test-near test-slow check format bench conformance mutants docs deb image image-boot manuals pins clean

help:            ## print this list
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 14

setup: $(VENV)/.cabinet ## install the cabinet's packages into .venv
setup-dev: $(VENV)/.dev ## also install the laboratory, test and check tools

run: $(VENV)/.cabinet ## start the cabinet: a window if there is a display, otherwise a browser page
	@$(BIN)/egm run $(ARGS)

test: $(VENV)/.dev ## run the tests, except the slow ones
	$(HEADLESS) TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal $(ARGS)

test-near: $(VENV)/.dev ## run the tests of the packages that differ from the last commit, or from BASE
	@folders=$$(git diff --name-only $(or $(BASE),HEAD) -- '*.py' \
	  | sed -nE 's#^(tests/.*)/[^/]*$$#\1#p; s#^((egm|tools)/[^/]+|meters|paytables|rng)/.*#tests/\1#p' | sort -u \
	  | while read -r folder; do [ -d "$$folder" ] && echo "$$folder"; done); \
	if [ -z "$$folders" ]; then echo "make: no package differs from $(or $(BASE),HEAD)"; else \
	  $(HEADLESS) TMPDIR=$(SCRATCH) $(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist worksteal $(ARGS) $$folders; fi

test-slow: $(VENV)/.dev ## run the slow tests: calibration, long simulations, more examples of each property
	$(HEADLESS) TMPDIR=$(SCRATCH) HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-thorough} $(BIN)/python -m pytest \
	  -m "slow or hypothesis" --timeout 5400 $(ARGS)

check: $(VENV)/.dev ## run ruff, mypy in strict mode, the import rules and a check of our own
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.dev.checks.untyped

format: $(VENV)/.dev ## let ruff fix and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev ## measure performance, each figure beside a baseline of the same run
	$(HEADLESS) $(BIN)/python -m tools.dev.bench $(ARGS)

conformance: $(VENV)/.dev ## write CONFORMANCE.md, and every requirement with its tests into build/conformance
	$(BIN)/python -m tools.dev.conformance $(ARGS)

mutants: $(VENV)/.dev ## remove what each requirement of a regulation asks for, in turn: its tests must fail
	TMPDIR=$(SCRATCH) $(BIN)/python -m tools.dev.mutants $(ARGS)

docs: $(VENV)/.dev ## write the generated parts of the pages, and build the documentation site into build/site
	$(BIN)/python -m tools.dev.docs $(ARGS)
	$(BIN)/python -m tools.dev.site

manuals: $(VENV)/.dev ## write the operator's and the service manual in each language as PDF into build/manuals/
	@mkdir -p build/manuals
	@for kind in operator service; do for language in en fr; do \
	  $(BIN)/egm manual $$kind --language $$language --out build/manuals/$$kind-$$language.pdf || exit 1; done; done

deb: $(VENV)/.cabinet ## build the Debian package of the cabinet into build/
	@$(BIN)/python -m tools.image.deb $(ARGS)

image: $(VENV)/.cabinet ## build a complete computer into build/image: system disk, second medium, signed update (needs root)
	@$(BIN)/python -m tools.image.image $(ARGS)

image-boot: $(VENV)/.cabinet ## start that computer in QEMU
	@$(BIN)/python -m tools.image.emulated $(ARGS)

pins: $(VENV)/.dev ## resolve the pinned requirement files again (with hashes, without an index address)
	$(BIN)/uv pip compile $(COMPILE) pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile $(COMPILE) --extra lab pyproject.toml -c requirements.txt -o requirements-lab.txt
	$(BIN)/uv pip compile $(COMPILE) --extra dev pyproject.toml -c requirements-lab.txt -o requirements-dev.txt
	echo hatchling | $(BIN)/uv pip compile $(COMPILE) - -c requirements-dev.txt -o requirements-build.txt
COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-package open-egm $(UPGRADE)

clean:           ## remove the environment and all caches, but no machine's memory
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ------------------------------------------------------------------ set-up
# Debian ships python3 without the pip that venv needs; if it is missing, its package is installed first.
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
