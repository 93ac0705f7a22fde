# The two commands: `make demo` and `make test`. Both do all their set-up themselves.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
OUT    ?= out
# Bytecode is kept even where the surroundings forbid it: a process then starts four times as fast,
# and the tests start hundreds.
export PYTHONDONTWRITEBYTECODE :=
# Four on two cores: tests of Slurm, of a browser and of kills wait more than they compute.
TESTERS := 4
# Two runs are measured together, so the floor is checked at the end.
COVERAGE := --cov --cov-report= --cov-fail-under=0

.PHONY: demo test uncompiled coverage fidelity probe lint format bench papers studies lock docs clean help

help:  ## show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.runtime  ## replay, compare, learn and report on the embedded workload
	$(BIN)/queuesmith demo --out $(OUT)/demo

test: $(VENV)/.dev $(VENV)/.browser $(VENV)/.slurm  ## run all tests
	NUMBA_CACHE_DIR=build/numba-tests $(BIN)/python -m tests.compile_kernels
	$(BIN)/pytest -n $(TESTERS) --dist worksteal

uncompiled: $(VENV)/.dev  ## run the tests of kernels once more, as plain Python that a debugger sees
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --dist worksteal -q -m "uncompiled and not data"

coverage: $(VENV)/.dev $(VENV)/.browser $(VENV)/.slurm  ## run all tests and measure what they reach, with its floor
	$(BIN)/coverage erase
	NUMBA_CACHE_DIR=build/numba-tests $(BIN)/python -m tests.compile_kernels
	$(BIN)/pytest -n $(TESTERS) --dist worksteal $(COVERAGE)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -q -m "uncompiled and not data" $(COVERAGE) --cov-append
	$(BIN)/coverage report  # and its floor

fidelity: $(VENV)/.dev $(VENV)/.slurm  ## let a real Slurm judge slurm(...); half an hour, writes docs/results/fidelity.md
	$(BIN)/python -m tests.lab.fidelity --out docs/results/fidelity.md

probe: $(VENV)/.dev  ## damaged files, kills, flipped bits, full disks: the long round, an hour or two
	NUMBA_CACHE_DIR=$(CURDIR)/build/numba-tests $(BIN)/python -m tests.probe --inputs 1000000 --kills 200 --flips 10000

lint: $(VENV)/.dev  ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## put the code into its usual shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## print the rates of the hot paths
	$(BIN)/python -m benchmarks

papers: $(VENV)/.dev  ## repeat the papers' experiments; takes hours, see docs/results
	$(BIN)/python -m papers.grid_ga --figures $(OUT)/papers/grid_ga.html
	$(BIN)/python -m papers.multicluster --figures $(OUT)/papers/multicluster.html
	$(BIN)/python -m papers.genetic_fuzzy --figures $(OUT)/papers/genetic_fuzzy.html
	$(BIN)/python -m papers.dynp_optimal
	$(BIN)/python -m papers.dynamic_priority --figures $(OUT)/papers/dynamic_priority.html
	$(BIN)/python -m papers.rl_scheduler

studies: $(VENV)/.dev  ## kill workers of studies and bags at random, and time what runs; takes half an hour
	$(BIN)/python -m benchmarks.study_kills --folder $(OUT)/study-kills
	$(BIN)/python -m benchmarks.bag_runs replay
	$(BIN)/python -m benchmarks.bag_runs knobs
	$(BIN)/python -m benchmarks.bag_runs rate --cores 4
	$(BIN)/python -m benchmarks.bag_runs exactly --on dask --cores 4 --tasks 200

lock:  ## renew the exact versions that are installed
	sh scripts/renew-locks $(PYTHON)

docs: $(VENV)/.dev  ## build the documentation site into site/
	$(BIN)/python docs/generate_reference.py
	$(BIN)/mkdocs build --strict --quiet

clean:  ## remove everything that was made
	rm -rf $(VENV) $(OUT) build dist site .coverage* .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	sh scripts/debian-packages python3-venv "$(PYTHON) -c 'import ensurepip, venv'"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/demo.lock pyproject.toml | $(VENV)/bin/python
	sh scripts/install-locked $(VENV) requirements/demo.lock
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(VENV)/bin/python
	sh scripts/install-locked $(VENV) requirements/dev.lock
	touch $@ $(VENV)/.runtime

# The tests with a real Slurm need it and root; without them they skip and say so. Behind the
# browser, since apt installs one thing at a time.
$(VENV)/.slurm: | $(VENV)/.browser
	-sh scripts/debian-packages "slurm-wlm slurmdbd slurm-wlm-mysql-plugin munge mariadb-server" \
		"command -v slurmctld slurmd slurmdbd munged mariadbd"
	touch $@

# The browser tests need Chromium; without it they skip and say so.
$(VENV)/.browser: | $(VENV)/bin/python
	-sh scripts/debian-packages "chromium fonts-dejavu-core" "command -v chromium"
	touch $@
