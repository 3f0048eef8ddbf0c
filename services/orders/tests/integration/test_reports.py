"""Reports: who may report what, who decides, and what a hidden subject shows to whom."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from common.primitives.ids import new_id
from testkit.responses import CONFLICT, FORBIDDEN, NOT_FOUND, UNAUTHORIZED, data_of, error_of, invalid_field_of
from testkit.work import work_of

from .conftest import Market
from .steps import approve_vendor, delivered_order


async def report(
    market: Market, kind: str, subject_id: Any, headers: dict[str, str] | None = None, **more: Any
) -> httpx.Response:
    body = {"subject": {"kind": kind, "id": str(subject_id)}, "reason": "It is a copy.", **more}
    return await market.client.post("/api/reports", json=body, headers=headers or market.as_buyer())


async def decide(
    market: Market, reported: dict[str, Any], outcome: str, headers: dict[str, str] | None = None, **more: Any
) -> httpx.Response:
    path = f"/api/reports/{reported['id']}/decide"
    return await market.client.post(
        path, json={"outcome": outcome, **more}, headers=headers or market.as_staff("support_agent")
    )


async def reports(market: Market, headers: dict[str, str] | None = None, **query: Any) -> list[str]:
    headers = headers or market.as_staff("support_agent")
    return [each["id"] for each in data_of(await market.client.get("/api/reports", params=query, headers=headers))]


async def status_of(market: Market, product_id: UUID, headers: dict[str, str] | None = None) -> int:
    return (await market.client.get(f"/api/products/{product_id}", headers=headers or {})).status_code


async def reviewed(market: Market) -> tuple[str, UUID]:
    """Return a review and its product."""
    order = await delivered_order(market, (1_000, 1))
    product_id = order["items"][0]["productId"]
    body = {"orderId": order["id"], "rating": 1, "text": "Rude words."}
    headers = market.as_buyer(email_confirmed=True)
    response = await market.client.post(f"/api/products/{product_id}/reviews", json=body, headers=headers)
    return data_of(response, 201)["id"], UUID(product_id)


@pytest.fixture
async def campus_admin(market: Market) -> dict[str, str]:
    return market.as_staff("campus_admin", market.campus_id)


async def test_the_same_report_again_is_the_open_one(market: Market) -> None:
    product = await market.sell(name="Sneakers")
    first = data_of(await report(market, "product", product, details="The logo is wrong."), 201)
    assert (first["subject"], first["subjectText"]) == ({"kind": "product", "id": str(product)}, "Sneakers")
    assert (first["outcome"], first["details"], first["vendorId"]) == (
        None,
        "The logo is wrong.",
        str(market.vendor_id),
    )
    assert data_of(await report(market, "product", product, details="Again."), 200) == first
    other = data_of(await report(market, "product", product, market.as_buyer(new_id())), 201)
    assert other["id"] != first["id"]
    data_of(await decide(market, first, "dismiss"))
    assert data_of(await report(market, "product", product), 201)["id"] != first["id"]


async def test_two_reports_at_once_are_one(market: Market) -> None:
    product = await market.sell()
    responses = await asyncio.gather(*(report(market, "product", product) for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [200, 200, 200, 201]
    assert len(await reports(market)) == 1


async def test_only_what_the_caller_sees_may_be_reported(market: Market) -> None:
    draft = await market.sell(draft=True)
    for kind, subject_id in (
        ("product", draft),
        ("product", new_id()),
        ("review", new_id()),
        ("vendor", new_id()),
        ("message", new_id()),
    ):
        assert error_of(await report(market, kind, subject_id)) == NOT_FOUND, kind
    assert invalid_field_of(await report(market, "campus", new_id())) == (422, "subject.kind")
    assert invalid_field_of(await report(market, "product", draft, reason="")) == (422, "reason")
    body = {"subject": {"kind": "product", "id": str(draft)}, "reason": "x"}
    assert error_of(await market.client.post("/api/reports", json=body)) == UNAUTHORIZED


async def test_a_hidden_product_is_absent_for_all_but_its_vendor_and_staff(market: Market) -> None:
    await approve_vendor(market)
    product = await market.sell()
    reported = data_of(await report(market, "product", product), 201)
    also = data_of(await report(market, "product", product, market.as_buyer(new_id())), 201)
    hidden = data_of(await decide(market, reported, "hide", reason="A copy of a brand."))
    assert (hidden["outcome"], hidden["decidedAt"] is not None) == ("hide", True)
    # One decision closes each report of the subject.
    assert await reports(market, status="open") == []
    assert set(await reports(market, status="decided")) == {reported["id"], also["id"]}
    assert [
        await status_of(market, product, headers) for headers in ({}, market.as_buyer(), market.as_merchant(new_id()))
    ] == [404] * 3
    assert await status_of(market, product, market.as_staff("support_agent")) == 200
    own = data_of(await market.client.get(f"/api/products/{product}", headers=market.as_merchant()))
    assert own["hiddenBecause"] == "A copy of a brand."
    assert data_of(await market.client.get("/api/products")) == []
    assert (await market.checkout(product)).status_code == 422
    [event] = await market.published("orders.product_changed.v1")
    assert (event["productId"], event["removed"]) == (str(product), True)
    [event] = await market.published("orders.product_hidden.v1")
    assert (event["productId"], event["reportId"]) == (str(product), reported["id"])
    # A change by the vendor does not publish it again.
    path = f"/api/products/{product}"
    data_of(await market.client.patch(path, json={"name": "Shoes"}, headers=market.as_merchant()))
    assert len(await market.published("orders.product_changed.v1")) == 1
    assert await status_of(market, product) == 404


async def test_a_dismissal_shows_a_hidden_product_again(market: Market) -> None:
    product = await market.sell()
    reported = data_of(await report(market, "product", product), 201)
    data_of(await decide(market, reported, "hide"))
    data_of(await decide(market, reported, "hide"))
    data_of(await decide(market, reported, "dismiss"))
    assert await status_of(market, product) == 200
    assert error_of(await decide(market, reported, "hide")) == CONFLICT
    changed = [event["removed"] for event in await market.published("orders.product_changed.v1")]
    assert changed == [True, False]


async def test_units_of_a_hidden_product_are_not_reserved_for_a_late_charge(market: Market) -> None:
    product = await market.sell(stock=3)
    placed = await market.ordered(product, 2)
    paid = await market.ordered(product, buyer_id=new_id())
    await market.pay(paid)
    assert (await market.post(placed, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    data_of(await decide(market, data_of(await report(market, "product", product), 201), "hide"))
    await market.pay(placed)
    assert (await market.status_of(placed), await market.status_of(paid)) == ("refund_pending", "paid_escrow")


async def test_a_hidden_review_counts_no_more_and_is_shown_again_by_a_dismissal(market: Market) -> None:
    await approve_vendor(market)
    review_id, product = await reviewed(market)
    url = f"/api/products/{product}/reviews"
    reported = data_of(await report(market, "review", review_id, market.as_buyer(new_id())), 201)
    assert reported["subjectText"] == "Rude words."
    data_of(await decide(market, reported, "hide"))
    shown = (await market.client.get(url)).json()
    assert (shown["data"], shown["meta"]["ratingCount"]) == ([], 0)
    data_of(await decide(market, reported, "dismiss"))
    assert (await market.client.get(url)).json()["meta"]["ratingCount"] == 1


async def test_a_vendor_is_suspended_by_staff_of_its_campus_only(market: Market, campus_admin: dict[str, str]) -> None:
    await approve_vendor(market)
    product = await market.sell()
    reported = data_of(await report(market, "product", product), 201)
    assert await reports(market, campus_admin) == [reported["id"]]
    elsewhere = market.as_staff("campus_admin", new_id())
    assert await reports(market, elsewhere) == []
    assert error_of(await decide(market, reported, "suspend_vendor")) == FORBIDDEN
    assert error_of(await decide(market, reported, "suspend_vendor", elsewhere)) == NOT_FOUND
    for outcome in ("dismiss", "hide"):
        assert error_of(await decide(market, reported, outcome, campus_admin)) == FORBIDDEN
    for _ in range(2):
        decided = data_of(await decide(market, reported, "suspend_vendor", campus_admin, reason="Copies."))
        assert decided["outcome"] == "suspend_vendor"
    [event] = await market.published("orders.vendor_suspension_decided.v1")
    assert (event["vendorId"], event["reason"]) == (str(market.vendor_id), "Copies.")


@pytest.mark.parametrize(("kind", "outcome"), [("vendor", "hide"), ("review", "suspend_vendor")])
async def test_an_outcome_that_the_subject_cannot_have_is_422(
    market: Market, campus_admin: dict[str, str], kind: str, outcome: str
) -> None:
    await approve_vendor(market)
    subject_id = market.vendor_id if kind == "vendor" else (await reviewed(market))[0]
    reported = data_of(await report(market, kind, subject_id, market.as_buyer(new_id())), 201)
    headers = campus_admin if outcome == "suspend_vendor" else None
    assert invalid_field_of(await decide(market, reported, outcome, headers)) == (422, "outcome")


async def test_reporters_and_sellers_decide_on_no_report_of_theirs(market: Market) -> None:
    await approve_vendor(market)
    product, staff = await market.sell(), new_id()
    own = market.headers(staff, roles=("support_agent",))
    reported = data_of(await report(market, "product", product, own), 201)
    assert error_of(await decide(market, reported, "dismiss", own)) == FORBIDDEN
    seller = market.headers(new_id(), roles=("support_agent", "merchant"), vendor_id=market.vendor_id)
    owner = market.headers(market.merchant_id, roles=("support_agent",))
    for headers in (seller, owner):
        assert error_of(await decide(market, reported, "hide", headers)) == FORBIDDEN
    assert await work_of(market.client, own) == {}
    assert "reports_to_decide" not in await work_of(market.client, seller)
    other = data_of(await report(market, "product", product), 201)
    # The decision of another report leaves the decider's own open.
    data_of(await decide(market, other, "hide", own))
    assert await reports(market, status="open") == [reported["id"]]


async def test_reports_wait_for_support_until_their_decision(market: Market) -> None:
    product, support = await market.sell(), market.as_staff("support_agent")
    reported = data_of(await report(market, "product", product), 201)
    work = (await work_of(market.client, support))["reports_to_decide"]
    assert (work["count"], work["link"]) == (1, "/api/reports?awaiting=decision")
    assert await reports(market, awaiting="decision") == [reported["id"]]
    data_of(await decide(market, reported, "dismiss"))
    assert await work_of(market.client, support) == {}
    assert await reports(market, awaiting="decision") == []


async def test_reports_are_listed_for_staff_by_kind_and_page(market: Market) -> None:
    await approve_vendor(market)
    product = data_of(await report(market, "product", await market.sell()), 201)
    vendor = data_of(await report(market, "vendor", market.vendor_id), 201)
    assert await reports(market, kind="vendor") == [vendor["id"]]
    assert await reports(market, vendorId=str(new_id())) == []
    headers = market.as_staff("auditor")
    first = (await market.client.get("/api/reports", params={"limit": 1}, headers=headers)).json()
    second = await reports(market, headers, limit=1, cursor=first["meta"]["next_cursor"])
    assert {first["data"][0]["id"], *second} == {product["id"], vendor["id"]}
    for role in (market.as_buyer(), market.as_merchant()):
        assert error_of(await market.client.get("/api/reports", headers=role)) == FORBIDDEN
    assert error_of(await decide(market, product, "dismiss", headers)) == FORBIDDEN
    assert error_of(await decide(market, {"id": str(uuid4())}, "dismiss")) == NOT_FOUND


@pytest.fixture
async def message(market: Market) -> dict[str, Any]:
    """Return a message of the vendor to the market's buyer."""
    await approve_vendor(market)
    body = {"productId": str(await market.sell())}
    opened = await market.client.post("/api/conversations", json=body, headers=market.as_buyer())
    path = f"/api/conversations/{data_of(opened, 201)['id']}/messages"
    return data_of(await market.client.post(path, json={"text": "Rude words."}, headers=market.as_merchant()), 201)


