"""Carts of the messaging app: an event for a proven number, and a reply with a link (contract section 6.11)."""

import re
from typing import Any

import pytest
import pytest_asyncio

from common.primitives.ids import new_id
from notifications.support.domain.cart_replies import cart_links

from ..conftest import OpenScenario, Scenario
from ..messaging_app import BUYER, messages, process, text, tickets
from ..providers import Providers

CART = "notifications.cart_received.v1"
STOREFRONT = "https://shop.campus.example"
LINK = re.compile(rf"{STOREFRONT}/purchase-drafts/([0-9a-f-]{{36}})$")


@pytest_asyncio.fixture(loop_scope="session")
async def scenario(open_scenario: OpenScenario, messaging_settings: dict[str, Any]):
    async with open_scenario(**messaging_settings, storefront_url=STOREFRONT) as scenario:
        await scenario.project_users()
        yield scenario


def cart(message_id: str, *items: object, sender: str = BUYER) -> dict[str, Any]:
    order = {"catalog_id": "7", "text": "Two please", "product_items": list(items)}
    return text(message_id, "", sender=sender) | {"type": "order", "order": order}


def line(retailer_id: object, quantity: object = 2) -> dict[str, Any]:
    return {"product_retailer_id": retailer_id, "quantity": quantity, "item_price": 1, "currency": "NGN"}


async def test_a_cart_of_a_proven_number_is_published_once_and_its_link_is_the_reply(
    scenario: Scenario, providers: Providers
) -> None:
    product = str(new_id())
    for _ in range(2):
        await process(scenario, {"messages": [cart("wamid.1", line(product), line("SKU", "3"))]})
    [event] = await scenario.published(CART)
    assert event["userId"] == str(scenario.buyer_id)
    assert event["items"] == [{"retailerId": product, "quantity": 2}, {"retailerId": "SKU", "quantity": 3}]
    await scenario.send_queued()
    [message] = providers.approved
    found = LINK.search(message["text"]["body"])
    assert found is not None
    assert found[1] == event["draftId"]
    # No mail and no feed item says again what the customer has just done.
    assert providers.mails == []
    [ticket] = await tickets(scenario)
    assert ticket["status"] == "pending"
    assert [(row["author"], row["kind"]) for row in await messages(scenario)] == [
        ("customer", "order"),
        ("staff", "purchase_draft"),
    ]
    assert "http" not in str([row["body"] for row in await messages(scenario)])


async def test_an_unproven_number_gets_a_link_to_sign_up(scenario: Scenario, providers: Providers) -> None:
    await process(scenario, {"messages": [cart("wamid.1", line("SKU"), sender="2348099999999")]})
    assert await scenario.published(CART) == []
    await scenario.send_queued()
    [message] = providers.approved
    assert message["text"]["body"].endswith(f"{STOREFRONT}/sign-up")


async def test_staff_reply_to_a_cart_in_an_open_ticket(scenario: Scenario) -> None:
    await process(scenario, {"messages": [text("wamid.1", "Where is it?")]})
    await process(scenario, {"messages": [cart("wamid.2", line("SKU"))]})
    [ticket] = await tickets(scenario)
    assert (ticket["status"], ticket["unread_by_staff"]) == ("open", 2)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [7, None, []],
        [line(7)],
        [line("")],
        [line("SKU", 0)],
        [line("SKU", -1)],
        [line("SKU", True)],
        [line("SKU", [])],
    ],
)
async def test_a_cart_without_a_readable_line_is_a_message_to_support(scenario: Scenario, items: list[Any]) -> None:
    await process(scenario, {"messages": [cart("wamid.1", *items)]})
    assert await scenario.published(CART) == []
    assert [row["body"] for row in await messages(scenario)] == ["[order] Two please"]


def test_links_lead_to_the_api_without_a_storefront() -> None:
    draft_id = new_id()
    links = cart_links("", "https://api.campus.example")
    assert (
        links.linked("Pay:", "purchase_draft", draft_id)
        == f"Pay: https://api.campus.example/api/purchase-drafts/{draft_id}"
    )
    assert links.linked("Hello", "text", draft_id) == "Hello"
