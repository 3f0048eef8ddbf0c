"""Reviews: who may write them, how often, and that ratings keep in step."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from common.auth.caller import Caller
from common.primitives.ids import new_id
from contracts.permissions import permissions_of
from testkit.responses import CONFLICT, FORBIDDEN, data_of, error_of

from .conftest import Market
from .steps import approve_vendor


async def delivered(market: Any, product_id: UUID | None = None) -> dict[str, Any]:
    order = await market.paid(product_id=product_id or await market.sell())
    response = await market.verify(order, await market.pin_of(order))
    assert response.status_code == 200, response.text
    return order


async def post(market: Any, subject: str, order: dict[str, Any], headers: Any = None, **body: Any) -> Any:
    sent = {"orderId": order["id"], "rating": 5, "text": "Hot and on time", **body}
    return await market.client.post(f"/api/{subject}/reviews", json=sent, headers=headers or market.as_buyer())


async def read(market: Any, subject: str, **params: Any) -> Any:
    return await market.client.get(f"/api/{subject}/reviews", params=params)


async def product_rating(market: Any, product_id: UUID) -> tuple[Any, int]:
    product = (await market.client.get(f"/api/products/{product_id}")).json()["data"]
    return product["rating"], product["ratingCount"]


async def test_the_buyer_of_a_delivered_order_reviews_its_vendor_and_its_product_once_each(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    order = await delivered(market, product_id)
    of_vendor, of_product = f"vendors/{market.vendor_id}", f"products/{product_id}"

    review = data_of(await post(market, of_product, order, rating=4), 201)
    assert (review["productId"], review["vendorId"]) == (str(product_id), str(market.vendor_id))
    assert (review["rating"], review["text"], review["orderId"]) == (4, "Hot and on time", order["id"])
    assert (await post(market, of_vendor, order, rating=2)).status_code == 201

    assert error_of(await post(market, of_product, order, rating=1)) == CONFLICT
    assert await product_rating(market, product_id) == (4.0, 1)
    page = (await read(market, of_vendor)).json()
    assert (page["meta"]["rating"], page["meta"]["ratingCount"]) == (2.0, 1)
    assert [shown["rating"] for shown in page["data"]] == [2]
    assert set(page["data"][0]) == {"id", "vendorId", "productId", "rating", "text", "createdAt", "reply"}
    events = await market.published("orders.review_posted.v1")
    assert [(event["rating"], event.get("productId")) for event in events] == [(4, str(product_id)), (2, None)]


async def test_no_user_reviews_what_they_did_not_receive(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    waiting = await market.paid(product_id=product_id)
    order = await delivered(market, product_id)
    subject = f"products/{product_id}"
    errors = {
        "not delivered": (await post(market, subject, waiting), 409, "CONCURRENCY_CONFLICT"),
        "a stranger's order": (
            await post(market, subject, order, market.as_buyer(new_id())),
            404,
            "RESOURCE_NOT_FOUND",
        ),
        "no such order": (await post(market, subject, {"id": str(uuid4())}), 404, "RESOURCE_NOT_FOUND"),
        "the vendor itself": (await post(market, subject, order, market.as_merchant()), 403, "AUTH_FORBIDDEN"),
        "nobody": (await post(market, subject, order, {"X-Nobody": "1"}), 401, "AUTH_UNAUTHORIZED"),
        "another product": (await post(market, f"products/{new_id()}", order), 422, "VALIDATION_FAILED"),
        "another vendor": (await post(market, f"vendors/{new_id()}", order), 422, "VALIDATION_FAILED"),
        "six": (await post(market, subject, order, rating=6), 422, "VALIDATION_FAILED"),
        "a half": (await post(market, subject, order, rating=4.5), 422, "VALIDATION_FAILED"),
        "a text": (await post(market, subject, order, rating="5"), 422, "VALIDATION_FAILED"),
        "no text": (await post(market, subject, order, text=" "), 422, "VALIDATION_FAILED"),
        "too long": (await post(market, subject, order, text="x" * 2_001), 422, "VALIDATION_FAILED"),
        "unknown field": (await post(market, subject, order, hidden=True), 422, "VALIDATION_FAILED"),
    }
    seen = {case: error_of(response) for case, (response, *_) in errors.items()}
    assert seen == {case: (status, code) for case, (_, status, code) in errors.items()}
    assert await market.fetch("SELECT * FROM reviews") == []
    assert await product_rating(market, product_id) == (None, 0)


async def test_of_twenty_reviews_at_once_one_is_kept_and_the_rating_counts_each_kept_one(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell(stock=50)
    order = await delivered(market, product_id)
    responses = await asyncio.gather(*(post(market, f"products/{product_id}", order) for _ in range(20)))
    assert sorted(response.status_code for response in responses) == [201] + [409] * 19

    orders = [await delivered(market, product_id) for _ in range(6)]
    ratings = [1, 2, 3, 4, 5, 5]
    await asyncio.gather(
        *(
            post(market, f"products/{product_id}", one, rating=rating)
            for one, rating in zip(orders, ratings, strict=True)
        )
    )
    assert await product_rating(market, product_id) == (round((5 + sum(ratings)) / 7, 2), 7)


async def test_a_hidden_review_has_no_reader_and_does_not_count_until_it_is_restored(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    order = await delivered(market, product_id)
    review = (await post(market, f"products/{product_id}", order, rating=1)).json()["data"]
    staff, client = market.as_staff("support_agent"), market.client
    hide, restore = f"/api/reviews/{review['id']}/hide", f"/api/reviews/{review['id']}/restore"

    assert (await client.post(hide, json={"reason": "insult"}, headers=market.as_buyer())).status_code == 403
    for _ in range(2):
        hidden = await client.post(hide, json={"reason": "insult"}, headers=staff)
        assert (hidden.status_code, hidden.json()["data"]["hiddenBecause"]) == (200, "insult")
    assert await product_rating(market, product_id) == (None, 0)
    assert (await read(market, f"products/{product_id}")).json()["data"] == []
    listed = await client.get("/api/reviews", params={"hidden": "true"}, headers=staff)
    assert [row["id"] for row in listed.json()["data"]] == [review["id"]]
    assert (await post(market, f"products/{product_id}", order)).status_code == 409

    for _ in range(2):
        assert (await client.post(restore, json={}, headers=staff)).status_code == 200
    assert await product_rating(market, product_id) == (1.0, 1)
    assert (await client.post(f"/api/reviews/{new_id()}/hide", json={"reason": "x"}, headers=staff)).status_code == 404


async def test_a_walk_by_cursor_gives_each_review_once_while_others_are_written(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell(stock=50)
    subject = f"products/{product_id}"
    before = []
    for _ in range(5):
        market.clock.advance(timedelta(seconds=1))
        before.append((await post(market, subject, await delivered(market, product_id))).json()["data"]["id"])
    late = [await delivered(market, product_id) for _ in range(3)]
    seen, cursor = [], None
    while True:
        page = (await read(market, subject, limit=2, **({"cursor": cursor} if cursor else {}))).json()
        seen += [row["id"] for row in page["data"]]
        if late:
            await post(market, subject, late.pop())
        cursor = page["meta"]["next_cursor"]
        if cursor is None:
            break
        assert (await read(market, f"vendors/{market.vendor_id}", cursor=cursor)).status_code == 422
    assert [one for one in seen if one in before] == before[::-1]
    assert len(seen) == len(set(seen))


async def test_reviews_of_what_does_not_exist_are_404(market: Market) -> None:
    for subject in (f"vendors/{new_id()}", f"products/{new_id()}"):
        assert (await read(market, subject)).status_code == 404


async def test_the_database_rejects_reviews_of_foreign_and_of_undelivered_orders(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    order, waiting = await delivered(market, product_id), await market.paid(product_id=product_id)
    statement = (
        "INSERT INTO reviews (id, order_id, buyer_id, vendor_id, product_id, rating, text, created_at)"
        " VALUES ($1, $2, $3, $4, $5, 5, '', now())"
    )
    buyer = Caller(user_id=market.buyer_id, roles=frozenset({"buyer"}), permissions=permissions_of(["buyer"]))
    thief = Caller(user_id=new_id(), roles=frozenset({"buyer"}), permissions=permissions_of(["buyer"]))
    for caller, chosen, buyer_id, product in (
        (thief, order, thief.user_id, product_id),
        (thief, order, market.buyer_id, product_id),
        (buyer, waiting, market.buyer_id, product_id),
        (buyer, order, market.buyer_id, new_id()),
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with market.unit_of_work(caller) as uow:
                await uow.execute(statement, new_id(), UUID(chosen["id"]), buyer_id, market.vendor_id, product)
    async with market.unit_of_work(buyer) as uow:
        await uow.execute(statement, new_id(), UUID(order["id"]), market.buyer_id, market.vendor_id, product_id)
        assert (
            await uow.execute("UPDATE reviews SET hidden_at = now(), hidden_by = $1, hidden_because = 'x'", new_id())
            == 0
        )


async def test_a_review_needs_a_proven_mail_address(market: Market) -> None:
    await approve_vendor(market)
    product_id = await market.sell()
    order = await delivered(market, product_id)
    for subject in (f"vendors/{market.vendor_id}", f"products/{product_id}"):
        refused = await post(market, subject, order, market.as_buyer(email_verified=False))
        assert error_of(refused) == FORBIDDEN
        assert refused.json()["confirmationRequired"] is True
    assert (await post(market, f"products/{product_id}", order)).status_code == 201


async def reply(market: Market, review_id: str, text: str = "Thank you", headers: Any = None) -> Any:
    sent = headers or market.as_merchant()
    return await market.client.post(f"/api/reviews/{review_id}/reply", json={"text": text}, headers=sent)


async def test_the_reviewed_vendor_replies_once_in_public(market: Market) -> None:
    await approve_vendor(market)
    subject = f"vendors/{market.vendor_id}"
    review = data_of(await post(market, subject, await delivered(market)), 201)
    assert review["reply"] is None
    replied = data_of(await reply(market, review["id"], " Thank you "), 201)
    assert (replied["reply"]["text"], "buyerId" in replied) == ("Thank you", False)
    [shown] = data_of(await read(market, subject))
    assert shown["reply"] == replied["reply"]
    assert error_of(await reply(market, review["id"], "Again")) == CONFLICT
    assert data_of(await read(market, subject)) == [shown]


async def test_only_the_reviewed_vendor_replies_and_to_shown_reviews_only(market: Market) -> None:
    await approve_vendor(market)
    review = data_of(await post(market, f"vendors/{market.vendor_id}", await delivered(market)), 201)
    for headers in (market.as_merchant(new_id()), market.as_buyer()):
        assert error_of(await reply(market, review["id"], headers=headers)) == FORBIDDEN
    assert (await reply(market, str(uuid4()))).status_code == 404
    for text in ("", "x" * 2_001):
        assert (await reply(market, review["id"], text)).status_code == 422
    moderator = market.as_staff("support_agent", stepped_up=True)
    await market.client.post(f"/api/reviews/{review['id']}/hide", json={"reason": "Spam"}, headers=moderator)
    assert (await reply(market, review["id"])).status_code == 404
    assert await market.fetch("SELECT id FROM reviews WHERE replied_at IS NOT NULL") == []
