import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed
from contracts.permissions import permissions_of
from orders.domain.order_updates import EarlyUpdate
from orders.timers import fire_timers_once

from .factories import escrow_refunded, refund_settled
from .responses import CONFLICT, FORBIDDEN, INVALID, STEP_UP_REQUIRED, data_of, error_of

COMPLAINT = {"reason": "never came", "details": "I waited at the gate for two hours."}


async def disputed(market, **more):
    """A dispatched order that its buyer disputes."""
    order = await market.paid(**more)
    await market.post(order, "dispatch", market.as_merchant())
    response = await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "disputed"), response.text
    return order


async def prepared(market, order, outcome, refund_minor=None, **more):
    body = {"outcome": outcome} | ({"refundMinor": refund_minor} if refund_minor is not None else {})
    resolution = data_of(await market.post(order, "resolve", market.as_staff("support_agent", **more), body), 201)
    assert (set(resolution), resolution["status"]) == ({"resolutionId", "status", "hash"}, "prepared")
    return resolution["resolutionId"]


async def decide(market, resolution_id, verb="approve", headers=None):
    if verb == "approve":
        return await market.approve_resolution(resolution_id, headers)
    headers = headers or market.as_staff("finance_checker", stepped_up=True)
    return await market.client.post(f"/api/dispute-resolutions/{resolution_id}/{verb}", headers=headers)


async def events(market, event):
    return await market.published(f"orders.{event}.v1")


@pytest.mark.parametrize("dispatched", [False, True])
async def test_the_buyer_disputes_a_paid_order_once_and_it_waits_for_staff(market, dispatched):
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    responses = [await market.post(order, "dispute", market.as_buyer(), COMPLAINT) for _ in range(2)]
    assert [(response.status_code, response.json()["data"]["status"]) for response in responses] == [
        (200, "disputed")
    ] * 2
    assert [(event["orderId"], event["reason"]) for event in await events(market, "order_disputed")] == [
        (order["id"], "never came")
    ]
    assert await market.fetch("SELECT 1 FROM order_timers") == []
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=headers)
        assert {**COMPLAINT, "cause": "buyer", "raisedBy": order["buyerId"]}.items() <= shown.json()["data"].items()
    outsiders = (market.as_buyer(new_id()), market.as_merchant(vendor_id=new_id()))
    for headers in outsiders:
        assert (await market.client.get(f"/api/orders/{order['id']}/dispute", headers=headers)).status_code == 404


async def test_a_delivery_that_nobody_proved_in_time_is_disputed_and_resolved_as_any_other(market):
    order = await market.paid()
    await market.post(order, "dispatch", market.as_merchant())
    market.clock.advance(timedelta(days=14))
    assert await fire_timers_once(market.app.dependencies) == 1
    shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=market.as_buyer())
    assert (shown.json()["data"]["cause"], shown.json()["data"]["details"]) == ("pin_window", None)
    assert (await decide(market, await prepared(market, order, "vendor"))).json()["data"]["status"] == "delivered"


async def test_who_may_not_dispute_and_what_is_no_complaint_changes_nothing(market):
    order = await market.paid()
    for headers, status in (
        (market.as_merchant(), 403),
        (market.as_staff("support_agent"), 403),
        (market.as_buyer(new_id()), 404),
    ):
        assert (await market.post(order, "dispute", headers, COMPLAINT)).status_code == status
    for body in ({}, {"reason": "x"}, {**COMPLAINT, "status": "paid"}, {"reason": " ", "details": "x"}):
        assert (await market.post(order, "dispute", market.as_buyer(), body)).status_code == 422
    assert await market.status_of(order) == "paid_escrow"
    assert await events(market, "order_disputed") == []


async def test_resolved_for_the_buyer_everything_goes_back(market):
    order = await disputed(market)
    total = order["totalMinor"]
    resolution = await prepared(market, order, "buyer")
    response = await decide(market, resolution)
    assert (response.status_code, response.json()["data"]["status"]) == (200, "refund_pending"), response.text
    [refund] = await events(market, "refund_requested")
    assert refund["amountMinor"] == total
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["outcome"], resolved["refundMinor"], resolved["releaseMinor"], resolved["refundId"]) == (
        "buyer",
        total,
        0,
        refund["refundId"],
    )
    await market.receive(escrow_refunded(order, refund["refundId"], total))
    await market.receive(refund_settled(order, refund["refundId"], total))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("refunded", total)


