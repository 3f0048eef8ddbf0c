"""Resolutions of disputes: prepared by one user, approved by another (contract section 6)."""

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, STEP_UP_REQUIRED, error_of

from .conftest import Market
from .dispute_steps import COMPLAINT, decide, disputed, events, prepared


async def test_the_maker_cannot_decide_under_any_role_or_session(market: Market) -> None:
    order = await disputed(market)
    maker = new_id()
    support = market.headers(maker, roles=("support_agent",))
    response = await market.post(order, "resolve", support, {"outcome": "buyer"})
    resolution = response.json()["data"]["resolutionId"]
    both = market.headers(maker, roles=("support_agent", "finance_checker"), stepped_up=True)
    other = market.headers(maker, roles=("finance_checker",), stepped_up=True, session_id=str(new_id()))
    for headers in (both, other):
        for verb in ("approve", "reject"):
            assert error_of(await decide(market, resolution, verb, headers)) == FORBIDDEN
    assert await market.status_of(order) == "disputed"


async def test_an_approval_names_the_resolution_that_was_read(market: Market) -> None:
    order = await disputed(market)
    support, checker = market.as_staff("support_agent"), market.as_staff("finance_checker", stepped_up=True)
    read = (await market.post(order, "resolve", support, {"outcome": "buyer"})).json()["data"]
    await decide(market, read["resolutionId"], "reject")
    body = {"outcome": "vendor", "reason": " Delivered, by its photo "}
    prepared_now = (await market.post(order, "resolve", support, body)).json()["data"]
    path = f"/api/dispute-resolutions/{prepared_now['resolutionId']}"
    for reader in ("finance_checker", "support_agent", "auditor"):
        shown = (await market.client.get(path, headers=market.as_staff(reader))).json()["data"]
        assert shown["hash"] == prepared_now["hash"] != read["hash"]
        assert shown["reason"] == "Delivered, by its photo"
    for body in (None, {}, {"hash": ""}):
        refused = await market.client.post(f"{path}/approve", json=body, headers=checker)
        assert refused.status_code == 422, body
        assert [param["name"] for param in refused.json()["invalid_params"]] == ["hash"], body
    for other in (read["hash"], "0" * 64):
        assert error_of(await market.client.post(f"{path}/approve", json={"hash": other}, headers=checker)) == CONFLICT
    await market.fetch_as_owner(
        "UPDATE dispute_resolutions SET outcome = 'split', refund_minor = 1 WHERE status = 'prepared' RETURNING 1"
    )
    changed = await market.client.post(f"{path}/approve", json={"hash": prepared_now["hash"]}, headers=checker)
    assert changed.status_code == 409
    assert await market.status_of(order) == "disputed"
    assert await events(market, "dispute_resolved") == []


async def test_no_user_decides_as_staff_on_an_order_of_their_own(market: Market) -> None:
    order = await disputed(market)
    buyer, vendor = {"user_id": UUID(order["buyerId"])}, {"user_id": new_id(), "vendor_id": UUID(order["vendorId"])}

    def party(role, *, user_id, **claims):
        return market.headers(user_id, roles=("buyer", "merchant", role), stepped_up=True, **claims)

    for own in (buyer, vendor):
        refused = await market.post(order, "resolve", party("support_agent", **own), {"outcome": "buyer"})
        assert error_of(refused) == FORBIDDEN
    resolution = await prepared(market, order, "buyer")
    for own in (buyer, vendor):
        for verb in ("approve", "reject"):
            assert error_of(await decide(market, resolution, verb, party("finance_checker", **own))) == FORBIDDEN
    assert await market.status_of(order) == "disputed"


async def test_staff_who_bought_cannot_cancel_the_dispatched_order(market: Market) -> None:
    order = await market.paid()
    await market.post(order, "dispatch", market.as_merchant())
    own = market.headers(UUID(order["buyerId"]), roles=("buyer", "support_agent"))
    assert error_of(await market.post(order, "cancel", own, {"reason": "I keep the goods"})) == CONFLICT
    assert await market.status_of(order) == "dispatched"


