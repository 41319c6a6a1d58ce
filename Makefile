# The two commands that matter: `make run` opens the app, `make test` runs every test. Both prepare all they need.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check tools bench pictures sample viewer lock licences sbom clean environment

# Any Python 3.11 or newer; `make run PYTHON=/path/to/python3.12` chooses one.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$each"; break; }; done)
# Modules are run by name, never by their scripts, so that a folder may hold spaces and may be moved.
VENV := .venv/bin/python
# Test files are shared out among so many processes: each has a database of its own, and often waits for it or a browser.
WORKERS ?= 2
# A stamp is named after what was installed: another requirements file is another stamp, an unchanged one costs nothing.
RUNTIME := .venv/runtime-$(shell cat requirements.txt requirements.lock 2>/dev/null | cksum | cut -d' ' -f1).stamp
TOOLS := .venv/tools-$(shell cat requirements.txt requirements-dev.txt requirements-dev.lock 2>/dev/null | cksum | cut -d' ' -f1).stamp
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The web server must not believe the client address that a request names; a proxy that signs people in is known by its own.
export FORWARDED_ALLOW_IPS :=

help:
	@echo "make run       open Fivefold in the browser (http://127.0.0.1:8501)"
	@echo "make test      run every test, the browser ones included"
	@echo "make check     formatting, lint, types and import directions"
	@echo "make bench     measure against a stock pipeline"
	@echo "make pictures  take the pictures of the documentation from the running app"
	@echo "make sample    write the sample library's files again from their sources"
	@echo "make viewer    fetch the version of pdf.js that shows PDF files, and check it"
	@echo "make lock      choose the newest versions that fit requirements*.txt, and write the lock files"
	@echo "make licences  write the table of licences in docs/licences.md"
	@echo "make sbom      write sbom.json: all installed packages with versions and licences (CycloneDX)"
	@echo "make tools     install what the tests and checks need"
	@echo "make clean     remove the environment, never your data"

run: $(RUNTIME)
	@$(VENV) -m streamlit run app.py $(ARGS)

test: $(TOOLS)
	@$(VENV) -m tests.browser.finding --install
	@$(VENV) -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

tools: $(TOOLS)

check: $(TOOLS)
	@$(VENV) -m ruff format --check .
	@$(VENV) -m ruff check .
	@$(VENV) -m mypy
	@$(VENV) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'

bench: $(TOOLS)
	@$(VENV) -m bench $(ARGS)

pictures: $(TOOLS)
	@$(VENV) -m tests.browser.finding --install
	@$(VENV) -m docs.take_pictures $(ARGS)

sample: $(TOOLS)
	@$(VENV) -m sample.make

viewer:
	@pages/components/document/fetch_pdfjs.sh

# The newest versions that fit the ranges, for every system. torch and what its CUDA build needs are left out: see INSTALL.
LOCK = $(VENV) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header
WITHOUT_TORCH = awk '/^[a-z0-9]/ { keep = !/^(torch==|triton|nvidia-|cuda-)/ } keep'

# moto's boto3 asks for python-dateutil < 3 and works with 4, which reads dates here. Where rfc3987-syntax is installed,
# jsonschema makes 38 grammars for a second; Chroma and Altair import it. Only the SBOM's tool asks for it, for addresses.
lock: $(TOOLS)
	@$(LOCK) requirements.txt | $(WITHOUT_TORCH) > requirements.lock.new && mv requirements.lock.new requirements.lock
	@echo 'python-dateutil>=4' > .venv/overrides.txt
	@echo rfc3987-syntax > .venv/excludes.txt
	@$(LOCK) requirements.txt requirements-dev.txt -c requirements.lock --overrides .venv/overrides.txt --excludes .venv/excludes.txt | $(WITHOUT_TORCH) > requirements-dev.lock.new && mv requirements-dev.lock.new requirements-dev.lock

# pyrage says its licence in its README only.
licences: $(TOOLS)
	@{ sed '/^| Name |/,$$d' docs/licences.md; \
	  $(VENV) -m piplicenses --from=mixed --format=markdown --no-version --with-system --packages torch $$(grep -oE '^[A-Za-z0-9._-]+' requirements.lock) \
	  | tr -s ' -' | sed '/^| pyrage /s/UNKNOWN/MIT License/'; } > docs/licences.md.new && mv docs/licences.md.new docs/licences.md

sbom: $(TOOLS)
	@$(VENV) -m cyclonedx_py environment --output-format JSON --output-file sbom.json .venv/bin/python

clean:
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# An environment that works is left alone, whoever made it; only a half-made one (an interrupted run) is made again.
.venv/made.stamp:
	@if $(VENV) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then touch $@; else $(MAKE) --no-print-directory environment; fi

environment:
	@test -n "$(PYTHON)" || { \
		echo "Fivefold needs Python 3.11 or newer, and none was found." >&2; \
		echo "Install one (python.org, or: apt-get install python3 python3-venv), or name it: make run PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Fivefold needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" --version 2>&1)." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make environments: its modules venv and ensurepip are missing." >&2; \
		echo "On Debian and Ubuntu: apt-get install python3-venv. Or name another: make run PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Making the environment with $$("$(PYTHON)" --version) ..."
	@"$(PYTHON)" -m venv --clear .venv
	@touch .venv/made.stamp

# Exactly the versions of the lock file, each with its checksum. torch by itself and last, so that pip's own settings can
# choose a CPU build, which has another checksum; all it needs is there by then.
INSTALL = $(VENV) -m pip install --quiet --no-deps --require-hashes -r
TORCH = $(VENV) -m pip install --quiet "$$(grep -E '^torch==' requirements.txt)"

$(RUNTIME): .venv/made.stamp
	@echo "Installing what Fivefold needs (a few minutes, once) ..."
	@$(INSTALL) requirements.lock && $(TORCH)
	@rm -f .venv/runtime-*.stamp && touch $@

$(TOOLS): .venv/made.stamp
	@echo "Installing what Fivefold and its tests need (a few minutes, once) ..."
	@$(INSTALL) requirements-dev.lock && $(TORCH)
	@rm -f .venv/runtime-*.stamp .venv/tools-*.stamp && touch $(RUNTIME) $@