async def test_resolved_for_the_vendor_all_that_is_held_is_released(market):
    order = await disputed(market)
    response = await decide(market, await prepared(market, order, "vendor"))
    assert (response.status_code, response.json()["data"]["status"]) == (200, "delivered")
    assert await events(market, "refund_requested") == []
    # No second release beside the resolution's own: the PIN was not accepted.
    assert await events(market, "order_delivered") == []
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["refundMinor"], resolved["releaseMinor"], resolved.get("refundId")) == (
        0,
        order["totalMinor"],
        None,
    )
    await market.release(order)
    assert await market.status_of(order) == "paid"


@pytest.mark.parametrize("refund_first", [True, False])
async def test_a_split_ends_paid_whichever_half_payments_posts_first(market, refund_first):
    order = await disputed(market)
    total, refund_minor = order["totalMinor"], 40_000
    await decide(market, await prepared(market, order, "split", refund_minor))
    [refund] = await events(market, "refund_requested")
    [resolved] = await events(market, "dispute_resolved")
    assert (refund["amountMinor"], resolved["releaseMinor"]) == (refund_minor, total - refund_minor)
    if refund_first:
        await market.receive(
            escrow_refunded(order, refund["refundId"], refund_minor, remaining_minor=total - refund_minor)
        )
        await market.release(order)
    else:
        await market.release(order, remaining_minor=refund_minor)
        assert await market.status_of(order) == "delivered"
        await market.receive(escrow_refunded(order, refund["refundId"], refund_minor))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("paid", refund_minor)
    assert len(await events(market, "order_completed")) == 1


async def test_the_posting_that_arrives_after_its_settlement_still_completes_a_split(market):
    order = await disputed(market)
    await decide(market, await prepared(market, order, "split", 40_000))
    [refund] = await events(market, "refund_requested")
    await market.release(order, remaining_minor=40_000)
    await market.receive(refund_settled(order, refund["refundId"], 40_000))
    assert await market.status_of(order) == "delivered"
    await market.receive(escrow_refunded(order, refund["refundId"], 40_000))
    shown = await market.show(order)
    assert (shown["status"], shown["refundedMinor"]) == ("paid", 40_000)


@pytest.mark.parametrize(("released_before", "refund", "released"), [(50_000, 60_000, 40_000), (100_000, 60_000, 0)])
async def test_what_staff_released_before_the_dispute_is_not_released_again(market, released_before, refund, released):
    order = await market.paid()
    total = order["totalMinor"]
    await market.release(order, remaining_minor=total - released_before)
    await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    await decide(market, await prepared(market, order, "split", refund))
    [resolved] = await events(market, "dispute_resolved")
    assert (total, resolved["refundMinor"], resolved["releaseMinor"]) == (150_000, refund, released)


async def test_an_older_escrow_event_never_overwrites_a_newer_one(market):
    order = await market.paid()
    await market.release(order, remaining_minor=30_000, sequence=9)
    await market.release(order, remaining_minor=70_000, sequence=8)
    await market.post(order, "dispute", market.as_buyer(), COMPLAINT)
    await decide(market, await prepared(market, order, "vendor"))
    [resolved] = await events(market, "dispute_resolved")
    assert resolved["releaseMinor"] == 30_000


