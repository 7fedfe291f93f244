# Everything sets itself up: python3, make and git are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run demo test crash faults check format bench snapshots pictures catalog clean

run: $(READY)  ## start the program (without a terminal: play the tour as plain text)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/keen-tui; else $(BIN)/keen-tui --demo; fi

demo: $(READY)  ## the guided tour: no key, no network
	@$(BIN)/keen-tui --demo

test: $(READY)  ## all tests
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

crash: $(READY)  ## kill the program a thousand times and count what is lost: some 20 minutes
	$(BIN)/python -m tests.crash

faults: $(READY)  ## a fault at every point of a session, random bytes by the thousand (FAULTS=--quick: a few)
	$(BIN)/python -m tests.faults $(FAULTS)

check: $(READY)  ## lint, format, strict types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.clean_core

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## measure against docs/performance.md
	$(BIN)/python -m tests.bench $(PARTS)

snapshots: $(READY)  ## the pictures of the screens in the tests anew: look at those that changed
	KEEN_SNAPSHOTS=take $(BIN)/python -m pytest -q tests/snapshots

pictures: $(READY)  ## the pictures of the README, from the real program
	$(BIN)/python -m tests.support.pictures docs/pictures

catalog: $(READY)  ## the shipped models and prices anew, from the packages that know them
	$(BIN)/python -m pip install --quiet --upgrade genai-prices
	rm -rf out/catalog
	$(BIN)/python -m pip download --quiet --no-deps --dest out/catalog litellm
	$(BIN)/python scripts/catalog.py out/catalog/litellm-*.whl

clean:
	rm -rf $(VENV) out

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev --editable .
	@touch $(READY)
