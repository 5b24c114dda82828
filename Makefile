# Two commands do everything on a machine with git, make and Python 3.11 or newer:
#
#   make demo   sets up .venv, from Python's package index, and trains a small checkerboard automaton
#   make test   sets up .venv with the development tools and runs each kind of check once
#
# `make thorough` runs the rest, some five minutes; `make exhaustive` tries more cases of both.
#
# On Debian and Ubuntu, `make tools` as root installs the tools that exported circuits are tested
# with, and a software GPU that runs on the CPU. Without them, tests that need them are
# skipped, and say so.
#
# PYTHON=/path/to/python chooses the interpreter; without it the first that fits is taken.

VENV := .venv
BIN := $(VENV)/bin

# What pip says goes to a file, and is shown where it fails: an index without a page for some package
# makes it print a screen of warnings. A dot every few seconds says that it is at work.
define install
	@mkdir -p $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --no-input --progress-bar off \
		-c constraints.txt --editable $(1) >$(VENV)/pip.log 2>&1 & pip=$$!; \
	trap "kill $$pip 2>/dev/null; echo; exit 130" INT TERM; \
	while kill -0 $$pip 2>/dev/null; do printf . >&2; sleep 3; done; echo >&2; \
	wait $$pip || { \
		cat $(VENV)/pip.log; \
		echo "error: pip failed, as shown above: it needs Python's package index, which pip.conf or"; \
		echo "PIP_INDEX_URL may name, or packages that are there already"; \
		exit 1; } >&2
	@touch $@
endef

# Debian's packages.
TOOLS := berkeley-abc chromium chromium-driver g++ gcc golly iverilog libvulkan1 \
	mesa-vulkan-drivers nodejs yosys

# An interpreter fits if it runs (a version manager's shim may not), is new enough, and can make
# environments (some distributions package that apart).
FITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# Those that are tried most, and then whatever else of PATH is called python3.N, the newest first.
NUMBERED = $(shell IFS=:; for folder in $$PATH; do ls "$$folder" 2>/dev/null; done | \
	grep -xE 'python3\.[0-9]+' | sort -ut. -k2,2nr)
CANDIDATES = python3 python3.13 python3.12 python3.11 $(NUMBERED) python
FOUND = $(firstword $(shell for python in $(CANDIDATES); do \
	"$$python" -c '$(FITS)' >/dev/null 2>&1 && command -v "$$python" && break; done))
PYTHON = $(FOUND)

.PHONY: python demo test thorough pythons exhaustive tools gallery figures coverage site clean
.DELETE_ON_ERROR:

# Tests start hundreds of processes: each would compile our sources again.
unexport PYTHONDONTWRITEBYTECODE

demo: $(VENV)/.installed
	$(BIN)/dct train-checkerboard --small --epochs 50

# Prints the interpreter that is taken.
python:
	@echo "$(PYTHON)"

# Style, types, and each kind of check once: what a user and a developer need in minutes. Property
# tests try a quarter of their examples.
LATER := slow or thorough or exhaustive
test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# mypy takes one core: another compiles the kernels meanwhile, for longer. Tests whose asserts are
	@# rewritten once need not be by each of pytest's workers.
	$(BIN)/python -m tests.compile_kernels & kernels=$$!; \
	trap "kill $$kernels; exit 130" INT TERM; $(BIN)/mypy; passed=$$?; \
	$(BIN)/python -m pytest --collect-only -q -n 0 >/dev/null 2>&1; wait $$kernels; exit $$passed
	$(BIN)/python -m pytest -n auto --dist worksteal -m "first or not ($(LATER))"

# The rest: the wheel on every Python that is here, quick tests on the newest, what costs more, and
# property tests with all their examples.
thorough: pythons $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile=thorough \
		-m "not exhaustive and not first and (slow or thorough or hypothesis)"

pythons:
	"$(PYTHON)" .ci/every_python.py

# Before a release: more seeds, sizes, mutants and moments of a kill than `make test` and `make
# thorough` try. Then the property tests with ten drawn seeds, or those of SEEDS="1 2 …".
# Then guards are dropped, one at a time: 200 drawn ones, or those of MUTANTS="proof/ run/".
MUTANTS := 200
SEEDS = $(shell od -An -tu4 -N40 /dev/urandom)
exhaustive: $(VENV)/.installed-dev
	DCT_SEEDS=4 $(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-profile=thorough
	@for seed in $(SEEDS); do echo "property tests with the seed $$seed"; \
		$(BIN)/python -m pytest -q -n auto --dist worksteal -m "hypothesis and not exhaustive" \
			--hypothesis-profile=drawn --hypothesis-seed=$$seed || exit 1; done
	$(BIN)/python -m tests.mutations "$$(mktemp -d)" $(MUTANTS)

tools:
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(TOOLS)

# Trains the experiments of the gallery, and builds their pages, circuits and pictures in docs/.
gallery: $(VENV)/.installed-dev
	$(BIN)/python -m tests.difflogic.view.reports.make_gallery

# Measures figures of the user pages again, those that take up to ten CPU seconds each, and says which
# pages would change or differ from docs/results: some two minutes. ALL=1 measures every one, for an hour of a core; stopped, it
# goes on where it was. WRITE=1 writes them into docs/results and the pages.
figures: $(VENV)/.installed-dev
	$(BIN)/python -m tests.results $(if $(ALL),--all) $(if $(WRITE),--write)

# The pages as a site with search and a reference of the public names: build/site/index.html. Nothing
# is loaded but the packages.
site: $(VENV)/.installed-docs
	$(BIN)/python .ci/pages.py build/pages
	$(BIN)/sphinx-build -q -W -d build/doctrees -c .ci build/pages build/site
	@echo "built build/site/index.html"

# Compiled code is invisible to the coverage tool, so the kernels run as plain Python here; that
# is slow. The cache of its own keeps the two modes apart.
coverage: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 NUMBA_CACHE_DIR=$(VENV)/numba-without-jit \
		$(BIN)/python -m pytest -m "not slow and not exhaustive" --cov --cov-report=term-missing

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
		echo "error: no Python 3.11 or newer with its venv module was found (tried: $(CANDIDATES))"; \
		echo "install one (on Debian and Ubuntu: python3 and python3-venv), or name one: make PYTHON=/path/to/python"; \
		exit 1; } >&2
	@"$(PYTHON)" -c '$(FITS)' || { \
		echo "error: $(PYTHON) is not Python 3.11 or newer with its venv module"; exit 1; } >&2
	@echo "making $(VENV) with $(PYTHON) …"
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)

# The stamps say what is installed; a changed list of dependencies makes them stale. Sources are
# used in place, so a changed source does not.
$(VENV)/.installed: pyproject.toml constraints.txt $(BIN)/python
	@echo "installing dct into $(VENV), with packages from Python's index: about two minutes …"
	$(call install,.)

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(BIN)/python
	@echo "installing dct and the development tools into $(VENV), with packages from Python's index …"
	$(call install,'.[dev]')
	@touch $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml constraints.txt $(BIN)/python
	@echo "installing dct and Sphinx into $(VENV), with packages from Python's index …"
	$(call install,'.[docs]')

clean:
	rm -rf $(VENV) build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
