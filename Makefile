# make demo: see it work.  make test: prove it works, in minutes; make test-long: the long batches.
# Each sets up .venv the first time.
# make docs: the documentation as a site, in site/.
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

.PHONY: demo docs test quick browser test-long test-oldest soak lint bench clean
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
	@echo 'Or watch it happen, with points of your own: $(BIN)/tacit lab'

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

# PyTorch is large, and only long tests need it; Equinox, Flax and Lightning are how others train.
.venv/torch: .venv/installed
	@echo "Adding PyTorch, Equinox, Flax, Lightning, TensorBoard and W&B to .venv: minutes, once."
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[torch]' \
	  equinox flax lightning tensorboard wandb
	@touch $@

# The page of `tacit lab` is tested in a real browser: Debian's package, where there is none.
browser:
	@[ -n "$$(which chromium chromium-browser google-chrome)" ] || \
	  { [ "$$(id -u)" = 0 ] && [ -n "$$(which apt-get)" ] && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends chromium > /dev/null; } || \
	  echo "There is no Chromium, so tests of the page will fail: apt-get install chromium"

.venv/docs: .venv/torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[docs]'
	@touch $@

# Notebooks are run, and a warning is an error.
docs: .venv/docs
	$(BIN)/python -m sphinx -W --keep-going -q docs site
	@echo 'Now open site/index.html in a browser.'

# What XLA's optimisation could change is tested once more, with it.
test-long: .venv/docs browser
	$(PYTEST) -m long
	$(PYTEST) -m "not long" tests/certificates tests/measures tests/models tests/sweeps tests/training

# The quick tests with the oldest versions that pyproject.toml allows.
.venv-oldest/installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --constraint constraints-oldest.txt hatchling editables
	.venv-oldest/bin/python -m pip install --quiet --constraint constraints-oldest.txt --no-build-isolation --editable '.[dev]'
	@touch $@

test-oldest: .venv-oldest/installed
	XLA_FLAGS="--xla_backend_optimization_level=0" OPENBLAS_NUM_THREADS=1 .venv-oldest/bin/pytest -n 2 --dist worksteal -m "not long"

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
	rm -rf .venv .venv-bench .venv-oldest demo site jupyter_execute
