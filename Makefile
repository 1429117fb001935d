# Each target makes the virtual environment it needs in .venv and uses it again until what it installs changes.
PYTHON ?= python3
BIN := .venv/bin
SITE := .venv/installed
TEST := .venv/installed-test
PORT ?= 8000

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# An environment holds absolute paths, so a folder that was moved or copied needs a new one.
ifneq ($(CURDIR),$(shell cat $(SITE) 2>/dev/null))
.PHONY: $(SITE)
endif

.PHONY: help site serve test lint record times matrix findings mutants launch ruler corpora handout links bench release clean

help: ## this list (at once)
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' Makefile
	@echo 'ONLY="rnn chapters/bptt.md" takes chapters by name or path: for record, times, matrix, launch, ruler, handout.'
	@echo 'Times are of two cores, without the minutes that it takes, once, to install .venv.'

site: $(SITE) ## build the pages into _build/html (1 min)
	$(BIN)/jupyter-book build . -W -n --keep-going

serve: site ## build the pages and show them at http://localhost:8000, or PORT=8080 (1 min)
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# Two processes with two threads each would wait for one another.
test: export OMP_NUM_THREADS := 1
test: lint ## linters, all tests, all recordings (15 min)
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(TEST) ## style, types and spelling (1 min)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m book.recording.lint
	$(BIN)/mypy
	$(BIN)/codespell

record: $(TEST) ## execute chapters into their recordings (5 min, one chapter 10 s to 1 min)
	$(BIN)/python -m book.recording.record $(ONLY)
	$(BIN)/python -m book.proof.margins
	$(BIN)/python -m book.proof.findings_page

times: $(TEST) ## measure how long chapters run on one thread (6 min, one chapter 10 s to 1 min)
	$(BIN)/python -m book.proof.times $(ONLY)

# ONLY takes words of settings too, ALL=1 all settings; MINUTES=50 ends a run, which the next one continues;
# SINCE=2026-12-01 runs again what was not run since that day.
matrix: $(TEST) ## execute chapters as on other machines, what `make test` asks for (1 h, one chapter 1 to 9 min)
	$(BIN)/python -m book.proof.matrix $(ONLY) \
	  $(if $(ALL),--all) $(if $(SINCE),--since $(SINCE)) $(if $(MINUTES),--minutes $(MINUTES))

findings: $(TEST) ## count in how many of ten runs with other seeds findings hold (30 min, one chapter 1 to 8 min)
	$(BIN)/python -m book.proof.findings $(ONLY) $(if $(MINUTES),--minutes $(MINUTES))

mutants: $(TEST) ## plant faults and count those that are noticed; ONLY= takes modules (1 h, one module 1 to 5 min)
	$(BIN)/python -m book.proof.mutants $(ONLY) $(if $(MINUTES),--minutes $(MINUTES))

launch: $(TEST) ## start each notebook in an empty folder, two in JupyterLab (10 min, one chapter 1 min)
	$(BIN)/python -m book.proof.launch $(ONLY)

ruler: $(TEST) site ## measure pictures and code on the built pages (1 min)
	$(BIN)/python -m book.proof.ruler $(ONLY)

corpora: $(TEST) ## measure the texts (1 min)
	$(BIN)/python -m book.proof.texts

handout: $(SITE) ## write the notebooks without solutions into _build/handout (10 s)
	$(BIN)/python -m book.recording.handout $(ONLY)

links: $(SITE) ## try all links to other sites (2 min)
	$(BIN)/jupyter-book build . --builder linkcheck

bench: $(TEST) ## time the package beside other libraries (5 min)
	$(BIN)/python -m benchmarks.bench

release: export D2LRNN_ALL_MODES := 1
release: $(TEST) ## check, set VERSION=x.y.z, commit and tag; pushes nothing (30 min)
	$(BIN)/python -m book.recording.release tag $(VERSION)

clean: ## remove all that the other targets made but recordings and tables (at once)
	rm -rf _build .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info build
	find . \( -name __pycache__ -o -name .ruff_cache \) -type d -prune -exec rm -rf {} +

$(SITE): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(not (3, 11) <= v <= (3, 13) and \
	  "Python 3.11, 3.12 or 3.13 is needed, this is %d.%d: run make PYTHON=/path/to/python" % v)'
	@if [ -f $@ ] && [ "$$(cat $@)" != "$(CURDIR)" ]; then rm -rf .venv; fi
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@echo "$(CURDIR)" > $@

$(TEST): $(SITE) requirements-test.txt
	$(BIN)/python -m pip install --quiet -r requirements-test.txt
	@touch $@
