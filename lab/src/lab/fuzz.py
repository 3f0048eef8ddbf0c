"""`make fuzz`: run schemathesis with the OpenAPI document against the running system, as several roles.

It fails on 5xx, undocumented statuses, bodies, headers and media types, accepted requests that violate the schema or
have no token, unknown methods without 405, and removed resources that are still found. Valid requests may be rejected:
ids of missing resources match the schema. `default` responses are removed from the document: an error that only
`default` describes counts as undocumented. It writes random data: use a disposable system, started with RATE_TIER_1 to
_5, RATE_TIER_4_ADDRESS, RATE_REFUSED_REFRESHES and RATE_MACHINES raised.

`--each-once` tries each operation as one account with the permission, with requests fixed by a seed and no time limit
(`.ci/run`): without those that tools/openapi/fuzz_hooks.py leaves out, and without the documented examples, which
`make postman-check` sends.
"""

import argparse
import asyncio
import json
import os
import re
import secrets
import sys
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from contracts import demo
from contracts.permissions import permissions_of
from operations.journey import Marketplace
from operations.processes import SANDBOX_PORT
from operations.secrets import read_secrets

_CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
)
# An ended session is rejected before the method is checked.
_CHECKS_OF_A_NEWCOMER: Final = tuple(check for check in _CHECKS if check != "unsupported_method")
# These responses never end.
_ENDLESS: Final = re.compile("/stream$")
# These operations end the session or the account of the trial.
_ENDING: Final = re.compile("logout|password|auth/sessions|profiles/current|/mfa/|suspend|/revoke")
_ROLES: Final = ("BUYER", "VENDOR", "SUPPORT", "CHECKER", "ADMIN")
_SERVICE_KEY, _NEWCOMER = "SERVICE_KEY", "NEWCOMER"
# The first account with the permission tries an operation.
_IN_TURN: Final = (*_ROLES, "MAKER", "OPS", "CAMPUS", "AUDITOR", "HUB", "PACKER")

_HOOKS: Final = Path(__file__).parents[3] / "tools/openapi"

# One trial for each of two processors.
_AT_ONCE: Final = 2

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """An account and the ids of the operations that it tries."""

    who: str
    operations: tuple[str, ...]


def main() -> None:
    """Exit with status 1 when a trial found a fault."""
    arguments = argparse.ArgumentParser(prog="make fuzz", description="Try every operation with unusual requests.")
    arguments.add_argument("--roles", default=",".join(_ROLES), help="of: %(default)s")
    arguments.add_argument("--seconds", default=90, type=int, help="for each role")
    arguments.add_argument("--examples", default=5, type=int, help="for each operation and kind of fault")
    arguments.add_argument("--seed", default=1, type=int)
    arguments.add_argument("--each-once", action="store_true", help="each operation as one account that may use it")
    options = arguments.parse_args()
    state_dir = Path(os.environ.get("STATE_DIR", ".state")).absolute()
    base_url = os.environ.get("BASE_URL") or f"http://127.0.0.1:{os.environ.get('PORT_BASE', '8080')}"
    try:
        document = _strict_document(base_url)
    except httpx.TransportError as error:
        sys.exit(f"No response from {base_url} ({error}). Is the system running? `make run` starts it.")
    trials = _each_once(document) if options.each_once else _by_each(document, options.roles.split(","))
    (state_dir / "fuzz").mkdir(mode=0o700, parents=True, exist_ok=True)
    (state_dir / "fuzz" / "openapi.json").write_text(json.dumps(document))
    found = asyncio.run(_run_all(trials, base_url, state_dir, options))
    sys.exit(1 if found else 0)


