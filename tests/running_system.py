"""One running system for the end-to-end and the console's tests, started by the launcher that `make run` uses."""

import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import asyncpg
import httpx
import jwt
import pytest
import pytest_asyncio

from campus_tools.launcher.ports import free_port_base
from campus_tools.launcher.system import System
from operations.journey import Marketplace, SignedInUser
from testkit.marketplaces import marketplace_at
from testkit.workers import throwaway_state
from tests.end_to_end.issuers import FurtherIssuers, further_issuers
from tests.end_to_end.responses import Responses

# Many users act from one machine here: each client has an address of its own by a trusted proxy, and the tiers that
# count users are out of the way. Tier 1 keeps its sixty.
SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1,127.0.0.2",
    "RATE_TIER_2": "100000",
    "RATE_TIER_3": "100000",
    "RATE_TIER_4": "100000",
    "RATE_TIER_4_ADDRESS": "100000",
    "RATE_REFUSED_REFRESHES": "100000",
    "RATE_TIER_5": "100000",
    # Quick, with a last step for whatever is late on a busy machine.
    "RETRY_DELAYS_SECONDS": "0.2,0.5,1,5,15",
    "PAYOUT_RETRY_SECONDS": "0.5",
    # The tests share their buyers.
    "UNPAID_ORDERS_MAX": "1000",
    "UNPAID_SHARE_MAX_PERCENT": "100",
}
FRESH_SECONDS = 480
_addresses = itertools.count(1)


def new_address() -> str:
    """Return an address that no other client of the run uses."""
    number = next(_addresses)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@dataclass
class Users:
    """Every user of the demo data; their tokens are renewed between tests, so that none expires in a slow run."""

    buyer: SignedInUser
    other_buyer: SignedInUser
    vendor: SignedInUser
    other_vendor: SignedInUser
    maker: SignedInUser
    checker: SignedInUser
    auditor: SignedInUser
    ops: SignedInUser
    hub: SignedInUser
    support: SignedInUser
    campus: SignedInUser
    admin: SignedInUser
    since: float = field(default_factory=time.monotonic)


@pytest.fixture(scope="session")
def issuers() -> Iterator[FurtherIssuers]:
    """Two issuers that the system trusts in addition to its own."""
    with further_issuers() as running:
        yield running


PROVIDER: Final = "campus-login"
STOPPED_PROVIDER: Final = "stopped-login"
PROVIDER_CLIENT: Final = {"clientId": "campus", "clientSecret": "a secret of the client / with + signs"}
PROVIDER_ACR: Final = "https://refeds.org/profile/mfa"


def certified_provider_port(port_base: int) -> int:
    """Return the port of the identity provider that a test may start."""
    return port_base + 99


def certified_provider_setting(port_base: int) -> str:
    """Return OIDC_PROVIDERS with this provider, and with one that never runs."""
    issuer = f"http://127.0.0.1:{certified_provider_port(port_base)}"
    entry = {"name": PROVIDER, "issuer": issuer, "emailDomains": ["campus.example"], "aal2Acr": PROVIDER_ACR}
    entry["groupsClaim"] = "groups"
    stopped = {**entry, "name": STOPPED_PROVIDER, "issuer": f"http://127.0.0.1:{port_base + 98}"}
    return json.dumps([{**one, **PROVIDER_CLIENT} for one in (entry, stopped)])


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory, issuers: FurtherIssuers) -> Iterator[System]:
    port_base = free_port_base()
    own = {
        "OIDC_PROVIDERS": certified_provider_setting(port_base),
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port_base + 90}/otlp",
        "TRUSTED_ISSUERS": issuers.setting,
    }
    with (
        throwaway_state(tmp_path_factory.mktemp("logs")) as state_dir,
        System(state_dir, port_base, {**SETTINGS, **own}) as running,
    ):
        yield running


@pytest.fixture(scope="session")
def responses(system: System) -> Iterator[Responses]:
    """Compare every response of the run with the served document; the run fails at its end when one differs."""
    document = httpx.get(f"{system.base_url}/openapi.json", trust_env=False).json()
    compared = Responses(document)
    yield compared
    assert not compared.differences, f"answers differ from /openapi.json:\n{compared.report()}"


def new_market(system: System, responses: Responses) -> Marketplace:
    market = marketplace_at(system.base_url, system.sandbox_url, system.secrets)
    market.http.headers["X-Forwarded-For"] = new_address()
    market.http.event_hooks["response"].append(responses.compare)
    return market


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def users(system: System, responses: Responses) -> Users:
    return await everybody(system, responses)


@pytest_asyncio.fixture(loop_scope="session")
async def unused_codes(system: System) -> None:
    """Accept the present code of each second factor once more: other tests of this system may have used it."""
    await accept_codes_again(system)


async def accept_codes_again(system: System) -> None:
    """Accept the present code of each second factor once more."""
    await _execute_at_identity(system, "UPDATE totp_factors SET last_counter = 0")


async def with_old_factor(system: System, market: Marketplace, user: SignedInUser) -> SignedInUser:
    """Return the user's session as it is an hour after its second factor. `user` has no session afterwards."""
    session_id = jwt.decode(user.access_token, options={"verify_signature": False})["session_id"]
    await _execute_at_identity(
        system,
        "UPDATE refresh_tokens SET stepped_up_at = stepped_up_at - interval '1 hour' WHERE session_id = $1",
        session_id,
    )
    return await market.refresh(user)


async def _execute_at_identity(system: System, statement: str, *values: object) -> None:
    connection = await asyncpg.connect(system.servers.postgresql.url.rpartition("/")[0] + "/campus_identity")
    try:
        await connection.execute(statement, *values)
    finally:
        await connection.close()


def restart_processes(system: System, names: Sequence[str], settings: Mapping[str, str | None]) -> None:
    """Kill these processes and wait for their restart with changed settings; a setting that is None is removed."""
    before = {name: system.process(name).restart_with(settings) for name in names}
    for name, restarts in before.items():
        system.process(name).wait_restarted(restarts, within=120)


async def everybody(system: System, responses: Responses) -> Users:
    """Vendors and staff with two factors."""
    market = new_market(system, responses)
    try:
        return Users(
            buyer=await market.sign_in("buyer@unilag.edu.ng"),
            other_buyer=await market.sign_in("buyer2@unilag.edu.ng"),
            vendor=await market.sign_in_with_two_factors("vendor@unilag.edu.ng", "VENDOR"),
            other_vendor=await market.sign_in_with_two_factors("vendor2@unilag.edu.ng", "VENDOR2"),
            maker=await market.sign_in_with_two_factors("maker@campus.example", "MAKER"),
            checker=await market.sign_in_with_two_factors("checker@campus.example", "CHECKER"),
            auditor=await market.sign_in_with_two_factors("auditor@campus.example", "AUDITOR"),
            ops=await market.sign_in_with_two_factors("ops@campus.example", "OPS"),
            hub=await market.sign_in_with_two_factors("hub@campus.example", "HUB"),
            support=await market.sign_in_with_two_factors("support@campus.example", "SUPPORT"),
            campus=await market.sign_in_with_two_factors("campus@campus.example", "CAMPUS"),
            admin=await market.sign_in_with_two_factors("admin@campus.example", "ADMIN"),
        )
    finally:
        await market.close()
