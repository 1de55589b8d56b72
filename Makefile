# Three commands, each sets up what it needs:   make demo   make test   make check: the tests of a change
# Another interpreter: make PYTHON=/path/to/python3.11 demo
PYTHON ?= python3
# in quotes if it has a space, else the shell knows ~
PY := $(if $(word 2,$(PYTHON)),"$(PYTHON)",$(PYTHON))
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test check setup lab site readme evidence
demo: $(STAMP)
	@ecrl demo

test: $(STAMP)
	@python -m ecrl.dev.checks

check: $(STAMP)
	@python -m ecrl.dev.checks --changed

# Arguments go to JupyterLab: make lab ARGS="--port 9999 --no-browser". It refuses root, as in a container, unless told that this is meant.
lab: $(STAMP)
	@jupyter lab --notebook-dir=. $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

site: $(STAMP)
	@ecrl site

readme: $(STAMP)
	@python -c 'from ecrl.dev.checks import write_readme; write_readme()'

# The tracked evidence behind the site and the README, made anew on this machine.
evidence: $(STAMP)
	@rm -rf runs/exp1_demo && ecrl demo --publish && $(MAKE) --no-print-directory readme

setup: $(STAMP)

# uv where it is present or installable (about a minute), else pip. Both compile what they install: where Python may not write
# its bytecode (many containers forbid it), every start of a rank would otherwise compile all of torch, for seconds.
$(STAMP): pyproject.toml constraints.txt
	@$(PY) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11, 5) else "ECRL needs Python 3.11.5 or newer; found %d.%d.%d at %s. Install one, or name it: make PYTHON=/path/to/python3.11 demo" % (*v[:3], sys.executable))'
	@echo "Setting up $(VENV) (once) ..."
	@if UV=$$(command -v uv); then test -x $(BIN)/python || "$$UV" venv --quiet --python "$$(command -v $(PY))" $(VENV); \
	  else test -x $(BIN)/pip || $(PY) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }; \
	    $(BIN)/python -m pip install --quiet uv && UV=$(BIN)/uv; fi; \
	  if test -n "$$UV"; then "$$UV" pip install --quiet --compile-bytecode --python $(BIN)/python -e '.[dev]' -c constraints.txt; \
	  else $(BIN)/python -m pip install --quiet -e '.[dev]' -c constraints.txt; fi
	@touch $@