async def messages(market: Market, message: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    return await market.client.get(f"/api/conversations/{message['conversationId']}/messages", headers=headers)


async def test_only_a_party_reports_a_message(market: Market, message: dict[str, Any]) -> None:
    third_party, support = market.as_buyer(new_id()), market.as_staff("support_agent")
    for headers in (third_party, support):
        assert error_of(await report(market, "message", message["id"], headers)) == NOT_FOUND
    assert error_of(await report(market, "message", new_id())) == NOT_FOUND
    reported = data_of(await report(market, "message", message["id"]), 201)
    assert (reported["subjectText"], reported["conversationId"]) == ("Rude words.", message["conversationId"])
    assert (await report(market, "message", message["id"])).status_code == 200
    assert (await report(market, "message", message["id"], market.as_merchant())).status_code == 201


async def test_each_read_of_a_reported_conversation_by_support_is_recorded(
    market: Market, message: dict[str, Any]
) -> None:
    support = market.as_staff("support_agent")
    assert error_of(await messages(market, message, support)) == NOT_FOUND
    reported = data_of(await report(market, "message", message["id"]), 201)
    for _ in range(2):
        [read] = data_of(await messages(market, message, support))
        assert read["text"] == "Rude words."
    rows = await market.fetch("SELECT conversation_id::text FROM conversation_reads")
    assert [row["conversation_id"] for row in rows] == [reported["conversationId"]] * 2
    for role in ("auditor", "finance_checker"):
        assert error_of(await messages(market, message, market.as_staff(role))) in (FORBIDDEN, NOT_FOUND)


async def test_a_hidden_message_is_shown_to_its_author_and_staff(market: Market, message: dict[str, Any]) -> None:
    reported = data_of(await report(market, "message", message["id"]), 201)
    readers = (market.as_buyer(), market.as_merchant(), market.as_staff("support_agent"))
    data_of(await decide(market, reported, "hide", reason="It insults."))
    shown = [data_of(await messages(market, message, headers))[0] for headers in readers]
    assert [(each["text"], each["hidden"], each["hiddenBecause"]) for each in shown] == [
        ("", True, None),
        ("Rude words.", True, "It insults."),
        ("Rude words.", True, "It insults."),
    ]
    data_of(await decide(market, reported, "dismiss"))
    shown = [data_of(await messages(market, message, headers))[0] for headers in readers]
    assert {(each["text"], each["hidden"], each["hiddenBecause"]) for each in shown} == {("Rude words.", False, None)}


async def test_a_message_is_dismissed_or_hidden_only(
    market: Market, message: dict[str, Any], campus_admin: dict[str, str]
) -> None:
    reported = data_of(await report(market, "message", message["id"]), 201)
    response = await decide(market, reported, "suspend_vendor", campus_admin)
    assert invalid_field_of(response) == (422, "outcome")
