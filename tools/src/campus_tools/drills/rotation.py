"""Rotates every secret of a running system, by the commands of the runbooks, under load of which no request may fail.

    python -m campus_tools.drills.rotation --overlap 20        # make rotation-drill
    python -m campus_tools.drills.rotation --compromised       # make compromise-drill

A system of its own with two instances of each door behind balancers, as on Kubernetes. The overlap of old and new is 1,800 s by the
runbooks; the drill shortens it, and nothing else: a signing key is retired when its last token has ended, after 18 minutes.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import asyncpg
import httpx
import jwt
from rich.console import Console
from rich.table import Table

from campus_tools.bench.stage import NO_QUOTA
from campus_tools.drills.doubled import doubled_system, pay_without_kept_connections
from campus_tools.drills.language_model import ModelCompany, model_company
from campus_tools.drills.load import Load
from campus_tools.journey import Marketplace, StepFailed
from campus_tools.launcher import StartFailed, System
from campus_tools.provision import service_database_urls
from campus_tools.secrets import new_key, read_secrets
from campus_tools.servers import ServerUnavailable
from campus_tools.services import SERVICES
from campus_tools.soak.shelves import put_on_shelves
from common.service_keys import fingerprint_of

_BEGAN = time.monotonic()
# The specification, limits 7.
REVOKED_SECONDS_MAX: Final = 300.0
REDEPLOYED_SECONDS_MAX: Final = 900.0
# A token lives a quarter of an hour, and the key that signed it a minute more; the new one signs a minute and a half after it was made.
RETIRED_SECONDS_MAX: Final = 1_500.0
_STOPPED = (StartFailed, ServerUnavailable, StepFailed, TimeoutError, OSError, httpx.TransportError)


class DrillFailed(Exception):
    """A command of a runbook refused, or something was open that had to be closed."""


@dataclass
class Stage:
    """The system under load, and the companies outside."""

    system: System
    load: Load
    company: ModelCompany
    overlap_seconds: float
    rows: list[tuple[str, str]] = field(default_factory=list)

    @property
    def kept(self) -> dict[str, str]:
        """What secrets.env says now."""
        return read_secrets(self.system.state_dir / "secrets.env")

    @property
    def doors(self) -> list[str]:
        return [self.system.health_url(plan.name) for plan in self.system.plan.processes if plan.service != "sandbox"]

    async def ctl(self, *arguments: str, new_secret: str = "", may_fail: bool = False) -> Any:
        """One command of a runbook, as it stands there; its `data`. Raises DrillFailed when it refuses."""
        say(f"  campusctl {' '.join(arguments)}")
        environment = {
            **os.environ, "STATE_DIR": str(self.system.state_dir), "PORT_BASE": str(self.system.port_base),
            "NEW_SECRET": new_secret,
        }  # fmt: skip
        command = [sys.executable, "-m", "campus_tools.operator.app", *arguments, "--json"]
        ran = await asyncio.create_subprocess_exec(
            *command, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await ran.communicate()
        answer = json.loads(said)
        if ran.returncode not in (0, 4) and not may_fail:
            raise DrillFailed(f"campusctl {' '.join(arguments)}: {answer['error']['detail']}")
        return answer["data"] if answer["data"] is not None else answer["error"]

    async def may_revoke(self) -> None:
        """The overlap, and the check at its end."""
        doors = [part for door in self.doors for part in ("--metrics", door)]
        say(f"  campusctl rotation check (sampling {self.overlap_seconds:g} s)")
        sampled = ("--sample-seconds", f"{self.overlap_seconds:g}", *doors)
        verdict = await self.ctl_quietly("rotation", "check", *sampled)
        if not verdict["mayRevoke"]:
            raise DrillFailed(f"the check is against it: {verdict['reasons']}")

    async def ctl_quietly(self, *arguments: str) -> Any:
        environment = {
            **os.environ, "STATE_DIR": str(self.system.state_dir), "PORT_BASE": str(self.system.port_base),
        }  # fmt: skip
        ran = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "campus_tools.operator.app", *arguments, "--json",
            env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said, _ = await ran.communicate()
        answer = json.loads(said)
        if answer["data"] is None:
            raise DrillFailed(f"campusctl {arguments[0]} {arguments[1]}: {answer['error']['detail']}")
        return answer["data"]

    async def company_keys(self, *keys: str) -> None:
        """What is done on the payment company's page: these keys are valid, and the first signs webhooks."""
        answer = await self.load.market.sandbox.put("/control/gateway-keys", json={"keys": list(keys)})
        answer.raise_for_status()

    def note(self, what: str, seen: str) -> None:
        self.rows.append((what, seen))
        say(f"  {what}: {seen}")


