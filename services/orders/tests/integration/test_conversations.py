"""Conversations of buyers and vendors: parties, masking, limits, blocks, and what support reads
(contract section 11.9).
"""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest_asyncio

from common.primitives.ids import new_id
from contracts.identity import UserErased, VendorApproved
from orders.domain.conversations import KEPT, MESSAGES_MAX, OPENED_MAX
from orders.domain.message_texts import MARK, MASKED_REASON
from testkit.responses import FORBIDDEN, INVALID, NOT_FOUND, data_of, error_of

from .conftest import Market
from .dispute_steps import disputed

PATH = "/api/conversations"
POSTED = "orders.message_posted.v1"


@pytest_asyncio.fixture(loop_scope="session")
async def shop(market: Market) -> Market:
    """Return the market with a vendor whose owner is known."""
    await market.receive(market.vendor_event(VendorApproved))
    return market


async def open_about(market: Market, headers: dict[str, str] | None = None, **subject: Any) -> httpx.Response:
    body = {name: str(value) for name, value in subject.items()}
    return await market.client.post(PATH, json=body, headers=headers or market.as_buyer())


async def opened(market: Market, headers: dict[str, str] | None = None) -> dict[str, Any]:
    return data_of(await open_about(market, headers, productId=await market.sell()), 201)


async def write(market: Market, conversation: dict[str, Any], text: str, headers=None) -> httpx.Response:
    path = f"{PATH}/{conversation['id']}/messages"
    return await market.client.post(path, json={"text": text}, headers=headers or market.as_buyer())


async def do(market: Market, conversation: dict[str, Any], verb: str, headers, method: str = "POST") -> httpx.Response:
    return await market.client.request(method, f"{PATH}/{conversation['id']}/{verb}", headers=headers)


async def read(market: Market, path: str, headers, **params: Any) -> httpx.Response:
    return await market.client.get(f"{PATH}{path}", params=params, headers=headers)


async def test_a_buyer_has_one_conversation_about_a_product(shop: Market) -> None:
    product_id = await shop.sell()
    first = data_of(await open_about(shop, productId=product_id), 201)
    assert data_of(await open_about(shop, productId=product_id), 200) == first
    assert (first["productId"], first["orderId"], first["vendorName"]) == (str(product_id), None, "Ada's Kitchen")
    other = data_of(await open_about(shop, shop.as_buyer(new_id()), productId=product_id), 201)
    assert other["id"] != first["id"]


async def test_concurrent_requests_open_one_conversation(shop: Market) -> None:
    product_id = await shop.sell()
    responses = await asyncio.gather(*(open_about(shop, productId=product_id) for _ in range(6)))
    assert sorted(response.status_code for response in responses) == [200] * 5 + [201]
    assert len({response.json()["data"]["id"] for response in responses}) == 1


async def test_either_party_opens_the_conversation_about_an_order(shop: Market) -> None:
    order = await shop.paid()
    conversation = data_of(await open_about(shop, shop.as_merchant(), orderId=order["id"]), 201)
    assert data_of(await open_about(shop, orderId=order["id"]), 200)["id"] == conversation["id"]
    assert error_of(await open_about(shop, shop.as_buyer(new_id()), orderId=order["id"])) == NOT_FOUND


async def test_a_conversation_is_about_one_thing_that_its_buyer_sees(shop: Market) -> None:
    draft, product_id = await shop.sell(draft=True), await shop.sell()
    assert error_of(await open_about(shop)) == INVALID
    assert error_of(await open_about(shop, productId=product_id, orderId=new_id())) == INVALID
    for subject in ({"productId": draft}, {"productId": new_id()}, {"orderId": new_id()}):
        assert error_of(await open_about(shop, **subject)) == NOT_FOUND
    assert error_of(await open_about(shop, shop.as_merchant(), productId=product_id)) == FORBIDDEN
    assert await shop.fetch("SELECT id FROM conversations") == []


async def test_messages_are_counted_until_they_are_read(shop: Market) -> None:
    conversation, vendor = await opened(shop), shop.as_merchant()
    for text in ("Is it fresh?", "Is it hot?"):
        assert (await write(shop, conversation, text)).status_code == 201
    [listed] = data_of(await read(shop, "", vendor))
    assert (listed["id"], listed["unreadCount"]) == (conversation["id"], 2)
    assert data_of(await read(shop, f"/{conversation['id']}", shop.as_buyer()))["unreadCount"] == 0
    messages = data_of(await read(shop, f"/{conversation['id']}/messages", vendor))
    assert [(each["author"], each["text"]) for each in messages] == [("buyer", "Is it hot?"), ("buyer", "Is it fresh?")]
    assert data_of(await do(shop, conversation, "read", vendor))["unreadCount"] == 0
    await write(shop, conversation, "Both", vendor)
    assert data_of(await read(shop, f"/{conversation['id']}", shop.as_buyer()))["unreadCount"] == 1


