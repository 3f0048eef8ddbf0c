"""`make fuzz`: schemathesis over the OpenAPI document against the running system, as several roles, for a bounded time.

No 5xx, no undocumented status, no body, header or media type outside what the document says. `default` is taken out of the document
first: a refusal that only it describes counts as undocumented. It writes rubbish: use it on a system whose content nobody needs,
started with RATE_TIER_1 to _5, RATE_TIER_4_ADDRESS and RATE_MACHINES raised.
"""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import httpx

from campus_tools.journey import Marketplace
from campus_tools.secrets import read_secrets

# Fetched into a cache of its own: its pytest plugin has no place among our tests.
_SCHEMATHESIS: Final = "schemathesis==4.32.5"
_CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
# What would end the very session that is tried with, or never ends.
_LEFT_OUT: Final = "logout|password|auth/sessions|profiles/current|/mfa/|suspend|/revoke|/stream|/media"
_ROLES: Final = {
    "BUYER": "buyer@unilag.edu.ng",
    "VENDOR": "vendor@unilag.edu.ng",
    "SUPPORT": "support@campus.example",
    "CHECKER": "checker@campus.example",
    "ADMIN": "admin@campus.example",
}


def main() -> None:
    """Runs each role in turn; ends with status 1 when one of them found something."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--roles", default=",".join(_ROLES), help="of: %(default)s")
    arguments.add_argument("--seconds", default=90, type=int, help="for each role")
    arguments.add_argument("--examples", default=5, type=int, help="for each operation and kind of fault")
    arguments.add_argument("--seed", default=1, type=int)
    options = arguments.parse_args()
    state_dir = Path(os.environ.get("STATE_DIR", ".state"))
    base_url = os.environ.get("BASE_URL") or f"http://127.0.0.1:{os.environ.get('PORT_BASE', '8080')}"
    document = _strict_document(base_url, state_dir)
    found = False
    for role in options.roles.split(","):
        token = asyncio.run(_token(base_url, state_dir, role))
        print(f"\n=== {role}", flush=True)
        found |= _run(document, base_url, token, options) != 0
    sys.exit(1 if found else 0)


def _strict_document(base_url: str, state_dir: Path) -> Path:
    document: dict[str, Any] = httpx.get(f"{base_url}/openapi.json", trust_env=False).raise_for_status().json()
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("default", None)
    path = state_dir / "fuzz" / "openapi.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


async def _token(base_url: str, state_dir: Path, role: str) -> str:
    known = read_secrets(state_dir / "secrets.env")
    market = Marketplace.at(base_url, base_url, known)
    try:
        if f"DEMO_TOTP_{role}" in known:
            return (await market.sign_in_with_two_factors(_ROLES[role], role)).access_token
        return (await market.sign_in(_ROLES[role])).access_token
    finally:
        await market.close()


def _run(document: Path, base_url: str, token: str, options: argparse.Namespace) -> int:
    uv = shutil.which("uv") or "tools/.venv/bin/uv"
    command = [uv, "tool", "run", "--from", _SCHEMATHESIS, "st", "run", str(document), "--url", base_url]
    command += ["--header", f"Authorization: Bearer {token}", "--checks", ",".join(_CHECKS)]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", str(options.examples)]
    command += ["--max-time", str(options.seconds), "--seed", str(options.seed), "--continue-on-failure"]
    command += ["--exclude-path-regex", _LEFT_OUT, "--warnings", "off", "--no-color"]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    main()
