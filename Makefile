# Two commands do everything on a machine that has Python 3.11 or newer and make: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow test-web test-wheel docs lint fuzz format clean

demo: $(VENV)/train.done
	mkdir -p out
	$(BIN)/dact info
	$(BIN)/dact solve examples/harbour60.vrp --time-limit 3 --out out/harbour60.sol --plot out/harbour60.png

test: $(VENV)/dev.done lint
	$(BIN)/python -m pytest -n 2

# The page in a real browser. Debian's Chromium is installed where there is none (as root).
test-web: $(VENV)/dev.done
	$(PIP) playwright
	command -v chromium || command -v google-chrome || (apt-get update -qq && apt-get install -y -qq chromium)
	$(BIN)/python -m pytest tests/web

# All tests, the slow ones included; then notes which kernels compiled, so that `make test` leaves them out.
test-slow: $(VENV)/dev.done lint
	$(BIN)/python -m pytest -n 2 -m ""
	$(BIN)/python tests/kernels/launches.py --record

# The wheel, installed into an empty environment, solves and serves. Takes minutes and needs a package index.
test-wheel: $(VENV)/dev.done
	$(BIN)/python -m pytest tests/test_wheel.py -m ""

# The documentation as pages that load nothing from elsewhere, in out/docs.
docs: $(VENV)/dev.done $(VENV)/docs.done
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	$(BIN)/python -m pytest tests/docs -m "" -k site
	@echo out/docs/index.html

lint: $(VENV)/dev.done
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/ruff format --check src tests examples benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

# Spoiled files of every format, and the whole solver on odd instances, until the time is over.
MINUTES ?= 10
fuzz: $(VENV)/dev.done
	cd tests && ../$(BIN)/python -m fuzz $(MINUTES)

format: $(VENV)/dev.done
	$(BIN)/ruff check --fix src tests examples benchmarks
	$(BIN)/ruff format src tests examples benchmarks

# PyTorch goes first and by its exact version: a range may pull another build with gigabytes of GPU libraries.
$(VENV)/torch.done: constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) $$(grep '^torch==' constraints.txt)
	touch $@

$(VENV)/train.done: $(VENV)/torch.done pyproject.toml
	$(PIP) --editable '.[train]'
	touch $@

$(VENV)/dev.done: $(VENV)/torch.done pyproject.toml
	$(PIP) --editable '.[train,web,dev]'
	touch $@

$(VENV)/docs.done: $(VENV)/torch.done pyproject.toml
	$(PIP) --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis
