# What to type on a machine with git, make and Python >= 3.11:
#   make demo    stock Tornado against txloop, measured here, in a minute or two
#   make test    lint, types and all tests
#   make soak    servers under fire, ten minutes each (SOAK="bank --seconds 60")
#   make docs    the docs as a site, in build/site
#   make release-check   builds the archives, and serves a program with the wheel
# They make their own virtual environment in $(VENV). The Python is $(PYTHON):
#   make test PYTHON=python3.13

PYTHON ?= python3
VENV ?= .venv

MAKEFLAGS += --no-print-directory
bin := $(VENV)/bin
pip := $(bin)/python -m pip -qq --disable-pip-version-check
typed := $(wildcard txloop conflict_log handlers examples bench tests)

# How the quick demonstration is run; `make bench` measures at full length.
DEMO := primes --only stock,"txloop processes" --seconds 5 --repeat 2 --no-latency
BENCH := primes
# For example: make test PYTEST="tests/unit -x"
PYTEST :=
# Which soaks, for how long, and with which seed.
SOAK :=
# Lists in `requirements`, or extras: make tests EXTRA=test,dask. Where ruff, mypy or
# matplotlib cannot be installed: make tests EXTRA=suite
EXTRA := test

# What pip installs for such names; editable, so that a later `git pull` is what runs.
comma := ,
empty :=
space := $(empty) $(empty)
names = $(subst $(comma),$(space),$(1))
lists = $(wildcard $(patsubst %,requirements/%.txt,$(call names,$(1))))
extras = $(filter-out $(patsubst requirements/%.txt,%,$(call lists,$(1))),$(call names,$(1)))
needed = -e '.$(if $(call extras,$(1)),[$(subst $(space),$(comma),$(call extras,$(1)))])' \
	$(patsubst %,-r %,$(call lists,$(1)))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint types tests tornado soak coverage bench format docs \
	release-check clean

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

demo: $(VENV)/.installed-bench
	@$(bin)/python -m bench $(DEMO)
	@echo
	@echo "Start the server yourself and open http://localhost:8888/ :"
	@echo "    $(bin)/python examples/primes.py"

# The tests come last, so that pytest's summary is the last line.
test: lint types tests

lint: $(VENV)/.installed-test
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/codespell .
	$(bin)/lint-imports --no-cache --no-logo

types: $(VENV)/.installed-test
	$(bin)/mypy $(typed)

tests: $(VENV)/.installed-test
	$(bin)/python -m tests $(PYTEST)

# What is relied upon of Tornado, on the one in $(VENV); nox -s tests_tornado installs
# the oldest and the newest one for it.
tornado: $(VENV)/.installed-test
	$(bin)/python -c 'import tornado; print("Tornado", tornado.version)'
	$(bin)/python -m pytest tests/unit/test_patches.py tests/unit/test_tornado_private.py

soak: $(VENV)/.installed-test
	$(bin)/python -m tests.soak $(SOAK)

coverage: $(VENV)/.installed-test
	$(bin)/coverage erase
	$(bin)/coverage run -m pytest $(PYTEST)
	$(bin)/coverage combine --quiet
	$(bin)/coverage report

bench: $(VENV)/.installed-bench
	@$(bin)/python -m bench $(BENCH)

format: $(VENV)/.installed-test
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --quiet

release-check: $(VENV)/.installed-release
	@$(bin)/python -m tests.release_check

clean:
	rm -rf $(VENV) .nox build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache \
		.hypothesis .coverage .coverage.* htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps follow what is required: a second run installs nothing.
$(VENV)/.installed-bench: setup.cfg pyproject.toml $(wildcard requirements/*.txt) | $(bin)/python
	@echo "Installing txloop and what the benchmark needs into $(VENV) ..."
	@$(pip) install $(call needed,bench)
	@touch $@

$(VENV)/.installed-test: setup.cfg pyproject.toml $(wildcard requirements/*.txt) | $(bin)/python
	@echo "Installing txloop and what the tests need into $(VENV) ..."
	@$(pip) install $(call needed,$(EXTRA))
	@touch $@

$(VENV)/.installed-docs: setup.cfg pyproject.toml $(wildcard requirements/*.txt) | $(bin)/python
	@echo "Installing txloop and what makes the site into $(VENV) ..."
	@$(pip) install $(call needed,docs)
	@touch $@

$(VENV)/.installed-release: setup.cfg pyproject.toml $(wildcard requirements/*.txt) | $(bin)/python
	@echo "Installing txloop and what checks a release into $(VENV) ..."
	@$(pip) install $(call needed,release)
	@touch $@

$(bin)/python:
	@command -v $(PYTHON) >/dev/null || \
		{ echo "txloop: no $(PYTHON) on this machine; install Python 3.11 or newer" \
			"(Debian, Ubuntu: apt-get install python3 python3-venv)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "txloop: $(PYTHON) is $$($(PYTHON) -V 2>&1), but 3.11 or newer is needed;" \
			"name one: make PYTHON=python3.13" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "txloop: $(PYTHON) cannot make virtual environments; on Debian or Ubuntu:" \
			"apt-get install $$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
