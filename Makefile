# make demo: see it work.  make test: prove it works, in minutes; make test-long: the long batches.
# Each sets up .venv the first time.
# make soak MINUTES=30: attack it with random cases; SEED=N begins at that case.
# make bench: ours beside its peers; PyTorch is large, so it has .venv-bench to itself.
PYTHON ?= python3
BIN := .venv/bin
# Neighbouring tests stay in one process, which shares what they compile; who is idle takes over.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

# Else every process that a test starts compiles what it imports.
unexport PYTHONDONTWRITEBYTECODE
# Numba compiles what is first called, and keeps it beside the source.
COMPILE := $(BIN)/tacit limit xor > /dev/null && $(BIN)/tacit optimum gaussians:n=30,d=8 > /dev/null

.PHONY: demo test quick test-long soak lint bench clean
MINUTES ?= 30
.DELETE_ON_ERROR:

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tacit needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.11"; exit 2; }
	@echo "Setting up .venv: about a minute, once."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@$(COMPILE)
	@touch $@

demo: .venv/installed
	@echo '$$ tacit explain --out demo/explained'
	@$(BIN)/tacit explain --out demo/explained --force
	@echo; echo 'Now open demo/explained/report.html in a browser: the same with pictures, every hypothesis and its slack.'

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Side by side: on a clean checkout mypy takes half a minute on one core.
test: .venv/installed
	@$(MAKE) --no-print-directory -j 2 lint quick

# XLA compiles thousands of small programs here, and without optimisation in half of the time.
# Numba compiles once, beside mypy, before two processes would both do it.
quick: .venv/installed
	@$(COMPILE)
	XLA_FLAGS="--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false" $(PYTEST) -m "not long"

# What XLA's optimisation could change is tested once more, with it.
test-long: .venv/installed
	$(PYTEST) -m long
	$(PYTEST) -m "not long" tests/certificates tests/measures tests/models tests/sweeps tests/training

soak: .venv/installed
	$(BIN)/python -m soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# A peer that cannot be installed is said in the table; the rest is measured.
.venv-bench/installed: pyproject.toml constraints.txt
	@echo "Setting up .venv-bench: minutes, once."
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --constraint constraints.txt hatchling editables
	.venv-bench/bin/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	.venv-bench/bin/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[bench]' || \
	  for peer in cvxpy torch pyscipopt pyscnn; do \
	    .venv-bench/bin/python -m pip install --quiet --constraint constraints.txt $$peer || echo "$$peer cannot be installed here"; \
	  done
	@touch $@

bench: .venv-bench/installed
	OPENBLAS_NUM_THREADS=1 .venv-bench/bin/python -m benchmarks

clean:
	rm -rf .venv .venv-bench demo
