# make demo: see it work.  make test: prove it works.  Both set up .venv the first time.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint clean
.DELETE_ON_ERROR:

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tacit needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 2; }
	@echo "Setting up .venv: about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@

demo: .venv/installed
	@echo '$$ tacit check orthogonal:n=100,d=2'
	@$(BIN)/tacit check orthogonal:n=100,d=2
	@echo; echo '$$ tacit train orthogonal:n=100,d=2 --epochs 10000 --out demo/run --picture demo/learned.png'
	@$(BIN)/tacit train orthogonal:n=100,d=2 --epochs 10000 --out demo/run --picture demo/learned.png --force
	@echo; echo '$$ tacit limit orthogonal:n=100,d=2 --picture demo/limit.png'
	@$(BIN)/tacit limit orthogonal:n=100,d=2 --picture demo/limit.png --force
	@echo; echo '$$ tacit optimum orthogonal:n=100,d=2'
	@$(BIN)/tacit optimum orthogonal:n=100,d=2
	@echo; echo 'Now look at demo/learned.png: of 100 random directions, two are left that matter,'
	@echo 'and the best network of all has just these two. demo/limit.png shows where training ends: there.'

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2

clean:
	rm -rf .venv demo