async def test_a_cursor_walks_conversations_and_messages(shop: Market) -> None:
    conversations = [await opened(shop) for _ in range(3)]
    for number in range(3):
        await write(shop, conversations[0], f"message {number}")
    for path, count in (("", 3), (f"/{conversations[0]['id']}/messages", 3)):
        page = (await read(shop, path, shop.as_buyer(), limit=2)).json()
        rest = (await read(shop, path, shop.as_buyer(), limit=2, cursor=page["meta"]["next_cursor"])).json()
        assert len({each["id"] for each in page["data"] + rest["data"]}) == count


async def test_a_pin_of_either_party_is_masked_before_it_is_stored(shop: Market) -> None:
    conversation = await opened(shop)
    for headers in (shop.as_buyer(), shop.as_merchant()):
        message = data_of(await write(shop, conversation, "PIN 482 913, or 08031234567", headers), 201)
        assert message["text"] == f"PIN {MARK}, or 08031234567"
        assert (message["masked"], message["maskedReason"]) == (True, MASKED_REASON)
    plain = data_of(await write(shop, conversation, "At 12:30"), 201)
    assert (plain["text"], plain["masked"], plain["maskedReason"]) == ("At 12:30", False, None)
    assert await shop.fetch("SELECT id FROM conversation_messages WHERE text LIKE '%482%'") == []


async def test_a_third_party_sees_nothing(shop: Market) -> None:
    conversation = await opened(shop)
    await write(shop, conversation, "Hello")
    others = (
        shop.as_buyer(new_id()),
        shop.headers(new_id(), roles=("buyer", "merchant"), vendor_id=new_id()),
        shop.as_staff("support_agent"),
    )
    for headers in others:
        assert error_of(await read(shop, f"/{conversation['id']}", headers)) == NOT_FOUND
        assert error_of(await read(shop, f"/{conversation['id']}/messages", headers)) == NOT_FOUND
        assert data_of(await read(shop, "", headers)) == []
    for headers in others[:2]:
        assert error_of(await write(shop, conversation, "Hi", headers)) == NOT_FOUND
        for verb in ("read", "block"):
            assert error_of(await do(shop, conversation, verb, headers)) == NOT_FOUND
    assert await shop.fetch("SELECT id FROM conversation_reads") == []


async def test_a_blocked_writer_is_rejected_in_every_conversation_of_the_two(shop: Market) -> None:
    conversation, second, vendor = await opened(shop), await opened(shop), shop.as_merchant()
    assert data_of(await do(shop, conversation, "block", vendor))["blockedBy"] == "vendor"
    for blocked in (conversation, second):
        assert error_of(await write(shop, blocked, "Hello?")) == FORBIDDEN
    assert error_of(await open_about(shop, productId=await shop.sell())) == FORBIDDEN
    await do(shop, conversation, "block", shop.as_buyer(), "DELETE")
    assert error_of(await write(shop, conversation, "Hello?")) == FORBIDDEN
    assert (await write(shop, conversation, "Goodbye", vendor)).status_code == 201
    assert data_of(await do(shop, conversation, "block", vendor, "DELETE"))["blockedBy"] is None
    assert (await write(shop, conversation, "Hello")).status_code == 201


async def test_messages_are_limited_to_thirty_a_minute(shop: Market) -> None:
    conversations = [await opened(shop), await opened(shop)]
    for number in range(MESSAGES_MAX):
        assert (await write(shop, conversations[number % 2], str(number))).status_code == 201
        shop.clock.advance(timedelta(seconds=1))
    limited = await write(shop, conversations[0], "one more")
    assert (error_of(limited), limited.headers["Retry-After"]) == ((429, "RATE_LIMIT_EXCEEDED"), "30")
    assert (await write(shop, conversations[0], "Hello", shop.as_merchant())).status_code == 201
    shop.clock.advance(timedelta(seconds=30))
    assert (await write(shop, conversations[0], "one more")).status_code == 201


