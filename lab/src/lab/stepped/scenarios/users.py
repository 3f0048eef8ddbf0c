"""Users who ask for the erasure of their account."""

import re
from typing import Final
from uuid import uuid4

from common.auth.caller import ServiceItself
from common.primitives.ids import new_id
from identity.use_cases.accounts.provision_user import NewUser, provision_user
from lab.stepped.actions import CANCEL_ORDER, Facts, check_out
from lab.stepped.actors import User
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.steps import End, product

_SIGNING_UP: Final = ServiceItself("a user of a crash run")
# Where a name may remain until its retention ends (docs, privacy).
_EXPIRES_BY_ITSELF: Final = frozenset({"outbox", "dead_letters", "processed_webhook_events", "idempotency_records"})
_TABLES: Final = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"


async def buyer_with_an_order(market: Marketplace) -> Facts:
    """Return a new user whose only order is cancelled; name, address and note contain the same mark."""
    given = await buyer_with_an_open_order(market)
    await CANCEL_ORDER.run(market, User(given["userId"]), {"id": given["orderId"]}, reason=given["mark"])
    assert len(await _tables_with(market, given["mark"])) > 3
    return given


async def buyer_with_an_open_order(market: Marketplace) -> Facts:
    user_id, mark = new_id(), "zainab" + re.sub("[0-9-]", "", str(uuid4()))
    user = NewUser(user_id, f"{mark}@unilag.edu.ng", full_name=f"Zainab {mark}", email_confirmed=True)
    await sign_up(market, user)
    order = await check_out(market, User(user_id), await product(market), deliveryNote=f"for {mark}")
    await market.run_until_idle()
    return {"userId": user_id, "mark": mark, "orderId": order["id"]}


async def erasure(market: Marketplace, given: Facts) -> End:
    """No obligation is open: every service erases the user."""
    await _request(market, given)

    async def end() -> None:
        assert await _statuses(market, given) == ["done"]
        assert await _tables_with(market, given["mark"]) == []
        assert await _published(market, "identity.user_erased.v1", given) == 1

    return end


async def refused_erasure(market: Marketplace, given: Facts) -> End:
    """Return an open order refuses the request; the user and the order stay."""
    await _request(market, given)
    user = User(given["userId"])

    async def end() -> None:
        assert await _statuses(market, given) == ["refused"]
        assert given["mark"] in str(await market.get("/api/profiles/current", user))
        assert (await market.get(f"/api/orders/{given['orderId']}", user))["status"] == "Processing"
        assert await _published(market, "identity.user_erased.v1", given) == 0
        # Later orders of the user are not blocked by the request.
        await CANCEL_ORDER.run(market, user, {"id": given["orderId"]})

    return end


async def sign_up(market: Marketplace, user: NewUser) -> None:
    """Create a user in identity, and publish it."""
    worker = market.processes["identity-worker"]
    dependencies = worker.dependencies

    async def provision() -> None:
        async with dependencies.database.unit_of_work(acting_as=_SIGNING_UP) as uow:
            await provision_user(uow, user, dependencies.provisioning, now=market.clock.now())

    await worker.run(provision())
    await market.run_until_idle()


async def _request(market: Marketplace, given: Facts) -> None:
    await market.request("DELETE", "/api/profiles/current", User(given["userId"]), {})
    await market.run_until_idle()


async def _statuses(market: Marketplace, given: Facts) -> list[str]:
    rows = await market.databases["identity"].fetch(
        "SELECT status FROM erasure_requests WHERE user_id = $1", given["userId"]
    )
    return [row["status"] for row in rows]


async def _published(market: Marketplace, type_: str, given: Facts) -> int:
    return int(
        await market.databases["identity"].fetchval(
            "SELECT count(*) FROM outbox WHERE type = $1 AND subject = $2", type_, str(given["userId"])
        )
    )


async def _tables_with(market: Marketplace, mark: str) -> list[str]:
    """Return the tables of all services in which a row contains the mark."""
    found = []
    for service, connection in market.databases.items():
        for (table,) in await connection.fetch(_TABLES):
            if table not in _EXPIRES_BY_ITSELF and await connection.fetchval(
                f"SELECT EXISTS (SELECT FROM {table} t WHERE t::text LIKE '%' || $1 || '%')", mark
            ):
                found.append(f"{service}.{table}")
    return found
