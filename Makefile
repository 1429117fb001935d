# Each target makes the virtual environment it needs in .venv and uses it again until what it installs changes.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
PORT ?= 8000

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# An environment holds absolute paths, so a folder that was moved or copied needs a new one.
ifneq ($(CURDIR),$(shell cat $(INSTALLED) 2>/dev/null))
.PHONY: $(INSTALLED)
endif

.PHONY: site test record launch lint bench corpora handout times matrix mutants links serve clean

site: $(INSTALLED)
	$(BIN)/jupyter-book build . -W -n --keep-going

# Two processes with two threads each would wait for one another.
test: export OMP_NUM_THREADS := 1
test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

record: $(INSTALLED)
	$(BIN)/python -m book.recording.record $(if $(ONLY),"$(ONLY)")
	$(BIN)/python -m book.proof.margins

# Each recording alone in an empty folder, then two in JupyterLab in a browser.
launch: $(INSTALLED)
	$(BIN)/python -m book.proof.launch $(ONLY)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m book.recording.lint
	$(BIN)/mypy
	$(BIN)/codespell

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.bench

corpora: $(INSTALLED)
	$(BIN)/python -m book.proof.texts

handout: $(INSTALLED)
	$(BIN)/python -m book.recording.handout

# ONLY="rnn Nehalem" picks chapters and settings, MINUTES=50 ends a long run, which the next one continues.
matrix: $(INSTALLED)
	$(BIN)/python -m book.proof.matrix $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES))

mutants: $(INSTALLED)
	$(BIN)/python -m book.proof.mutants $(if $(ONLY),--only $(ONLY)) $(if $(MINUTES),--minutes $(MINUTES))

times: $(INSTALLED)
	$(BIN)/python -m book.proof.times

links: $(INSTALLED)
	$(BIN)/jupyter-book build . --builder linkcheck

serve: site
	$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

clean:
	rm -rf _build .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info build
	find . \( -name __pycache__ -o -name .ruff_cache \) -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(not (3, 11) <= v <= (3, 13) and \
	  "Python 3.11, 3.12 or 3.13 is needed, this is %d.%d: run make PYTHON=/path/to/python" % v)'
	@if [ -f $@ ] && [ "$$(cat $@)" != "$(CURDIR)" ]; then rm -rf .venv; fi
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@echo "$(CURDIR)" > $@