async def test_new_conversations_are_limited_to_ten_an_hour(shop: Market) -> None:
    for _ in range(OPENED_MAX):
        await opened(shop)
    product_id = await shop.sell()
    limited = await open_about(shop, productId=product_id)
    assert (error_of(limited), limited.headers["Retry-After"]) == ((429, "RATE_LIMIT_EXCEEDED"), "3600")
    shop.clock.advance(timedelta(hours=1))
    assert (await open_about(shop, productId=product_id)).status_code == 201


async def test_each_message_is_published_without_its_text_and_notifies_once_a_minute(shop: Market) -> None:
    conversation = await opened(shop)
    for text, seconds in (("secret words", 59), ("more", 1), ("again", 0)):
        await write(shop, conversation, text)
        shop.clock.advance(timedelta(seconds=seconds))
    await write(shop, conversation, "Yes", shop.as_merchant())
    events = await shop.published(POSTED)
    assert [(event["author"], event["notifies"]) for event in events] == [
        ("buyer", True),
        ("buyer", False),
        ("buyer", True),
        ("vendor", True),
    ]
    assert [event["readerId"] for event in events] == [str(shop.merchant_id)] * 3 + [str(shop.buyer_id)]
    assert "secret" not in str(events)


async def test_support_reads_only_through_a_dispute_and_each_read_is_recorded(shop: Market) -> None:
    order = await disputed(shop)
    conversation = data_of(await open_about(shop, orderId=order["id"]), 201)
    await write(shop, conversation, "It never came")
    quiet = await shop.paid()
    other = data_of(await open_about(shop, orderId=quiet["id"]), 201)
    support = shop.as_staff("support_agent")
    [found] = data_of(await read(shop, "", support, orderId=order["id"]))
    assert found["id"] == conversation["id"]
    assert data_of(await read(shop, "", support, orderId=quiet["id"])) == []
    [message] = data_of(await read(shop, f"/{conversation['id']}/messages", support))
    assert message["text"] == "It never came"
    assert error_of(await read(shop, f"/{other['id']}/messages", support)) == NOT_FOUND
    assert error_of(await write(shop, conversation, "I am support", support)) == FORBIDDEN
    rows = await shop.fetch("SELECT conversation_id::text FROM conversation_reads")
    assert [row["conversation_id"] for row in rows] == [conversation["id"]]
    await read(shop, f"/{conversation['id']}/messages", shop.as_buyer())
    assert len(await shop.fetch("SELECT id FROM conversation_reads")) == 1


async def test_an_erasure_empties_the_texts_of_their_author_alone(shop: Market) -> None:
    conversation = await opened(shop)
    await write(shop, conversation, "From the buyer")
    await write(shop, conversation, "From the vendor", shop.as_merchant())
    await shop.receive(UserErased(user_id=shop.buyer_id))
    messages = data_of(await read(shop, f"/{conversation['id']}/messages", shop.as_merchant()))
    assert [(each["author"], each["text"]) for each in messages] == [("vendor", "From the vendor"), ("buyer", "")]


async def test_texts_outside_the_limits_are_rejected(shop: Market) -> None:
    conversation = await opened(shop)
    for text in ("", "  ", "x" * 2_001):
        assert error_of(await write(shop, conversation, text)) == INVALID
    assert (await write(shop, conversation, "x" * 2_000)).status_code == 201


async def test_messages_expire_after_twelve_months_and_then_their_conversation(shop: Market) -> None:
    conversation = await opened(shop)
    await write(shop, conversation, "Hello")
    shop.clock.advance(KEPT - timedelta(seconds=1))
    await shop.app.remove_old()
    assert len(await shop.fetch("SELECT id FROM conversation_messages")) == 1
    shop.clock.advance(timedelta(seconds=2))
    await shop.app.remove_old()
    assert await shop.fetch("SELECT id FROM conversation_messages") == []
    await shop.app.remove_old()
    assert await shop.fetch("SELECT id FROM conversations") == []


async def test_an_old_message_stays_until_twelve_months_after_the_last_one(shop: Market) -> None:
    conversation = await opened(shop)
    await write(shop, conversation, "First")
    shop.clock.advance(KEPT)
    await write(shop, conversation, "Last")
    await shop.app.remove_old()
    assert len(await shop.fetch("SELECT id FROM conversation_messages")) == 2
    shop.clock.advance(KEPT + timedelta(seconds=1))
    await shop.app.remove_old()
    assert await shop.fetch("SELECT id FROM conversation_messages") == []
