# Every command of the project. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
STATE_DIR ?= .state
PORT_BASE ?= 8080
export STATE_DIR PORT_BASE
# The clients in clients/ are written from the OpenAPI document whenever it is newer.
OPENAPI := services/api-gateway/src/api_gateway/pages/openapi.json
CLIENT := clients/python/src/campus_client/public_events.py

.PHONY: release-notes guides console-shots openapi-check audit-dependencies k8s-check capacity sbom ctl documents schemas fuzz help setup run demo test lint format audit bench bench-quick soak races payout-soak rotation-drill compromise-drill notify-soak restore-drill start-drill upgrade-drill model-check lock clean typescript typescript-check crash-points replay-check simulate postman-check storefront storefront-shots audit-scale scale-drill freeze-drill mutants

# Any other word: a slip of the fingers.
.DEFAULT:
	@printf 'There is no `make %s`; `make` alone lists what there is.\n' '$@' >&2; exit 2

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install what the project needs into .venv (nothing happens when it is up to date)
	@tools/setup
	@[ $(CLIENT) -nt $(OPENAPI) ] || $(PYTHON) -m campus_tools.documents --clients

run: setup guides ## Start the whole system and stay in the foreground; Ctrl-C stops it (PORT_BASE, STATE_DIR, DATABASE_URL, BROKER_URL)
	@exec $(PYTHON) -m campus_tools.launcher

demo: setup ## Run a purchase from sign-up to the paid-out vendor against the running system
	@exec $(PYTHON) -m operations.demo

audit: setup ## Check every money invariant of the running system (ARGS="--json"; GATEWAY_API_URL names another gateway than the sandbox)
	@exec $(PYTHON) -m operations.audit $(ARGS)

ctl: setup ## The operators' command line (ARGS="exceptions list --json"; docs/campusctl.md)
	@exec .venv/bin/campusctl $(ARGS)

test: setup ## Run all tests; starts the servers they need (ARGS="services/orders -k checkout" to choose; TEST_WORKERS=3)
	@exec tools/test $(ARGS)

