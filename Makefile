# Everything happens in .venv; nothing on the system is touched. A stamp file in .venv tells what is installed, so pip
# runs only the first time and after a change of pyproject.toml.
#
#   make test                      with the first suitable Python found, 3.11 or newer
#   make test PYTHON=python3.13    with this one
#   make test ARGS="-k npz -x"     with arguments for pytest

VENV := .venv
PY := $(VENV)/bin/python
CANDIDATES := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)

.NOTPARALLEL:
.PHONY: help demo test test-slow lint docs bench clean

help:
	@echo "make demo        record a simulation into demo/"
	@echo "make test        run the tests, without the slow ones"
	@echo "make test-slow   run all tests"
	@echo "make lint        ruff and mypy"
	@echo "make docs        build the documentation into site/"
	@echo "make bench       measure the cost of recording"
	@echo "make clean       remove all that make made"

demo: $(VENV)/.demo
	$(VENV)/bin/simreel demo --out demo

test: $(VENV)/.test
	$(PY) -m pytest -n auto --dist worksteal $(ARGS)

test-slow: $(VENV)/.test
	$(PY) -m pytest -n auto --dist worksteal -m "" --timeout 600 -o faulthandler_timeout=590 $(ARGS)

lint: $(VENV)/.lint
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict simreel

# Material for MkDocs warns about mkdocs 2; pyproject.toml keeps that away already.
docs: $(VENV)/.docs
	$(PY) docs/pictures.py
	$(PY) docs/plot_pictures.py
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --clean --site-dir site

bench: $(VENV)/.demo
	$(PY) -m benchmarks stepping $(ARGS)

clean:
	rm -rf $(VENV) demo site build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What each target needs. The docs are read from the source text; their pictures are made by the package.
$(VENV)/.demo: NEEDS = -e ".[demo]"
$(VENV)/.test: NEEDS = -e ".[all]" --group test
$(VENV)/.lint: NEEDS = -e ".[all]" --group lint
$(VENV)/.docs: NEEDS = -e ".[demo,gui]" --group docs

$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.made pyproject.toml
	@echo "installing into $(VENV): $(NEEDS)"
	@$(PY) -m pip install --quiet --disable-pip-version-check $(NEEDS)
	@touch $@

# Not usable any more: a .venv that came along with a copied or moved checkout, that was made with another Python than
# PYTHON, or whose Python is gone.
ifneq ($(wildcard $(VENV)/.made),)
ifneq ($(shell $(PY) -c "" && grep -qxF "$(CURDIR)" $(VENV)/.made \
	&& { test -z "$(PYTHON)" || grep -qxF "PYTHON=$(PYTHON)" $(VENV)/.made; } && echo usable),usable)
.PHONY: $(VENV)/.made
endif
endif

# --clear only where .made says that the folder is ours. pip before 25.1 knows no --group.
$(VENV)/.made:
	@old=; bare=; \
	for python in $(CANDIDATES); do \
		"$$python" -c "" 2>/dev/null || continue; \
		"$$python" -c "import sys; sys.exit(sys.version_info < (3, 11))" || { old="$$old $$python"; continue; }; \
		"$$python" -c "import ensurepip, venv" 2>/dev/null || { bare="$$bare $$python"; continue; }; \
		echo "making $(VENV) with $$python, $$("$$python" --version)"; \
		"$$python" -m venv $$(test ! -e $@ || echo --clear) $(VENV) || exit 1; \
		$(PY) -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" || exit 1; \
		printf '%s\n' "$(CURDIR)" "PYTHON=$$python" >$@; \
		exit 0; \
	done; \
	{ \
		echo "No Python to make $(VENV) with; tried: $(CANDIDATES)."; \
		test -z "$$old" || echo "Older than 3.11:$$old."; \
		test -z "$$bare" || echo "Without the modules venv and ensurepip:$$bare. On Debian and Ubuntu: apt install python3-venv"; \
		echo "Python 3.11 or newer is needed. To name one: make PYTHON=/path/to/python3"; \
	} >&2; \
	exit 1
