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

.PHONY: setup run demo dev storefront clean help test lint format audit fuzz openapi-check postman-check \
    typescript-check new-endpoint migration documents schemas guides typescript shots ctl k8s-check lock \
    audit-dependencies sbom release-notes bench bench-quick simulate crash-points races \
    mutants soak payout-soak notify-soak broker-soak freeze-drill scale-drill failover-drill overload-drill \
    client-chaos restore-drill one-box-drill installation-drill upgrade-drill rotation-drill compromise-drill world-drill check-history

# Any other word: a slip of the fingers.
.DEFAULT:
	@printf 'There is no `make %s`; `make` alone lists what there is.\n' '$@' >&2; exit 2

##@ Start

setup: ## Install what the project needs into .venv; nothing happens when it is up to date
	@tools/setup
	@[ $(CLIENT) -nt $(OPENAPI) ] || $(PYTHON) -m campus_tools.documents --clients

# PORT_BASE, STATE_DIR, DATABASE_URL and BROKER_URL move it or give it your servers. PROCESSES=split starts API and
# worker of each service apart, as Kubernetes does.
run: setup guides ## Start the whole system and stay in the foreground; Ctrl-C stops it
	@exec $(PYTHON) -m campus_tools.launcher

# ARGS="--image docs/images/demo.svg" writes the image of the README.
demo: setup ## Run a purchase from sign-up to the paid-out vendor against the running system
	@exec $(PYTHON) -m operations.demo $(ARGS)

# Watches services/$S and libs/common; without S every service.
dev: setup ## Restart a service of the running system whenever its code changes (S=orders)
	@exec $(PYTHON) -m campus_tools.launcher.reload $(S)