# ---- The five rotations, each as its runbook tells ----------------------------------------------------------------------


async def rotate_gateway_secret(stage: Stage) -> None:
    """docs/runbooks/rotate-gateway-secret.md"""
    old, new = stage.kept["GATEWAY_SECRET_KEY"], f"sk_drill_{new_key()}"
    await stage.company_keys(old, new)
    await stage.ctl("rotation", "begin", "gateway-secret-key", "--yes", new_secret=new)
    await stage.ctl("rotation", "roll")
    await stage.company_keys(new, old)
    stage.load.webhook_key = new
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "gateway-secret-key", "--yes")
    await stage.ctl("rotation", "roll")
    await stage.company_keys(new)
    status = await _webhook_status(stage, old)
    _expect(status == 401, f"a webhook under the old secret was answered {status}")
    _expect(await _webhook_status(stage, new) == 200, "a webhook under the new secret was refused")
    stage.note("gateway secret: old one, new one", f"{status}, 200")


async def rotate_service_role_key(stage: Stage) -> None:
    """docs/runbooks/rotate-service-role-key.md"""
    old = stage.kept["SERVICE_ROLE_KEY"]
    await stage.ctl("rotation", "begin", "service-role-key", "--yes")
    await stage.ctl("rotation", "roll")
    new = stage.kept["SERVICE_ROLE_KEY"]
    for key in (old, new):
        _expect((await stage.load.call_function(key)).status_code == 200, "one of the two keys was refused")
    stage.load.service_key = new
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "service-role-key", "--yes")
    await stage.ctl("rotation", "roll")
    status = (await stage.load.call_function(old)).status_code
    _expect(status == 401, f"a function under the old key was answered {status}")
    stage.note("service role key: old one, new one", f"{status}, {(await stage.load.call_function(new)).status_code}")


async def rotate_database_passwords(stage: Stage) -> None:
    """docs/runbooks/rotate-database-passwords.md"""
    before = stage.kept
    await stage.ctl("rotation", "begin", "database-passwords", "--yes")
    for kept in (before, stage.kept):
        _expect(await _databases_opened(kept) == 12, "one of the two passwords of a database was refused")
    await stage.ctl("rotation", "roll")
    await stage.may_revoke()
    await stage.ctl("rotation", "end", "database-passwords", "--yes")
    old, new = await _databases_opened(before), await _databases_opened(stage.kept)
    _expect((old, new) == (0, 12), f"the old passwords open {old} accounts, the new ones {new} of 12")
    stage.note("database passwords: opened by the old ones, by the new ones", f"{old}, {new} of 12")


async def rotate_ai_key(stage: Stage) -> None:
    """docs/runbooks/rotate-ai-key.md"""
    old, new = stage.kept["AI_API_KEY"], f"ai_drill_{new_key()}"
    stage.company.keys.add(new)
    await stage.ctl("rotation", "begin", "ai-provider-key", "--yes", new_secret=new)
    await stage.ctl("rotation", "roll")
    before = stage.company.answered.get(old, 0)
    await stage.may_revoke()
    _expect(stage.company.answered.get(old, 0) == before, "the provider was still asked with the old key")
    stage.company.keys.discard(old)
    await asyncio.sleep(stage.overlap_seconds / 4)
    stage.note("AI key: asked with the old one after the roll, with the new one", f"0, {stage.company.answered[new]}")


async def begin_signing_keys(stage: Stage) -> tuple[str, str]:
    """docs/runbooks/rotate-signing-keys.md, its first half; the key that signs now, and a token of it."""
    token = stage.load.token
    await stage.ctl("rotation", "begin", "jwt-signing-keys", "--yes")
    return _kid_of(token), token