async def test_only_checkers_with_a_second_factor_decide_and_only_support_prepares(market: Market) -> None:
    order = await disputed(market)
    for role in ("buyer", "merchant", "finance_maker", "finance_checker", "auditor", "platform_admin"):
        assert error_of(await market.post(order, "resolve", market.as_staff(role), {"outcome": "buyer"})) == FORBIDDEN
    resolution = await prepared(market, order, "buyer")
    for role in ("support_agent", "finance_maker", "auditor", "platform_admin"):
        assert error_of(await decide(market, resolution, headers=market.as_staff(role, stepped_up=True))) == FORBIDDEN
    without_factor = market.as_staff("finance_checker", stepped_up=False)
    assert error_of(await decide(market, resolution, headers=without_factor)) == STEP_UP_REQUIRED
    for absent in (new_id(), "12"):
        assert (await decide(market, absent)).status_code == 404
    assert await market.status_of(order) == "disputed"


async def test_refund_minor_is_for_a_split_and_below_the_total(market: Market) -> None:
    order = await disputed(market)
    support, total = market.as_staff("support_agent"), order["totalMinor"]
    for body in (
        {"outcome": "split"},
        {"outcome": "split", "refundMinor": 0},
        {"outcome": "split", "refundMinor": total},
        {"outcome": "split", "refundMinor": "1"},
        {"outcome": "split", "refundMinor": 1.5},
        {"outcome": "buyer", "refundMinor": 1},
        {"outcome": "vendor", "refundMinor": 0},
        {"outcome": "nobody"},
        {"outcome": "buyer", "note": "x"},
    ):
        assert error_of(await market.post(order, "resolve", support, body)) == INVALID, body
    assert (await market.post({"id": new_id()}, "resolve", support, {"outcome": "buyer"})).status_code == 404
    assert await market.fetch("SELECT 1 FROM dispute_resolutions") == []
    await prepared(market, order, "split", 1)


async def test_one_resolution_waits_at_a_time_even_of_ten_prepared_at_once(market: Market) -> None:
    order = await disputed(market)
    responses = await asyncio.gather(
        *(market.post(order, "resolve", market.as_staff("support_agent"), {"outcome": "buyer"}) for _ in range(10))
    )
    assert sorted(response.status_code for response in responses) == [201] + [409] * 9
    [waiting] = await market.fetch("SELECT id FROM dispute_resolutions")
    response = await decide(market, waiting["id"], "reject")
    assert (response.status_code, response.json()["data"]["status"]) == (200, "disputed")
    assert (await decide(market, waiting["id"], "reject")).status_code == 200
    assert (await decide(market, waiting["id"])).status_code == 409
    second = await prepared(market, order, "vendor")
    assert (await decide(market, second)).json()["data"]["status"] == "delivered"
    assert (await decide(market, second, "reject")).status_code == 409


async def test_an_order_that_is_not_disputed_has_nothing_to_resolve(market: Market) -> None:
    order = await market.paid()
    refused = await market.post(order, "resolve", market.as_staff("support_agent"), {"outcome": "buyer"})
    assert error_of(refused) == CONFLICT


async def test_many_approvals_at_once_have_one_effect(market: Market) -> None:
    order = await disputed(market)
    resolution = await prepared(market, order, "split", 50_000)
    responses = await asyncio.gather(*(decide(market, resolution) for _ in range(10)))
    assert {response.status_code for response in responses} == {200}
    assert len(await events(market, "refund_requested")) == 1
    assert len(await events(market, "dispute_resolved")) == 1


async def test_approval_and_rejection_at_once_store_one_decision(market: Market) -> None:
    for _ in range(5):
        order = await disputed(market)
        resolution = await prepared(market, order, "vendor")
        responses = await asyncio.gather(decide(market, resolution), decide(market, resolution, "reject"))
        assert sorted(response.status_code for response in responses) == [200, 409]
        approved = responses[0].status_code == 200
        assert await market.status_of(order) == ("delivered" if approved else "disputed")
        if not approved:
            await decide(market, await prepared(market, order, "vendor"))
    assert len(await events(market, "dispute_resolved")) == 5


async def test_an_approval_that_fails_before_its_commit_changes_nothing(market: Market) -> None:
    order = await disputed(market)
    resolution = await prepared(market, order, "split", 1)
    async with market.crashing():
        assert (await decide(market, resolution)).status_code == 500
    assert await market.status_of(order) == "disputed"
    assert await market.fetch("SELECT 1 FROM order_refunds") == []
    assert (await decide(market, resolution)).status_code == 200


