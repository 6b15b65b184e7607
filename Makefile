# evkg: `make run` shows it, `make test` proves it. Both set up what they need, once.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PORT   ?= 8000
EDITOR := src/evkg/static/editor.js

.PHONY: help run editor test test-long lint docs images lock bench bench-quick bench-check clean
help:          ## what can be made here
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*## /\t/' | expand -t 14

# The stamp names the lock file's content: a changed lock installs again, anything else does not.
$(STAMP): requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: $(STAMP) editor ## build the graph from graph/, validate it, ask it a question, serve it on localhost
	$(BIN)/evkg build graph --out build
	$(BIN)/evkg ask inference-memory-budget
	$(BIN)/evkg serve --port $(PORT)

# The query editor is JavaScript from npm. Whoever has no node gets the same page with a plain form.
editor:        ## bundle the query editor of /sparql, where node and npm are there
	@if ! command -v node >/dev/null || ! command -v npm >/dev/null; then \
	  echo "node and npm are not here: /sparql has a plain form instead of the editor"; \
	elif [ ! -f $(EDITOR) ] || [ -n "$$(find editor -maxdepth 1 -type f -newer $(EDITOR))" ]; then \
	  (cd editor && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --loglevel=error && npm run --silent build) \
	  || echo "the query editor could not be bundled: /sparql has a plain form instead"; \
	fi

test: $(STAMP) lint  ## lint, types, every test and every example of the documentation
	$(BIN)/python -m pytest -n 2

test-long: $(STAMP)  ## conformance suites and fuzzing
	$(BIN)/python -m pytest -n 2 -m long

lint: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

docs: $(STAMP) ## renew docs/rules.md, which is made from the shapes and tests/records
	$(BIN)/python -m evkg.rulebook tests/records docs/rules.md

images: $(STAMP) ## draw the pictures of docs/curators.md anew; those of pages need chromium
	$(BIN)/python -m tests.screenshots docs/images

lock:          ## renew requirements.lock from requirements.in (needs uv)
	uv pip compile --generate-hashes --universal --python-version 3.11 --no-header requirements.in -o requirements.lock

bench: $(STAMP) ## measure builds of growing size beside their floor and the usual pipeline (an hour); writes benchmarks/results.md
	$(BIN)/python benchmarks/peers.py --install
	$(BIN)/python benchmarks/bench.py

bench-quick: $(STAMP) ## the same at small sizes, in under three minutes; writes benchmarks/quick.md
	$(BIN)/python benchmarks/bench.py --quick

bench-check: $(STAMP) ## time checking beside pySHACL in one piece, and checking again; writes benchmarks/check.md
	$(BIN)/python benchmarks/check.py

clean:         ## remove what was built, keep the environment
	rm -rf build .pytest_cache .mypy_cache .ruff_cache