async def end_signing_keys(stage: Stage, old_kid: str, old_token: str) -> None:
    """Its second half: retired as soon as the command finds that no token can live."""
    deadline = time.monotonic() + RETIRED_SECONDS_MAX
    while "Retired" not in (said := await stage.ctl("rotation", "end", "jwt-signing-keys", "--yes", may_fail=True)).get(
        "said", ""
    ):
        if time.monotonic() > deadline:
            raise DrillFailed(f"the old signing key was not retired: {said}")
        await asyncio.sleep(20)
    new_kid = _kid_of((await stage.load.market.sign_in("buyer2@unilag.edu.ng")).access_token)
    published = {key["kid"] for key in (await stage.load.market.http.get("/.well-known/jwks.json")).json()["keys"]}
    _expect(published == {new_kid} != {old_kid}, f"published are {published}")
    # Verifiers forget a withdrawn key within half a minute.
    await asyncio.sleep(30)
    refused = await stage.load.market.http.get("/api/orders", headers={"Authorization": f"Bearer {old_token}"})
    _expect(refused.status_code == 401, f"a token of the old key was answered {refused.status_code}")
    stage.note("signing keys: token of the old one", f"{refused.status_code} {refused.json()['code']}")


# ---- A key that somebody else has ---------------------------------------------------------------------------------------


async def revoke_compromised(stage: Stage) -> None:
    """docs/runbooks/compromised-key.md: revoked within 5 minutes, redeployed within 15, and what was done with it."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    known, before = stage.kept["SERVICE_ROLE_KEY"], stage.kept
    _expect((await stage.load.call_function(known)).status_code == 200, "the key is not valid to begin with")
    began = time.monotonic()
    stage.load.may_be_refused = True
    await stage.ctl("rotation", "begin", "service-role-key", "--compromised", "--yes")
    await stage.ctl("rotation", "roll")
    status = (await stage.load.call_function(known)).status_code
    _expect(status == 401, f"the compromised key was answered {status}")
    revoked = time.monotonic() - began
    stage.load.service_key = stage.kept["SERVICE_ROLE_KEY"]
    stage.note("service role key refused after", f"{revoked:.0f} s of {REVOKED_SECONDS_MAX:.0f}")
    _expect(revoked <= REVOKED_SECONDS_MAX, "too late")

    began_passwords = time.monotonic()
    await stage.ctl("rotation", "begin", "database-passwords", "--yes")
    await stage.ctl("rotation", "roll")
    await stage.ctl("rotation", "end", "database-passwords", "--now", "--yes")
    revoked = time.monotonic() - began_passwords
    _expect(await _databases_opened(before) == 0, "a compromised password still opens a database")
    stage.load.may_be_refused = False
    stage.note("database passwords refused after", f"{revoked:.0f} s of {REVOKED_SECONDS_MAX:.0f}")
    _expect(revoked <= REVOKED_SECONDS_MAX, "too late")

    redeploying = time.monotonic()
    rolled = await stage.ctl("rotation", "roll", "--every")
    seconds = time.monotonic() - redeploying
    stage.note(
        f"all {len(rolled['rolled'])} processes redeployed in", f"{seconds:.0f} s of {REDEPLOYED_SECONDS_MAX:.0f}"
    )
    _expect(seconds <= REDEPLOYED_SECONDS_MAX, "too late")

    auditing = time.monotonic()
    fingerprint = fingerprint_of(known)
    lines = await stage.ctl("rotation", "trail", "service-role-key", "--since", since, "--named", fingerprint)
    uses = [line["what"] for line in lines]
    let_in, refused = uses.count("service call let in"), uses.count("service call refused")
    _expect(let_in > 0 and refused > 0, "the trail does not tell what was done with the key")
    seen = f"{let_in} let in, {refused} refused, listed in {time.monotonic() - auditing:.0f} s"
    stage.note("trail of the compromised key", seen)


# ---- Around it ----------------------------------------------------------------------------------------------------------


async def _webhook_status(stage: Stage, key: str) -> int:
    probe = Load(stage.load.market, [], key, "")
    try:
        await probe._webhook()
    except Exception as error:
        return int(str(error)[:3])
    return 200


async def _databases_opened(kept: Mapping[str, str]) -> int:
    """How many of the twelve accounts of the processes these passwords open."""
    opened = 0
    for service in SERVICES:
        urls = service_database_urls(kept["DATABASE_URL"], service, kept)
        for name in ("API_DATABASE_URL", "SERVICE_DATABASE_URL"):
            try:
                await (await asyncpg.connect(urls[name])).close()
            except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError):
                continue
            opened += 1
    return opened


def _kid_of(token: str) -> str:
    return str(jwt.get_unverified_header(token)["kid"])


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DrillFailed(otherwise)


async def drill(options: argparse.Namespace) -> bool:
    """The whole drill; whether no request failed and every old secret is refused."""
    with tempfile.TemporaryDirectory(prefix="campus-drill-", ignore_cleanup_errors=True) as folder:
        async with AsyncExitStack() as stack:
            company = await stack.enter_async_context(model_company(f"ai_drill_{new_key()}"))
            say("starting the system, two instances of each door")
            environment = {
                **NO_QUOTA, "OTEL_EXPORTER_OTLP_ENDPOINT": "", "AI_BASE_URL": company.url,
                "AI_API_KEY": next(iter(company.keys)),
            }  # fmt: skip
            doubled = await stack.enter_async_context(doubled_system(folder, environment, options.port_base))
            stack.enter_context(doubled.rolling_by_signal())
            system = doubled.system
            market = Marketplace.at(system.base_url, system.sandbox_url, system.secrets)
            await pay_without_kept_connections(market, system)
            stack.push_async_callback(market.close)
            shelf = await put_on_shelves(market, await market.sign_in("vendor@unilag.edu.ng"), 1_000_000)
            load = Load(market, shelf, system.secrets["GATEWAY_SECRET_KEY"], system.secrets["SERVICE_ROLE_KEY"])
            stage = Stage(system, load, company, options.overlap)
            await load.begin()
            problem = None
            try:
                await asyncio.sleep(10)
                await (revoke_compromised(stage) if options.compromised else _rotations(stage, options.only))
                await asyncio.sleep(5)
            except DrillFailed as error:
                problem = str(error)
            await load.end()
            load.failures += await _webhooks_that_failed(market)
            return _show(stage, problem)


async def _rotations(stage: Stage, only: list[str] | None) -> None:
    chosen = only or ["signing", "gateway", "service", "database", "ai"]
    signing = None
    if "signing" in chosen:
        say("signing keys: published now, retired at the end")
        signing = await begin_signing_keys(stage)
    for name, what, rotate in (
        ("gateway", "gateway secret", rotate_gateway_secret),
        ("service", "service role key", rotate_service_role_key),
        ("database", "database passwords", rotate_database_passwords),
        ("ai", "AI key", rotate_ai_key),
    ):
        if name in chosen:
            say(what)
            await rotate(stage)
    if signing is not None:
        say("signing keys: waiting for the end of the last token of the old one")
        await end_signing_keys(stage, *signing)


async def _webhooks_that_failed(market: Marketplace) -> list[str]:
    """The payment company's own webhooks that were not taken at the first attempt."""
    rows = (await market.sandbox.get("/control/webhooks", params={"target": "gateway", "limit": 1000})).json()
    listed = rows["data"] if isinstance(rows, dict) else rows
    return [
        f"{attempt['attempted_at']} webhook {row['event']} of the sandbox: {attempt['status_code']} {attempt['failure'] or ''}"
        for row in listed
        for attempt in row["attempts"]
        if attempt["status_code"] != 200
    ]