async def test_the_database_itself_refuses_a_second_decision_and_the_maker_as_checker(market: Market) -> None:
    order = await disputed(market)
    resolution = await prepared(market, order, "buyer")
    with pytest.raises(asyncpg.CheckViolationError, match="decided_by_another_person"):
        await market.fetch(
            "UPDATE dispute_resolutions SET status = 'approved', decided_by = prepared_by, decided_at = prepared_at"
        )
    await decide(market, resolution)
    with pytest.raises(asyncpg.UniqueViolationError, match="one_approved"):
        await market.fetch(
            "INSERT INTO dispute_resolutions SELECT $1, order_id, outcome, refund_minor, release_minor, "
            "refund_id, status, "
            "prepared_by, prepared_at, decided_by, decided_at FROM dispute_resolutions",
            new_id(),
        )


async def test_staff_walk_through_the_resolutions(market: Market) -> None:
    orders = [await disputed(market) for _ in range(3)]
    ids = [await prepared(market, order, "split", 1_000) for order in orders]
    await decide(market, ids[0])

    async def listed(role, **query):
        headers = market.as_staff(role)
        return await market.client.get("/api/dispute-resolutions", headers=headers, params=query)

    for role in ("support_agent", "finance_checker", "auditor"):
        response = await listed(role, limit=2, page=2, order="asc")
        assert (
            response.json()["meta"] | {"page": 2, "limit": 2, "total": 3, "total_pages": 2} == response.json()["meta"]
        )
        assert [row["id"] for row in response.json()["data"]] == [ids[2]]
        waiting = (await listed(role, status="prepared")).json()["data"]
        assert {row["id"] for row in waiting} == set(ids[1:])
        [one] = (await listed(role, orderId=orders[0]["id"])).json()["data"]
        assert (one["status"], one["refundMinor"], one["releaseMinor"]) == ("approved", 1_000, 149_000)
        assert one["dispute"]["reason"] == COMPLAINT["reason"]
        shown = await market.client.get(f"/api/dispute-resolutions/{ids[0]}", headers=market.as_staff(role))
        assert shown.json()["data"] == one
    assert (await listed("support_agent", status="open")).status_code == 422
    for role in ("buyer", "merchant", "finance_maker", "campus_admin"):
        assert (await listed(role)).status_code == 403
    absent = await market.client.get(f"/api/dispute-resolutions/{new_id()}", headers=market.as_staff("auditor"))
    assert absent.status_code == 404


async def test_a_bare_select_shows_disputes_to_parties_and_staff_resolutions_to_staff(market: Market) -> None:
    order = await disputed(market)
    await prepared(market, order, "buyer")
    buyer = {"user_id": market.buyer_id, "permissions": permissions_of(["buyer"])}
    vendor = {"user_id": new_id(), "permissions": permissions_of(["merchant"]), "vendor_id": market.vendor_id}
    other = {"user_id": new_id(), "permissions": permissions_of(["merchant"]), "vendor_id": new_id()}
    support = {"user_id": new_id(), "permissions": permissions_of(["support_agent"])}
    for claims, seen in ((buyer, (1, 0)), (vendor, (1, 0)), (other, (0, 0)), (support, (1, 1))):
        async with market.unit_of_work(Caller(**claims)) as uow:
            tables = ("order_disputes", "dispute_resolutions")
            assert tuple([len(await uow.fetch(f"SELECT * FROM {table}")) for table in tables]) == seen


async def test_a_resolution_prepared_again_under_its_key_is_the_first_one(market: Market) -> None:
    order = await disputed(market)
    support = new_id()

    def under(key: UUID) -> dict[str, str]:
        return market.headers(support, roles=("support_agent",), idempotency_key=key)

    key, body = uuid4(), {"outcome": "buyer"}
    first = (await market.post(order, "resolve", under(key), body)).json()["data"]
    again = await market.post(order, "resolve", under(key), body)
    assert (again.status_code, again.json()["data"]) == (201, first)
    assert error_of(await market.post(order, "resolve", under(key), {"outcome": "vendor"})) == INVALID
    assert error_of(await market.post(order, "resolve", under(uuid4()), body)) == CONFLICT
    assert len(await market.fetch("SELECT id FROM dispute_resolutions")) == 1
