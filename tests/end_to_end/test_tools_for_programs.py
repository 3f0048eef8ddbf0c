"""The Model Context Protocol at /mcp, driven by the official SDK's client (contract section 12)."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from campus_tools.launcher.system import System
from notifications.assistant.domain.assistant_tools import TEXTS_OF_USERS
from operations.journey import Marketplace, SignedInUser
from tests.end_to_end.steps import a_product, placed_order

from .conftest import Users

TOOLS = {"search_products", "get_product", "list_vendors", "search_docs", "my_orders", "order_status"}


@asynccontextmanager
async def session_of(system: System, user: SignedInUser | None = None) -> AsyncIterator[ClientSession]:
    url, headers = f"http://127.0.0.1:{system.port_base}/mcp", user.headers if user else {}
    async with (
        httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        streamable_http_client(url, http_client=http) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


async def call(session: ClientSession, tool: str, **arguments: Any) -> tuple[bool, Any]:
    """Return whether the call failed, and its result or error."""
    found = await session.call_tool(tool, arguments)
    document = json.loads(found.content[0].text)
    return found.isError, document.get("result", document.get("error"))


async def test_a_visitor_reads_products_vendors_and_help_and_no_orders(system: System, market: Marketplace) -> None:
    product = await a_product(market)
    async with session_of(system) as session:
        listed = (await session.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        assert all(tool.annotations.readOnlyHint for tool in listed)
        _, found = await call(session, "search_products", query=product["name"])
        assert product["id"] in [each["id"] for each in found]
        assert (await call(session, "get_product", productId=product["id"]))[1]["name"] == product["name"]
        assert product["vendorId"] in [vendor["id"] for vendor in (await call(session, "list_vendors"))[1]]
        assert (await call(session, "search_docs", query="delivery PIN"))[1]
        marked = json.loads((await session.call_tool("list_vendors", {})).content[0].text)
        assert marked["note"] == TEXTS_OF_USERS
        for tool, arguments in (("my_orders", {}), ("order_status", {"orderNumber": "CM-R80T-M2NG"})):
            assert await call(session, tool, **arguments) == (True, "this tool needs the access token of a user")


async def test_a_user_reads_the_own_orders_and_no_others(system: System, market: Marketplace, users: Users) -> None:
    number = (await placed_order(market, users))["number"]
    async with session_of(system, users.buyer) as session:
        assert number in [order["number"] for order in (await call(session, "my_orders"))[1]]
        failed, order = await call(session, "order_status", orderNumber=number)
        assert (failed, order["number"], order["asker"]) == (False, number, "buyer")
        assert await call(session, "order_status", orderNumber="nothing") == (
            True, "orderNumber must be an order's number, such as CM-R80T-M2NG",
        )  # fmt: skip
    async with session_of(system, users.other_buyer) as session:
        assert await call(session, "order_status", orderNumber=number) == (True, "not found")
        assert number not in [order["number"] for order in (await call(session, "my_orders"))[1]]


async def test_what_is_no_message_of_the_protocol_is_refused(market: Marketplace) -> None:
    refused = await market.http.post("/mcp", json={"no": "message"})
    named = {parameter["name"] for parameter in refused.json()["invalid_params"]}
    assert (refused.status_code, {"jsonrpc", "method", "no"} <= named) == (422, True)
    strange = await market.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "no/such"})
    assert (strange.status_code, "error" in strange.json()) == (200, True)
    for number in (2**53, True, 1.5, "x" * 201, [1]):
        refused = await market.http.post("/mcp", json={"jsonrpc": "2.0", "id": number, "method": "ping"})
        assert (refused.status_code, refused.json()["code"]) == (422, "VALIDATION_FAILED"), number
    for number in (2**31, -(2**53) + 1, "x" * 200):
        accepted = await market.http.post("/mcp", json={"jsonrpc": "2.0", "id": number, "method": "ping"})
        assert (accepted.status_code, accepted.json()["id"]) == (200, number)
    assert (await market.http.post("/mcp", json={}, headers={"Authorization": "Bearer nobody"})).status_code == 401
    assert (await market.http.get("/mcp")).status_code == 405
