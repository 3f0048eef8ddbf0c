"""Receipts of orders and purchases (contract section 6.10)."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pypdfium2
import pytest

from common.database.errors import DatabaseUnavailable
from common.primitives.ids import new_id
from contracts.identity import ProfileChanged, UserErased, VendorChanged, VendorClosed
from testkit.lock_order import handle_batch
from testkit.responses import NOT_FOUND, error_of

from .conftest import Market
from .purchase_steps import bought, two_products

_BLOCKED = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid)))"
HTML = {"accept": "text/html"}
NAME = "Ọláyínká Adébáyọ̀ 漢字"


async def receipt(market: Market, order: dict[str, Any], kind: str = "orders", **headers: str) -> httpx.Response:
    own = headers or market.as_buyer()
    return await market.client.get(f"/api/{kind}/{order['id']}/receipt", headers=own)


async def page(market: Market, order: dict[str, Any], kind: str = "orders") -> httpx.Response:
    response = await receipt(market, order, kind, **market.as_buyer(), **HTML)
    assert response.status_code == 200, response.text
    return response


async def number_of(market: Market, order: dict[str, Any]) -> int:
    return int((await page(market, order)).headers["x-document-number"].rsplit("-", 1)[1])


async def rename_buyer(market: Market, name: str) -> None:
    changed = ProfileChanged(user_id=market.buyer_id, email="ada@example.com", phone=None, full_name=name)
    await market.receive(changed)


def vendor_named(market: Market, name: str) -> VendorChanged:
    return VendorChanged(
        vendor_id=market.vendor_id,
        owner_user_id=market.merchant_id,
        business_name=name,
        legal_name="Ada Obi Ventures",
        campus_id=market.campus_id,
    )


async def test_a_paid_order_has_a_receipt_as_pdf_and_as_page(market: Market) -> None:
    await rename_buyer(market, NAME)
    await market.receive(vendor_named(market, "Ụzọ & Sons"))
    order = await market.paid(quantity=2)
    pdf = await receipt(market, order)
    assert (pdf.status_code, pdf.headers["content-type"]) == (200, "application/pdf")
    number = pdf.headers["x-document-number"]
    shown = (number, order["number"], NAME, "Jollof Rice", "₦1,500.00", "₦3,000.00", "1 January 2026, 01:00")
    with pypdfium2.PdfDocument(pdf.content) as opened:
        text = opened[0].get_textpage().get_text_range()
    assert [one for one in (*shown, "Ụzọ & Sons") if one not in text] == []
    html = await page(market, order)
    assert html.headers["content-type"] == "text/html; charset=utf-8"
    assert html.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert html.headers["x-document-number"] == number
    assert html.headers["cache-control"] == "private, no-store"
    assert [one for one in (*shown, "Ụzọ &amp; Sons") if one not in html.text] == []


async def test_other_media_types_are_406(market: Market) -> None:
    order = await market.paid()
    response = await receipt(market, order, **market.as_buyer(), accept="application/json")
    assert error_of(response) == (406, "VALIDATION_FAILED")


async def test_a_receipt_never_changes(market: Market) -> None:
    await rename_buyer(market, NAME)
    order = await market.paid()
    before = [(await receipt(market, order)).content, (await page(market, order)).content]
    market.clock.advance(timedelta(days=40))
    await rename_buyer(market, "Another Name")
    await market.receive(vendor_named(market, "Another Shop"))
    await market.fetch("UPDATE orders SET updated_at = now(), refunded_minor = 1 WHERE id = $1", UUID(order["id"]))
    assert [(await receipt(market, order)).content, (await page(market, order)).content] == before


async def test_only_the_buyer_of_a_paid_order_has_a_receipt(market: Market) -> None:
    order, unpaid = await market.paid(), await market.ordered()
    assert error_of(await receipt(market, unpaid)) == NOT_FOUND
    for headers in (market.as_buyer(new_id()), market.as_merchant(), market.as_staff("finance_maker")):
        assert error_of(await receipt(market, order, **headers)) == NOT_FOUND
    assert (await market.client.get(f"/api/orders/{order['id']}/receipt")).status_code == 401


async def test_numbers_of_a_vendor_have_no_gap(market: Market) -> None:
    other = new_id()
    theirs = await market.sell(vendor_id=other)
    orders = [await market.ordered() for _ in range(6)]
    foreign = await market.ordered(theirs)
    await asyncio.gather(
        handle_batch(market.app, [market.held(orders[0]), market.held(foreign), market.held(orders[1])]),
        *(market.pay(order) for order in orders[2:]),
    )
    # Reading a receipt would issue one that is missing.
    assert len(await market.fetch("SELECT FROM issued_documents")) == 7
    assert sorted([await number_of(market, order) for order in orders]) == [1, 2, 3, 4, 5, 6]
    assert await number_of(market, foreign) == 1


async def test_a_transaction_that_fails_causes_no_gap(market: Market) -> None:
    first, second = await market.ordered(), await market.ordered()
    async with market.crashing():
        with pytest.raises(asyncpg.RaiseError, match="crash"):
            await market.pay(first)
    assert error_of(await receipt(market, first)) == NOT_FOUND
    await market.pay(second)
    await market.pay(first)
    assert [await number_of(market, order) for order in (second, first)] == [1, 2]


async def test_a_killed_transaction_causes_no_gap(market: Market) -> None:
    """The second payment waits for the counter of a transaction whose connection the server then ends."""
    first, second = await market.ordered(), await market.ordered()
    await market.pay(first)
    with pytest.raises((DatabaseUnavailable, asyncpg.InterfaceError)):
        async with market.unit_of_work() as uow:
            await uow.execute("UPDATE document_counters SET last = last + 1")
            process_id = await uow.fetch_value("SELECT pg_backend_pid()")
            paying = asyncio.create_task(market.pay(second))
            while not (await market.fetch(_BLOCKED, process_id))[0][0]:  # noqa: ASYNC110 - the server sends no event
                await asyncio.sleep(0.01)
            await market.fetch("SELECT pg_terminate_backend($1::int, 60000)", process_id)
            await uow.fetch_value("SELECT 1")
    await paying
    assert [await number_of(market, order) for order in (first, second)] == [1, 2]


async def test_a_repeated_event_draws_no_number(market: Market) -> None:
    first = await market.ordered()
    received = await market.pay(first)
    await market.pay(first, event_id=received.event_id, sequence=received.sequence)
    await market.pay(first)
    second = await market.paid()
    assert [await number_of(market, order) for order in (first, second)] == [1, 2]


async def test_a_late_charge_without_stock_has_a_receipt(market: Market) -> None:
    product = await market.sell(stock=1)
    order = await market.ordered(product)
    await market.post(order, "cancel", market.as_buyer(), {"reason": "changed my mind"})
    await market.fetch("UPDATE products SET stock = 0 WHERE id = $1", product)
    await market.pay(order)
    assert await market.status_of(order) == "refund_pending"
    assert await number_of(market, order) == 1


async def test_an_order_that_was_paid_before_receipts_existed_gets_one_when_it_is_read(market: Market) -> None:
    old, new = await market.paid(), await market.paid()
    await market.fetch_as_owner(f"UPDATE sale_lines SET sold_at = '2025-12-24Z' WHERE order_id = '{old['id']}'")
    await market.fetch_as_owner("DELETE FROM issued_documents")
    await market.fetch_as_owner("DELETE FROM document_counters")
    assert await asyncio.gather(*(number_of(market, new) for _ in range(4))) == [1] * 4
    assert await number_of(market, old) == 2
    assert ["24 December 2025" in (await page(market, order)).text for order in (old, new)] == [True, False]


async def test_a_purchase_has_one_receipt_of_all_its_orders(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, first, second)
    one, other = shown["orders"]
    assert error_of(await receipt(market, shown, "purchases")) == NOT_FOUND
    await market.pay(one)
    assert error_of(await receipt(market, shown, "purchases")) == NOT_FOUND
    await market.pay(other)
    html = await page(market, shown, "purchases")
    numbers = [(await page(market, order)).headers["x-document-number"] for order in shown["orders"]]
    assert html.headers["x-document-number"] == f"{shown['number']}-2"
    expected = (*numbers, one["number"], other["number"], "₦1.30", f"{shown['number']}-2")
    assert [text for text in expected if text not in html.text] == []
    pdf = [(await receipt(market, shown, "purchases")).content for _ in range(2)]
    assert pdf[0] == pdf[1]
    strange = await receipt(market, shown, "purchases", **market.as_buyer(new_id()))
    assert error_of(strange) == NOT_FOUND


async def test_a_cancelled_order_that_is_paid_late_makes_the_next_number_of_its_purchase(market: Market) -> None:
    first, second = await two_products(market)
    shown = await bought(market, first, second)
    one, other = shown["orders"]
    await market.post(other, "cancel", market.as_buyer(), {"reason": "changed my mind"})
    await market.pay(one)
    before = await page(market, shown, "purchases")
    assert before.headers["x-document-number"] == f"{shown['number']}-1"
    await market.pay(other)
    assert (await page(market, shown, "purchases")).headers["x-document-number"] == f"{shown['number']}-2"


async def test_an_erasure_removes_names_and_keeps_numbers_and_amounts(market: Market) -> None:
    await rename_buyer(market, NAME)
    await market.receive(vendor_named(market, "Ụzọ & Sons"))
    order = await market.paid()
    stored = "SELECT number, content->>'total_minor' AS total, content, recipient_encrypted FROM issued_documents"
    [before] = await market.fetch(stored)
    assert "Adébáyọ" not in str(before)
    await market.receive(
        VendorClosed(vendor_id=market.vendor_id, owner_user_id=market.merchant_id, campus_id=market.campus_id)
    )
    html = await page(market, order)
    assert "Sons" not in html.text
    assert "Account closed" in html.text
    await market.receive(UserErased(user_id=market.buyer_id))
    [after] = await market.fetch(stored)
    assert (after["number"], after["total"]) == (before["number"], before["total"])
    assert after["recipient_encrypted"] == ""
    assert "Name not given" in (await page(market, order)).text


async def test_receipts_are_personal_records_of_the_buyer(market: Market) -> None:
    order = await market.paid()
    response = await market.client.get("/api/personal-records/orders", params={"limit": 100}, headers=market.as_buyer())
    [found] = [one["record"] for one in response.json()["data"] if one["section"] == "receipts"]
    assert (found["orderId"], found["number"]) == (order["id"], 1)