def _show(stage: Stage, problem: str | None) -> bool:
    table = Table("what", "seen")
    for name, count in stage.load.answered.items():
        table.add_row(name, f"{count} answered")
    for what, seen in stage.rows:
        table.add_row(what, seen)
    if stage.load.refused:
        table.add_row("functions refused until their caller had the new key", str(stage.load.refused))
    table.add_row("failed requests", str(len(stage.load.failures)))
    table.add_row("took", f"{time.monotonic() - _BEGAN:.0f} s")
    console = Console(width=150)
    console.print(table)
    for failure in stage.load.failures[:20]:
        console.print(failure, highlight=False, markup=False)
    if problem:
        console.print(problem, style="bold red", highlight=False, markup=False)
    return problem is None and not stage.load.failures


def say(text: str) -> None:
    print(f"drill {time.monotonic() - _BEGAN:5.0f} s  {text}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m campus_tools.drills.rotation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--overlap", type=float, default=20.0, metavar="SECONDS", help="old and new valid together")
    parser.add_argument("--compromised", action="store_true", help="revoke at once, redeploy, and read the trail")
    parser.add_argument(
        "--only", action="append", choices=("signing", "gateway", "service", "database", "ai"), help="not all five"
    )
    parser.add_argument("--port-base", type=int, help="of the drill's own system; a free one unless given")
    try:
        return 0 if asyncio.run(drill(parser.parse_args())) else 1
    except _STOPPED as error:
        sys.stderr.write(f"{error or type(error).__name__}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