# STOREFRONT_PORT (5173), VITE_API_URL (the gateway at PORT_BASE).
storefront: ## Build the example storefront and serve it (needs Node)
	@VITE_API_URL=$${VITE_API_URL:-http://127.0.0.1:$(PORT_BASE)} exec tools/storefront

clean: ## Remove the running state: databases, logs, secrets, caches (not .venv)
	@tools/setup clean

help: ## List the commands; `make help T=races` shows what one of them takes
	@awk -v T='$(T)' -f tools/help.awk Makefile

##@ Check

# ARGS="services/orders -k checkout" is for pytest; ARGS=system, ARGS=parts: one kind of tests; TEST_WORKERS=3.
test: setup ## Run all tests, or those of a part (S=orders); starts the servers they need
	@exec tools/test $(if $(S),$(or $(wildcard services/$(S) libs/$(S) $(S)),$(error There is no part $(S))) )$(ARGS)

lint: setup ## Style, formatting, types and the rules between packages
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy libs/common/src services/*/src console/src sandbox/src operations/src tools/src testkit/src lab/src \
	    clients/python/src clients/python/examples clients/python/scripts docs/examples
	@.venv/bin/lint-imports

format: setup ## Format the code and fix what ruff can fix
	@.venv/bin/ruff check --fix-only --quiet .
	@.venv/bin/ruff format .

# ARGS="--json"; GATEWAY_API_URL names another gateway than the sandbox.
audit: setup ## Check every money invariant of the running system
	@exec $(PYTHON) -m operations.audit $(ARGS)

# Start the system with RATE_TIER_1 to _5 raised. Four minutes; ARGS="--roles VENDOR --seconds 60";
# ARGS="--each-once --examples 1" takes one.
fuzz: setup ## Try every operation of the running system with odd requests, as five roles
	@exec $(PYTHON) -m lab.fuzz $(ARGS)

# ARGS="--keep FOLDER", then tools/openapi/story/run FOLDER buys something with them.
openapi-check: setup ## Lint the OpenAPI document and generate clients with the usual generators (needs Node)
	@tools/openapi/check $(ARGS)

# Start the system with RATE_TIER_1 to _5 raised.
postman-check: setup ## Run the Postman collection against the running system with newman (needs Node)
	@tools/openapi/postman-check

# Against the running system, or one of its own.
typescript-check: setup ## Test the TypeScript client, in Node and in Chromium (needs Node)
	@tools/setup browser
	@clients/typescript/scripts/check

# S=payouts NOUN=payout-note TABLE=payout_notes: GET /api/payout-notes/:id.
new-endpoint: setup ## Write test, query, response and route of a new endpoint
	@$(PYTHON) -m campus_tools.new_endpoint $(S) $(NOUN) $(TABLE)

# S=orders M="add a note to hubs": from the committed schema to the tables of the working tree. Read it before its first run.
migration: setup ## Write the next migration of a service with alembic
	@$(PYTHON) -m campus_tools.new_migration $(S) "$(M)"

documents: setup ## Write OpenAPI, AsyncAPI, clients, docs/reference, alert rules and manifests from the code
	@$(PYTHON) -m campus_tools.documents
	@$(PYTHON) -m campus_tools.reference
	@$(PYTHON) -m campus_tools.observability.objectives
	@$(PYTHON) deploy/k8s/render.py

schemas: setup ## Write migrations/schema.sql of each service from a migrated database
	@WRITE_SCHEMA_FILES=1 .venv/bin/pytest -q tools/tests/test_schema_files.py

# ARGS=FOLDER: into another folder.
guides: setup ## Build the documentation site, which the gateway serves under /guides
	@$(PYTHON) -m campus_tools.guides $(ARGS)

typescript: ## Build the TypeScript client of clients/typescript (needs Node)
	@clients/typescript/scripts/check build

shots: setup ## Write the images of docs/images from the running system, with Chromium and Node
	@tools/setup browser
	@$(PYTHON) -m tests.shots

##@ Operate

# ARGS="exceptions list --json".
ctl: setup ## The operators' command line (docs/campusctl.md)
	@exec .venv/bin/campusctl $(ARGS)

# ARGS=production.
k8s-check: setup ## Compare kubectl's cluster with an overlay of deploy/k8s; changes nothing
	@exec $(PYTHON) -m lab.cluster_check $(ARGS)

lock: ## Resolve the dependencies and write requirements.lock
	@tools/setup lock

# A missing response is a failure. ARGS="--service pypi".
audit-dependencies: setup ## Check every locked requirement against the public advisories
	@$(PYTHON) -m campus_tools.supply advisories $(ARGS)

# VERSION=1.0.0.
sbom: setup ## Write each image's bill of materials to build/sbom (CycloneDX 1.6)
	@$(PYTHON) -m campus_tools.supply bills $(if $(VERSION),--version $(VERSION))

# docs/releases.md.
release-notes: ## Print the changelog's section of a release (VERSION=1.0.0)
	@deploy/release/notes $(VERSION)

##@ Lab: each on a system of its own, most for minutes

bench: setup ## Measure each hot path as a ratio to its limit
	@exec $(PYTHON) -m lab.bench

bench-quick: setup ## The same in six minutes, with less precision
	@exec $(PYTHON) -m lab.bench --quick

# Broken schedules are shrunk. All stories, and 80 seeds; SEEDS=500, ARGS="--hours 8", ARGS="--seed 4711".
simulate: setup ## Seeded schedules of the marketplace on a virtual clock, with crashes and faults
	@exec $(PYTHON) -m lab.simulation $(if $(SEEDS),--seeds $(SEEDS)) $(ARGS)

# Effects: statement, commit, publish, acknowledgement, provider call. ARGS="--scenario purchase --sample 20";
# ARGS="--deaths two" and "--deaths together" for two deaths.
crash-points: setup ## Kill a process before and after each effect of each scenario, and audit
	@exec $(PYTHON) -m lab.crash_points $(ARGS)

# ARGS="--pair cancel/charge", ARGS="--list", ARGS="--three --schedules 60" for three actions.
races: setup ## Interleave two actions at every effect, 200 schedules for each pair, and audit
	@exec $(PYTHON) -m lab.races $(ARGS)

# ARGS="--service payments --kind sql --sample 20" takes minutes, ARGS="--kind guard" one.
mutants: setup ## One fault at a time in code, SQL and database; a test must detect it (hours)
	@exec $(PYTHON) -m lab.mutants $(ARGS)

# ARGS="--count 500 --kills 2".
soak: setup ## Send 10,000 webhooks while their worker is killed ten times, and audit
	@exec $(PYTHON) -m lab.soak webhooks $(ARGS)

# 5 % of the calls get no response and 2 % fail after acceptance. ARGS="--count 200".
payout-soak: setup ## Dispatch 1,000 payouts through a failing gateway, and audit
	@exec $(PYTHON) -m lab.soak payouts $(ARGS)

# ARGS="--count 2000 --down push --how refusing".
notify-soak: setup ## Send 10,000 messages while text messages hang and the worker is killed
	@exec $(PYTHON) -m lab.soak notifications $(ARGS)

# ARGS="--count 50000"; ARGS="--broker URL MANAGEMENT FOLDER" for another version of RabbitMQ.
broker-soak: setup ## Send a million messages through delay and dead letter queues; measure the disk
	@exec $(PYTHON) -m lab.soak broker $(ARGS)

# F=build/histories/soak-....jsonl: operations as invoke and ok, fail or info, and the final reads.
check-history: setup ## Check the history that a soak, a drill or races has written (F=FILE)
	@exec $(PYTHON) -m lab.histories $(F)

# Everything arrives within 30 s. 20, 40 and 120 s each; ARGS="--mode drop --server rabbitmq --seconds 40".
freeze-drill: setup ## Freeze broker, database and Redis, or drop their packets, under load
	@exec $(PYTHON) -m lab.drills freeze $(ARGS)

# Three RabbitMQ nodes, PostgreSQL with a replica, Redis, two of every process. ARGS="--rate 1 --stop primary freeze".
scale-drill: setup ## Stop or freeze each node of a replicated system under load, and audit
	@exec $(PYTHON) -m lab.drills scale $(ARGS)

# Acknowledged is what a second machine has. ARGS="--rate 2 --down 30".
failover-drill: setup ## Lose the standby and then the primary under load, promote, and audit
	@exec $(PYTHON) -m lab.drills failover $(ARGS)

# Node and Python, each in a network namespace (needs Node). ARGS="--rounds 40 --seed 7"; self-check ARGS=--planted.
client-chaos: setup typescript ## Kill servers while users of both clients buy, sell and are paid, and audit
	@exec $(PYTHON) -m lab.drills clients $(ARGS)

# Its median and its queues are as before within a minute. ARGS="--seconds 120".
overload-drill: setup ## Send three times the measured capacity for a minute, and audit
	@exec $(PYTHON) -m lab.drills overload $(ARGS)

# The gateway sends its last three days again. ARGS="--each 5 --skew 10"; of released images
# ARGS="--images build/release".
restore-drill: setup ## Lose databases and broker, restore to an instant, and audit
	@exec $(PYTHON) -m lab.drills restore $(ARGS)

# pgBackRest, which is installed as root where it is missing. ARGS="--each 5".
one-box-drill: setup ## Lose one machine under orders, restore it by campusctl, and audit; prints RPO and RTO
	@exec $(PYTHON) -m lab.drills one-box $(ARGS)

# As root: an overlay of this machine's files, booted by systemd in namespaces, with Debian's servers.
installation-drill: setup ## Install on an empty machine by campusctl, sell, kill, boot and upgrade; prints the memory of each unit
	@exec $(PYTHON) -m lab.drills installation $(ARGS)

# ARGS="--from COMMIT"; both versions side by side by ten seeds: ARGS="--from COMMIT --skew 10"; of released images ARGS="--from-images FOLDER --images build/release".
upgrade-drill: setup ## Replace an older version by this one under load; no request fails
	@exec $(PYTHON) -m lab.drills upgrade $(ARGS)

# ARGS="--only sealing --overlap 60"; of released images ARGS="--images build/release".
rotation-drill: setup ## Rotate every secret under load, and count failed requests (20 minutes)
	@exec $(PYTHON) -m lab.drills rotation $(ARGS)

# ARGS="--images build/release" for released images.
compromise-drill: setup ## Revoke a compromised key and the databases' passwords under load
	@exec $(PYTHON) -m lab.drills rotation --compromised $(ARGS)

# Root, nft and a C compiler. 30 minutes; ARGS="--fault postgresql-fsync queue-deleted --rate 1".
world-drill: setup ## Break disks, clocks, networks and the broker's parts under load, and audit
	@exec $(PYTHON) -m lab.drills world $(ARGS)