lint: setup ## Style, formatting, types and the rules between packages
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy libs/common/src services/*/src console/src sandbox/src operations/src tools/src testkit/src lab/src clients/python/src clients/python/examples docs/examples
	@.venv/bin/lint-imports

format: setup ## Format the code and fix what ruff can fix
	@.venv/bin/ruff check --fix-only --quiet .
	@.venv/bin/ruff format .

bench: setup ## Measure each hot path and its limit
	@exec $(PYTHON) -m lab.bench

bench-quick: setup ## The same in six minutes, with less precision
	@exec $(PYTHON) -m lab.bench --quick

capacity: setup ## Measure the cost of an order on a system of its own, calculate the resources for ten million a day, and write docs/capacity.md (ARGS=--kept: calculate only)
	@exec $(PYTHON) -m lab.capacity $(ARGS)

soak: setup ## Send 10,000 webhooks at 100 a second while their worker is killed ten times, and audit (four minutes, a system of its own; ARGS="--read-only 30 --broker-away 60" instead of the kills)
	@exec $(PYTHON) -m lab.soak webhooks $(ARGS)

races: setup ## Two actions at once on an order or a payout: each pair of the tables of transitions, 200 schedules each, and audit (a system of its own; ARGS="--pair cancel/charge", ARGS="--list"; ARGS="--rounds 200" instead for requests to the running system, started with RATE_TIER_2 to _4 raised)
	@exec $(PYTHON) -m $(if $(findstring --rounds,$(ARGS)),lab.soak races,lab.races) $(ARGS)

crash-points: setup ## Kill a process before and after each statement, commit, publish, acknowledgement and provider call of each scenario, and audit (a system of its own; ARGS="--scenario purchase --sample 20", ARGS="--kill 40" for real processes)
	@exec $(PYTHON) -m lab.crash_points $(ARGS)

replay-check: setup ## Rebuild both ledgers from recorded inputs alone after each simulated seed: messages, commands and the record of the gateway give the same chain hash (SEEDS=20; ARGS="--first 100")
	@exec $(PYTHON) -m lab.simulation --replay --seeds $(or $(SEEDS),20) $(ARGS)

simulate: setup ## Seeded schedules of the whole marketplace on a virtual clock, with reordered messages, crashes and gateway faults; broken ones are shrunk (SEEDS=200; ARGS="--hours 8", ARGS="--seed 4711")
	@exec $(PYTHON) -m lab.simulation --seeds $(or $(SEEDS),200) $(ARGS)

audit-scale: setup ## Time and memory of an audit by the number of orders, on generated rows (a system of its own; ARGS="--orders 1000000")
	@exec $(PYTHON) -m lab.audit_scale $(ARGS)

payout-soak: setup ## Dispatch 1,000 payouts while 5 % of the calls get no response and 2 % fail after acceptance, and audit (three minutes, a system of its own; ARGS="--count 200")
	@exec $(PYTHON) -m lab.soak payouts $(ARGS)

rotation-drill: setup ## Rotate every secret of a running system under load, by the commands of the runbooks, and count failed requests (20 minutes, a system of its own; ARGS="--only sealing --overlap 60"; of released images ARGS="--images build/release")
	@exec $(PYTHON) -m lab.drills.rotation $(ARGS)

compromise-drill: setup ## Revoke a compromised key and the databases' passwords under load, redeploy, read the trail, measured (five minutes, a system of its own; of released images ARGS="--images build/release")
	@exec $(PYTHON) -m lab.drills.rotation --compromised $(ARGS)

notify-soak: setup ## Send 10,000 messages over four channels while text messages hang for a minute and the worker is killed three times (five minutes, a system of its own; ARGS="--count 2000 --down push --how refusing")
	@exec $(PYTHON) -m lab.soak notifications $(ARGS)

restore-drill: setup ## Lose the databases and the broker, restore the databases to an instant, let the gateway send its last three days again, and audit (five minutes, a system of its own; ARGS="--each 5 --skew 10"; of released images ARGS="--images build/release")
	@exec $(PYTHON) -m lab.drills restore $(ARGS)

upgrade-drill: setup ## Replace an older version by this one under load: schema first, then process by process; no request fails (four minutes, a system of its own; ARGS="--from COMMIT"; of released images ARGS="--from-images FOLDER --images build/release")
	@exec $(PYTHON) -m lab.drills upgrade $(ARGS)

start-drill: setup ## Start three of every process at once on empty servers, with three provisioners and three migrations of each service, and audit (ARGS="--each 10")
	@exec $(PYTHON) -m lab.drills start $(ARGS)

freeze-drill: setup ## Freeze broker, database and Redis by SIGSTOP, or drop their packets, for 20, 40 and 120 s under load; everything arrives within 30 s (fifteen minutes; ARGS="--mode drop --server rabbitmq --seconds 40")
	@exec $(PYTHON) -m lab.drills freeze $(ARGS)

scale-drill: setup ## Stop each node of a replicated system in turn under load (three RabbitMQ nodes, PostgreSQL with a replica, Redis, two of every process), and audit (ten minutes; ARGS="--rate 1 --stop primary")
	@exec $(PYTHON) -m lab.drills scale $(ARGS)

mutants: setup ## One fault at a time in money's code, database guards and audit rules, which a test must detect (hours; ARGS="--service payments --kind sql --sample 20" in minutes, ARGS="--kind guard" in one)
	@exec $(PYTHON) -m lab.mutants $(ARGS)

model-check: setup ## Drive the dispatch of payouts through MODEL_SCHEDULES (20,000) random schedules in memory; MODEL_SEED runs one again
	@MODEL_SCHEDULES=$${MODEL_SCHEDULES:-20000} exec .venv/bin/pytest -q -s services/payouts/tests/model $(ARGS)

documents: setup ## Write OpenAPI, AsyncAPI, the clients, docs/reference and the rules and dashboards of deploy/observability from the code
	@$(PYTHON) -m campus_tools.documents
	@$(PYTHON) -m campus_tools.reference
	@$(PYTHON) -m campus_tools.observability
	@$(PYTHON) deploy/k8s/render.py

guides: setup ## Build the documentation site, which the gateway serves under /guides (a second; ARGS=FOLDER: into another folder)
	@$(PYTHON) -m campus_tools.guides $(ARGS)

typescript: ## Build the TypeScript client of clients/typescript (needs Node; nothing happens when it is up to date)
	@clients/typescript/scripts/check build

typescript-check: setup ## Test the TypeScript client, in Node and in Chromium, against the running system or one of its own (needs Node)
	@tools/setup browser
	@clients/typescript/scripts/check

openapi-check: setup ## Lint the OpenAPI document and generate clients from it with the usual generators (needs Node; ARGS="--keep FOLDER", then tools/openapi/story/run FOLDER buys something with them)
	@tools/openapi/check $(ARGS)

postman-check: setup ## Run the Postman collection against the running system with newman: the journey, then the reference (needs Node; start it with RATE_TIER_1 to _5 raised)
	@tools/openapi/postman-check

storefront: ## Build the example storefront and serve it at STOREFRONT_PORT (5173) for the system of PORT_BASE (needs Node)
	@VITE_API_URL=$${VITE_API_URL:-http://127.0.0.1:$(PORT_BASE)} exec tools/storefront

schemas: setup ## Write migrations/schema.sql of each service from a migrated database
	@WRITE_SCHEMA_FILES=1 .venv/bin/pytest -q tools/tests/test_schema_files.py

fuzz: setup ## Try every operation with odd requests against the running system, as five roles, four minutes (start it with RATE_TIER_1 to _5 raised; ARGS="--roles VENDOR --seconds 60", ARGS="--each-once --examples 1" in one)
	@exec $(PYTHON) -m lab.fuzz $(ARGS)

k8s-check: setup ## Compare the cluster of kubectl's current context with an overlay of deploy/k8s; changes nothing (ARGS=production)
	@exec $(PYTHON) -m lab.cluster_check $(ARGS)

audit-dependencies: setup ## Check every locked requirement against the public advisories; a missing response is a failure (ARGS="--service pypi")
	@$(PYTHON) -m campus_tools.supply advisories $(ARGS)

sbom: setup ## Write each image's bill of materials to build/sbom (CycloneDX 1.6; VERSION=1.0.0)
	@$(PYTHON) -m campus_tools.supply bills $(if $(VERSION),--version $(VERSION))

release-notes: ## Print the changelog's section of a release (VERSION=1.0.0; docs/releases.md)
	@deploy/release/notes $(VERSION)

lock: ## Resolve the dependencies and write requirements.lock
	@tools/setup lock

console-shots: setup ## Write the images of docs/console.md from the running system, with the system's Chromium
	@tools/setup browser
	@$(PYTHON) -m tests.console.shots

storefront-shots: setup ## Write the images of examples/storefront/README.md from the running system, with the system's Chromium
	@tools/setup browser
	@$(PYTHON) -m tests.storefront.shots

clean: ## Remove the running state: databases, logs, secrets, caches (not .venv)
	@tools/setup clean
