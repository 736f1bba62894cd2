# Two commands: `make run` and `make test`. Both set up everything they need in .venv.

PYTHON ?= python3
ENGINE ?= vllm
VENV := .venv
BIN := $(VENV)/bin

# Which engine to install: none for a scripted one, else by hardware.
DEVICE = $(if $(filter scripted openai,$(ENGINE)),none,$(shell $(PYTHON) app/llm/hardware.py))

.PHONY: run test test-fast check format eval bench install clean help

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s:

run: ## install what is missing, then serve on 127.0.0.1:8000
	@scripts/install.sh "$(PYTHON)" $(VENV) $(DEVICE)
	@exec $(BIN)/python -m app

test: ## the whole suite: real engine, real Postgres, real HTTP
	@scripts/install.sh "$(PYTHON)" $(VENV) $(or $(filter gpu,$(DEVICE)),cpu) eval dev
	$(BIN)/python -m pytest

test-fast: ## without a model
	@scripts/install.sh "$(PYTHON)" $(VENV) none eval dev
	$(BIN)/python -m pytest -m "not model"

check: ## format, lint, types, imports
	@scripts/install.sh "$(PYTHON)" $(VENV) none eval dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: ## put the code into the house's form
	@scripts/install.sh "$(PYTHON)" $(VENV) none eval dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Another service: make eval BASE_URL=https://staging.example, its key in EVAL_API_KEY.
BASE_URL ?= http://127.0.0.1:$(or $(PORT),8000)

eval: ## sixteen checks against the running service, scored; the whole eval: .venv/bin/python -m eval --help
	@scripts/install.sh "$(PYTHON)" $(VENV) none eval
	@mkdir -p eval-results
	$(BIN)/python -m eval run --smoke --base-url $(BASE_URL) --out eval-results/smoke-$$(date +%Y%m%d-%H%M%S).jsonl

bench: ## the chosen CPU settings against vLLM's defaults, as ratios
	@scripts/install.sh "$(PYTHON)" $(VENV) cpu
	$(BIN)/python -m bench.cpu_settings

install: ## only install
	@scripts/install.sh "$(PYTHON)" $(VENV) $(DEVICE) eval dev

clean: ## remove the environment; weights and data stay
	rm -rf $(VENV)