async def test_a_full_release_before_the_freeze_ends_the_dispute_and_payments_hears_so(market):
    order = await disputed(market)
    resolution = await prepared(market, order, "buyer")
    await market.release(order)
    assert await market.status_of(order) == "paid"
    [resolved] = await events(market, "dispute_resolved")
    assert (resolved["refundMinor"], resolved["releaseMinor"]) == (0, 0)
    assert (await decide(market, resolution)).status_code == 409
    assert await events(market, "refund_requested") == []
    assert (await decide(market, resolution, "reject")).status_code == 200
    assert await market.status_of(order) == "paid"
    for headers in (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent")):
        dispute = await shown_dispute(market, order, headers)
        assert (dispute["outcome"], dispute["endedAt"]) == ("released", "2026-01-05T12:00:00.000Z")


@pytest.mark.parametrize("outcome", ["buyer", "vendor", "split"])
async def test_a_closed_dispute_shows_its_outcome(market, outcome):
    order = await disputed(market)
    assert [(await shown_dispute(market, order))[name] for name in ("outcome", "endedAt")] == [None, None]
    resolution = await prepared(market, order, outcome, 1 if outcome == "split" else None)
    assert (await decide(market, resolution)).status_code == 200
    dispute = await shown_dispute(market, order)
    assert (dispute["outcome"], dispute["endedAt"]) == (outcome, "2026-01-05T12:00:00.000Z")


async def shown_dispute(market, order, headers=None):
    url = f"/api/orders/{order['id']}/dispute"
    return data_of(await market.client.get(url, headers=headers or market.as_buyer()))


async def test_the_maker_cannot_decide_under_any_role_or_session(market):
    order = await disputed(market)
    maker = new_id()
    support = market.headers(maker, roles=("support_agent",))
    response = await market.post(order, "resolve", support, {"outcome": "buyer"})
    resolution = response.json()["data"]["resolutionId"]
    both = market.headers(maker, roles=("support_agent", "finance_checker"), stepped_up=True)
    other = market.headers(maker, roles=("finance_checker",), stepped_up=True, session_id=new_id())
    for headers in (both, other):
        for verb in ("approve", "reject"):
            assert error_of(await decide(market, resolution, verb, headers)) == FORBIDDEN
    assert await market.status_of(order) == "disputed"


async def test_an_approval_names_the_resolution_that_was_read(market):
    order = await disputed(market)
    support, checker = market.as_staff("support_agent"), market.as_staff("finance_checker", stepped_up=True)
    read = (await market.post(order, "resolve", support, {"outcome": "buyer"})).json()["data"]
    await decide(market, read["resolutionId"], "reject")
    prepared_now = (await market.post(order, "resolve", support, {"outcome": "vendor"})).json()["data"]
    path = f"/api/dispute-resolutions/{prepared_now['resolutionId']}"
    for reader in ("finance_checker", "support_agent", "auditor"):
        shown = (await market.client.get(path, headers=market.as_staff(reader))).json()["data"]
        assert shown["hash"] == prepared_now["hash"] != read["hash"]
    for body in (None, {}, {"hash": ""}):
        refused = await market.client.post(f"{path}/approve", json=body, headers=checker)
        assert refused.status_code == 422, body
        assert [param["name"] for param in refused.json()["invalid_params"]] == ["hash"], body
    for other in (read["hash"], "0" * 64):
        assert error_of(await market.client.post(f"{path}/approve", json={"hash": other}, headers=checker)) == CONFLICT
    await market.app.fetch_as_owner(
        "UPDATE dispute_resolutions SET outcome = 'split', refund_minor = 1 WHERE status = 'prepared' RETURNING 1"
    )
    changed = await market.client.post(f"{path}/approve", json={"hash": prepared_now["hash"]}, headers=checker)
    assert changed.status_code == 409
    assert await market.status_of(order) == "disputed"
    assert await events(market, "dispute_resolved") == []


async def test_nobody_decides_as_staff_on_an_order_of_their_own(market):
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


async def test_staff_who_bought_cannot_cancel_the_dispatched_order(market):
    order = await market.paid()
    await market.post(order, "dispatch", market.as_merchant())
    own = market.headers(UUID(order["buyerId"]), roles=("buyer", "support_agent"))
    assert error_of(await market.post(order, "cancel", own, {"reason": "I keep the goods"})) == CONFLICT
    assert await market.status_of(order) == "dispatched"


async def test_only_checkers_with_a_second_factor_decide_and_only_support_prepares(market):
    order = await disputed(market)
    for role in ("buyer", "merchant", "finance_maker", "finance_checker", "auditor", "platform_admin"):
        assert error_of(await market.post(order, "resolve", market.as_staff(role), {"outcome": "buyer"})) == FORBIDDEN
    resolution = await prepared(market, order, "buyer")
    for role in ("support_agent", "finance_maker", "auditor", "platform_admin"):
        assert error_of(await decide(market, resolution, headers=market.as_staff(role, stepped_up=True))) == FORBIDDEN
    assert error_of(await decide(market, resolution, headers=market.as_staff("finance_checker"))) == STEP_UP_REQUIRED
    for absent in (new_id(), "12"):
        assert (await decide(market, absent)).status_code == 404
    assert await market.status_of(order) == "disputed"


async def test_refund_minor_is_for_a_split_and_below_the_total(market):
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


async def test_one_resolution_waits_at_a_time_even_of_ten_prepared_at_once(market):
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


async def test_an_order_that_is_not_disputed_has_nothing_to_resolve(market):
    order = await market.paid()
    refused = await market.post(order, "resolve", market.as_staff("support_agent"), {"outcome": "buyer"})
    assert error_of(refused) == CONFLICT


async def test_many_approvals_at_once_have_one_effect(market):
    order = await disputed(market)
    resolution = await prepared(market, order, "split", 50_000)
    responses = await asyncio.gather(*(decide(market, resolution) for _ in range(10)))
    assert {response.status_code for response in responses} == {200}
    assert len(await events(market, "refund_requested")) == 1
    assert len(await events(market, "dispute_resolved")) == 1


async def test_approval_and_rejection_at_once_leave_one_decision(market):
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


async def test_an_approval_that_fails_before_its_commit_changes_nothing(market, broken_outbox):
    order = await disputed(market)
    resolution = await prepared(market, order, "split", 1)
    with broken_outbox():
        assert (await decide(market, resolution)).status_code == 500
    assert await market.status_of(order) == "disputed"
    assert await market.fetch("SELECT 1 FROM order_refunds") == []
    assert (await decide(market, resolution)).status_code == 200


async def test_the_database_itself_refuses_a_second_decision_and_the_maker_as_checker(market):
    order = await disputed(market)
    resolution = await prepared(market, order, "buyer")
    with pytest.raises(asyncpg.CheckViolationError, match="decided_by_another_person"):
        await market.fetch(
            "UPDATE dispute_resolutions SET status = 'approved', decided_by = prepared_by, decided_at = prepared_at"
        )
    await decide(market, resolution)
    with pytest.raises(asyncpg.UniqueViolationError, match="one_approved"):
        await market.fetch(
            "INSERT INTO dispute_resolutions SELECT $1, order_id, outcome, refund_minor, release_minor, refund_id, status, "
            "prepared_by, prepared_at, decided_by, decided_at FROM dispute_resolutions",
            new_id(),
        )


async def test_staff_walk_through_the_resolutions(market):
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


async def test_a_bare_select_shows_disputes_to_parties_and_staff_and_resolutions_to_staff_only(market):
    order = await disputed(market)
    await prepared(market, order, "buyer")
    buyer = {"user_id": market.buyer_id, "permissions": permissions_of(["buyer"])}
    vendor = {"user_id": new_id(), "permissions": permissions_of(["merchant"]), "vendor_id": market.vendor_id}
    other = {"user_id": new_id(), "permissions": permissions_of(["merchant"]), "vendor_id": new_id()}
    support = {"user_id": new_id(), "permissions": permissions_of(["support_agent"])}
    for claims, seen in ((buyer, (1, 0)), (vendor, (1, 0)), (other, (0, 0)), (support, (1, 1))):
        async with market.app.runtime.database.unit_of_work(acting_as=Caller(**claims)) as uow:
            tables = ("order_disputes", "dispute_resolutions")
            assert tuple([len(await uow.fetch(f"SELECT * FROM {table}")) for table in tables]) == seen


ROUNDS = 200


async def test_dispute_and_right_pin_at_the_same_moment_have_one_of_the_two_ends_and_the_money_follows(market):
    """Two hundred times: the second one is rejected because the order has changed, and publishes nothing."""
    product = await market.sell(stock=ROUNDS)
    outcomes = {"delivered": 0, "disputed": 0}
    for number in range(ROUNDS):
        order = await market.paid(product_id=product)
        pin = await market.pin_of(order)
        both = [
            market.post(order, "dispute", market.as_buyer(), COMPLAINT),
            market.verify(order, pin, key=uuid4(), headers=market.as_merchant()),
        ]
        if number % 2:
            both.reverse()
        responses = await asyncio.gather(*both)
        assert sorted(response.status_code for response in responses) == [200, 409]
        end = next(response for response in responses if response.status_code == 200).json()["data"]["status"]
        assert await market.status_of(order) == end
        outcomes[end] += 1
    delivered = {event["orderId"] for event in await events(market, "order_delivered")}
    frozen = {event["orderId"] for event in await events(market, "order_disputed")}
    assert (len(delivered), len(frozen)) == (outcomes["delivered"], outcomes["disputed"])
    assert not delivered & frozen
    assert all(outcomes.values())


def chargeback(order, outcome=None):
    return ChargeDisputed(
        order_id=UUID(order["id"]),
        buyer_id=UUID(order["buyerId"]),
        vendor_id=UUID(order["vendorId"]),
        amount_minor=order["totalMinor"],
        outcome=outcome,
    )


@pytest.mark.parametrize("dispatched", [False, True])
async def test_a_chargeback_disputes_an_order_that_was_not_delivered(market, dispatched):
    order = await market.paid()
    if dispatched:
        await market.post(order, "dispatch", market.as_merchant())
    received = await market.receive(chargeback(order))
    await market.receive(chargeback(order), event_id=received.event_id)
    await market.receive(chargeback(order))
    assert await market.status_of(order) == "disputed"
    assert len(await events(market, "order_disputed")) == 1
    shown = await market.client.get(f"/api/orders/{order['id']}/dispute", headers=market.as_merchant())
    assert (shown.json()["data"]["cause"], shown.json()["data"]["raisedBy"]) == ("chargeback", None)


async def test_a_chargeback_after_the_pin_keeps_the_status_and_before_the_charge_is_retried(market):
    order = await market.ordered()
    with pytest.raises(EarlyUpdate):
        await market.receive(chargeback(order))
    await market.pay(order)
    await market.verify(order, await market.pin_of(order))
    await market.receive(chargeback(order))
    assert await market.status_of(order) == "delivered"
    await market.release(order)
    await market.receive(chargeback(order))
    await market.receive(chargeback(order, outcome="lost"))
    assert await market.status_of(order) == "paid"
    assert await events(market, "order_disputed") == []


@pytest.mark.parametrize(
    ("charge_events", "stands"),
    [
        ([None, "won"], "won"),
        ([None, "lost"], "lost"),
        ([None, "lost", "won"], "won"),
        (["lost", None], "lost"),
        ([None, "won", "lost"], "lost"),
    ],
    ids=str,
)
async def test_the_bank_s_decision_closes_no_dispute_and_is_shown(market, charge_events, stands):
    """Payments keeps the money frozen as well until staff resolve: the two never disagree, in whichever order the news
    comes.
    """
    order = await market.paid()
    sequences = [2, 1] if charge_events[0] else range(1, 4)
    for outcome, sequence in zip(charge_events, sequences, strict=False):
        await market.receive(chargeback(order, outcome=outcome), sequence=sequence)
        assert await market.status_of(order) == "disputed"
    assert len(await events(market, "order_disputed")) == 1
    assert await events(market, "dispute_resolved") == []
    assert (await shown_dispute(market, order))["chargebackOutcome"] == stands
    resolution = await prepared(market, order, "vendor")
    url = f"/api/dispute-resolutions/{resolution}"
    shown = await market.client.get(url, headers=market.as_staff("finance_checker"))
    assert shown.json()["data"]["dispute"]["chargebackOutcome"] == stands
    assert (await decide(market, resolution)).status_code == 200
    # Payments publishes one release, of nothing or of everything, and the order ends in both cases.
    await market.release(order)
    assert await market.status_of(order) == "paid"
