# make run: install, sample a bundled network, learn it back, write a page.  make test: install and run every test.
# make docs: the documentation as a site.  make benchmark: the guard against decline.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check docs benchmark clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev,peers]'
	touch $@

run: $(VENV)/.installed
	mkdir -p out
	$(BIN)/optbn sample alarm -n 1000 --seed 1 -o out/alarm.csv
	$(BIN)/optbn learn out/alarm.csv -o out/alarm.json --report out/alarm.html
	@echo
	$(BIN)/optbn compare alarm out/alarm.json
	@echo "The page: out/alarm.html"

test: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m twin -p tests.twins --disable-warnings tests  # the kernels as Python
	$(BIN)/pytest -n 2 tests

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/site.py out/site

clean:
	rm -rf $(VENV) out
