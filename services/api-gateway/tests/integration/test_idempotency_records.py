"""The gateway's records of idempotency keys: their leases, and an outage of their database (decision 234)."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import asyncpg
import msgspec
import pytest
import pytest_asyncio

from api_gateway.idempotency import ClaimResult, InProgress, Leased, OtherRequest, Stored
from api_gateway.store import IdempotencyClaim, IdempotencyRecords
from common.auth.caller import THE_SERVICE
from common.database.connection_pool import ConnectionPool
from common.database.errors import DatabaseUnavailable, OutcomeUnknown
from common.database.retention import purge_expired_once
from common.database.unit_of_work import Database
from common.primitives.database_servers import DatabaseServers
from common.primitives.ids import new_id
from common.primitives.limits import WaitLimits
from testkit.databases import DatabaseUrls
from testkit.fixtures import PATIENT, eventually
from testkit.frozen_proxy import FrozenProxy, frozen_proxy

from .conftest import GatewayApp


def claim_of(user: UUID, fingerprint: bytes = b"f" * 32) -> IdempotencyClaim:
    return IdempotencyClaim(user, b"k" * 32, fingerprint, new_id())


async def test_an_ended_lease_is_claimed_by_another_and_its_old_holder_overwrites_nothing(
    app: GatewayApp,
) -> None:
    records = IdempotencyRecords(app.runtime.database, lock_seconds=0, keep_seconds=60)
    user = new_id()
    late, newer = claim_of(user), claim_of(user)
    assert await records.claim(late) == Leased()
    assert await records.claim(newer) == Leased()
    assert not await records.finish(late, Stored(201, "application/json", b"late"))
    await records.release(late)
    assert await records.finish(newer, Stored(201, "application/json", b"newer"))
    assert not await records.finish(late, Stored(201, "application/json", b"late"))
    assert await records.claim(claim_of(user)) == Stored(201, "application/json", b"newer")


async def test_the_moments_without_a_server_that_accepts_writes_are_an_outage(
    app: GatewayApp, module_urls: DatabaseUrls
) -> None:
    # As during a failover: a server responds, and is not of the demanded kind.
    servers = DatabaseServers.of(f"{module_urls.service}?target_session_attrs=standby")
    database = replace(app.runtime.database, service=ConnectionPool(servers.connect, 1))
    records = IdempotencyRecords(database, lock_seconds=120, keep_seconds=60)
    with pytest.raises(DatabaseUnavailable):
        await records.claim(claim_of(new_id()))


async def test_a_rejected_login_of_the_database_is_an_outage(app: GatewayApp, module_urls: DatabaseUrls) -> None:
    # Between the two steps of a rotation, and in the moments of a restore.
    servers = DatabaseServers.of(module_urls.service.replace("@", "x@", 1))
    database = replace(app.runtime.database, service=ConnectionPool(servers.connect, 1))
    records = IdempotencyRecords(database, lock_seconds=120, keep_seconds=60)
    with pytest.raises(DatabaseUnavailable):
        await records.claim(claim_of(new_id()))


@pytest_asyncio.fixture(loop_scope="session")
async def frozen_records(module_urls: DatabaseUrls) -> AsyncIterator[tuple[FrozenProxy, IdempotencyRecords]]:
    """Yield records with leases of ten minutes, in a database that can freeze."""
    async with frozen_proxy(module_urls.service) as (proxy, url):
        limits = WaitLimits(connection_acquire=PATIENT.connection_acquire, statement=0.5)
        async with Database.connect(api_url=url, service_url=url, name="test", limits=limits) as database:
            records = IdempotencyRecords(database, lock_seconds=600, keep_seconds=600)
            yield proxy, records
            await records.close()


@pytest.mark.parametrize("response", [None, Stored(201, "application/json", b"{}")], ids=["release", "response"])
async def test_what_a_frozen_database_prevented_is_written_when_it_is_back(
    frozen_records: tuple[FrozenProxy, IdempotencyRecords], response: Stored | None
) -> None:
    proxy, records = frozen_records
    held = claim_of(new_id())
    assert await records.claim(held) == Leased()
    proxy.freeze()
    await records.settle(held, response)
    proxy.resume()
    assert await eventually(lambda: _next_holder(records, held)) == (response or Leased())


async def test_a_claim_that_a_frozen_database_executes_late_is_released(
    frozen_records: tuple[FrozenProxy, IdempotencyRecords],
) -> None:
    proxy, records = frozen_records
    # Prepares the statement, which then runs by the message that the frozen server receives.
    await records.claim(claim_of(new_id()))
    unknown = claim_of(new_id())
    proxy.freeze()
    with pytest.raises(OutcomeUnknown):
        await records.claim(unknown)
    proxy.resume()
    assert await eventually(lambda: _next_holder(records, unknown)) == Leased()


async def _next_holder(records: IdempotencyRecords, claim: IdempotencyClaim) -> ClaimResult | None:
    found = await records.claim(msgspec.structs.replace(claim, token=new_id()))
    return None if isinstance(found, InProgress) else found


async def test_an_expired_lease_belongs_to_the_same_request_only(app: GatewayApp) -> None:
    records = IdempotencyRecords(app.runtime.database, lock_seconds=0, keep_seconds=60)
    user = new_id()
    await records.claim(claim_of(user))
    assert await records.claim(claim_of(user, b"g" * 32)) == OtherRequest()


async def test_a_lease_holds_for_its_time(app: GatewayApp) -> None:
    records = IdempotencyRecords(app.runtime.database, lock_seconds=120, keep_seconds=60)
    user = new_id()
    await records.claim(claim_of(user))
    found = await records.claim(claim_of(user))
    assert isinstance(found, InProgress)
    assert 100 < found.seconds_left <= 120


async def test_of_many_keys_at_once_each_has_one_holder(app: GatewayApp) -> None:
    """Requests share round trips here, and two gateways write the same rows in the same moment."""
    gateways = [IdempotencyRecords(app.runtime.database, lock_seconds=120, keep_seconds=60) for _ in range(2)]
    users = [new_id() for _ in range(30)]
    claims = [(records, claim_of(user)) for user in users for records in gateways for _ in range(5)]
    random.shuffle(claims)
    found = await asyncio.gather(*(records.claim(claim) for records, claim in claims))
    holders = [(records, claim) for (records, claim), claimed in zip(claims, found, strict=True) if claimed == Leased()]
    assert sorted(claim.caller_id for _, claim in holders) == sorted(users)
    assert all(isinstance(claimed, InProgress) for claimed in found if claimed != Leased())
    own = [Stored(201, "application/json", str(claim.caller_id).encode()) for _, claim in holders]
    kept = await asyncio.gather(
        *(records.finish(claim, response) for (records, claim), response in zip(holders, own, strict=True))
    )
    assert kept == [True] * 30
    for (records, claim), response in zip(holders, own, strict=True):
        assert await records.claim(claim_of(claim.caller_id)) == response


async def test_the_records_are_out_of_reach_for_the_api_role(app: GatewayApp) -> None:

    async with app.runtime.database.api.connection() as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM idempotency_records")


async def test_retention_purges_expired_responses(app: GatewayApp) -> None:
    records = IdempotencyRecords(app.runtime.database, lock_seconds=120, keep_seconds=60)
    short = IdempotencyRecords(app.runtime.database, lock_seconds=0, keep_seconds=0)
    user = new_id()
    first = claim_of(user)
    assert await records.claim(first) == Leased()
    await records.finish(first, Stored(201, "application/json", b"kept"))
    assert await purge_expired_once(app.runtime.database, [records.retention_rule], app.runtime.clock) == 0
    assert isinstance(await records.claim(claim_of(user)), Stored)
    assert await short.claim(claim_of(user, b"g" * 32)) == Leased(), "the key is free for any request"
    assert await purge_expired_once(app.runtime.database, [short.retention_rule], app.runtime.clock) >= 1
    async with app.runtime.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        assert await uow.fetch("SELECT 1 FROM idempotency_records WHERE caller_id = $1", user) == []