async def _run_all(trials: list[Trial], base_url: str, state_dir: Path, options: argparse.Namespace) -> bool:
    """Return whether a trial found a fault."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def run(trial: Trial) -> bool:
        async with turns:
            token = await _token(base_url, state_dir, trial.who)
            status, output = await _run(trial, base_url, token, state_dir / "fuzz", options)
        print(f"\n=== {trial.who}\n{output}", flush=True)
        return status != 0

    return any(await asyncio.gather(*map(run, trials)))


def _strict_document(base_url: str) -> Document:
    document: Document = httpx.get(f"{base_url}/openapi.json", trust_env=False).raise_for_status().json()
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("default", None)
    return document


def _by_each(document: Document, roles: list[str]) -> list[Trial]:
    """Every operation that ends no session, as each role."""
    chosen = tuple(
        operation["operationId"]
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if not _ENDLESS.search(path) and not _ENDING.search(path)
    )
    return [Trial(role, chosen) for role in roles]


def _each_once(document: Document) -> list[Trial]:
    """Each operation as the first account that may use it, or as a new user when it ends a session; longest first."""
    chosen: defaultdict[str, list[str]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if not _ENDLESS.search(path):
                chosen[_first_who_may(path, operation)].append(operation["operationId"])
    return [Trial(who, tuple(chosen[who])) for who in sorted(chosen, key=lambda who: (-len(chosen[who]), who))]


def _first_who_may(path: str, operation: Mapping[str, Any]) -> str:
    if {"serviceKey": []} in operation["security"]:
        return _SERVICE_KEY
    if _ENDING.search(path):
        return _NEWCOMER
    required = set(operation.get("x-permissions", ()))
    users = {user.name: user for user in demo.USERS}
    return next(
        (name for name in _IN_TURN if not required or required & permissions_of(users[name].roles)), _IN_TURN[0]
    )


def _sandbox_of(base_url: str) -> str:
    """Return the sandbox's URL: its port is 90 above the gateway's."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.hostname}:{(parts.port or 80) + SANDBOX_PORT}"


async def _token(base_url: str, state_dir: Path, who: str) -> str:
    known = read_secrets(state_dir / "secrets.env")
    if who == _SERVICE_KEY:
        return known["SERVICE_ROLE_KEY"]
    async with Marketplace.at(base_url, _sandbox_of(base_url), known) as market:
        if who == _NEWCOMER:
            phone = f"+234801{secrets.randbelow(10**7):07}"
            return (await market.sign_up(f"{uuid.uuid4().hex}@unilag.edu.ng", "New Comer", phone)).access_token
        email = next(user.email for user in demo.USERS if user.name == who)
        if f"DEMO_TOTP_{who}" in known:
            return (await market.sign_in_with_two_factors(email, who)).access_token
        return (await market.sign_in(email)).access_token


async def _run(trial: Trial, base_url: str, token: str, folder: Path, options: argparse.Namespace) -> tuple[int, str]:
    """Status and output of schemathesis."""
    folder = folder / trial.who.lower()
    folder.mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("st")), "run", "../openapi.json", "--url", base_url]
    for operation in trial.operations:
        command += ["--include-operation-id", operation]
    checks = _CHECKS_OF_A_NEWCOMER if trial.who == _NEWCOMER else _CHECKS
    command += ["--header", f"Authorization: Bearer {token}", "--checks", ",".join(checks)]
    phases = "coverage,fuzzing" if options.each_once else "examples,coverage,fuzzing"
    command += ["--phases", phases, "--max-examples", str(options.examples)]
    # No examples of earlier runs: the seed alone determines the requests.
    command += ["--seed", str(options.seed), "--generation-database", "none", "--continue-on-failure"]
    command += ["--warnings", "off", "--no-color"]
    # hypothesis computes the characters that UTF-8 encodes once for all trials: 3 s of CPU.
    environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder.parent / "hypothesis")}
    if options.each_once:
        environment |= {"SCHEMATHESIS_HOOKS": "fuzz_hooks", "PYTHONPATH": str(_HOOKS)}
    else:
        command += ["--max-time", str(options.seconds)]
    # schemathesis writes a cache into its working directory.
    child = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await child.communicate()
    return child.returncode or 0, output.decode(errors="replace")


if __name__ == "__main__":
    main()
