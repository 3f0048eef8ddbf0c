"""Remittances of payouts and commission invoices of months (contract section 8.8)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pypdfium2

from common.primitives.clock import ManualClock
from common.primitives.ids import new_id
from contracts.identity import VendorChanged, VendorClosed
from contracts.payments import EscrowRefunded, TransferSucceeded
from testkit.responses import FORBIDDEN, NOT_FOUND, error_of, invalid_field_of

from .conftest import Scenario, Vendor, released
from .steps import AMOUNT, sent_payouts, transfer_event

HTML = {"accept": "text/html"}


def own(scenario: Scenario, vendor: Vendor, **more: str) -> dict[str, str]:
    return {**scenario.headers(vendor.owner, **vendor.claims()), **more}


async def remittance(scenario: Scenario, payout_id: Any, headers: dict[str, str]) -> httpx.Response:
    return await scenario.client.get(f"/api/payouts/{payout_id}/remittance", headers=headers)


async def invoice(scenario: Scenario, vendor: Vendor, month: str, headers: dict[str, str] | None = None) -> Any:
    path = f"/api/vendors/{vendor.id}/invoices/{month}"
    return await scenario.client.get(path, headers=headers or own(scenario, vendor, **HTML))


def number_of(response: httpx.Response) -> int:
    assert response.status_code == 200, response.text
    return int(response.headers["x-document-number"].rsplit("-", 1)[1])


def renamed(vendor: Vendor, legal_name: str) -> VendorChanged:
    return VendorChanged(
        vendor_id=vendor.id,
        owner_user_id=vendor.owner,
        business_name="A shop",
        legal_name=legal_name,
        campus_id=new_id(),
    )


async def sell(scenario: Scenario, vendor: Vendor, commission_minor: int) -> UUID:
    """Release an order of ten times the commission."""
    order_id, gross_minor = new_id(), commission_minor * 10
    shares = {"gross_minor": gross_minor, "commission_minor": commission_minor, "order_id": order_id}
    await scenario.receive(released(vendor, gross_minor - commission_minor, **shares))
    return order_id


async def test_a_processed_payout_has_a_remittance(scenario: Scenario) -> None:
    [attempt] = await sent_payouts(scenario)
    headers = own(scenario, attempt.vendor)
    assert error_of(await remittance(scenario, attempt.payout_id, headers)) == NOT_FOUND
    await scenario.receive(transfer_event(TransferSucceeded, attempt.reference))
    pdf = await remittance(scenario, attempt.payout_id, headers)
    assert (pdf.status_code, pdf.headers["content-type"], number_of(pdf)) == (200, "application/pdf", 1)
    payout = await scenario.read_payout(attempt.payout_id)
    shown = (
        pdf.headers["x-document-number"],
        payout["number"],
        attempt.reference,
        "Ada Obi Ventures",
        "ending in 6785",
    )
    with pypdfium2.PdfDocument(pdf.content) as opened:
        text = opened[0].get_textpage().get_text_range()
    assert [one for one in (*shown, f"₦{AMOUNT / 100:,.2f}") if one not in text] == []
    html = await remittance(scenario, attempt.payout_id, {**scenario.maker(), **HTML})
    assert html.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert [one for one in shown if one not in html.text] == []
    assert "0123456785" not in html.text + text
    refused = await remittance(scenario, attempt.payout_id, {**headers, "accept": "text/csv"})
    assert error_of(refused) == (406, "VALIDATION_FAILED")


async def test_a_remittance_never_changes_and_others_do_not_see_it(scenario: Scenario, clock: ManualClock) -> None:
    [attempt] = await sent_payouts(scenario)
    await scenario.receive(transfer_event(TransferSucceeded, attempt.reference))
    before = await remittance(scenario, attempt.payout_id, own(scenario, attempt.vendor))
    clock.advance(timedelta(days=40))
    await scenario.receive(renamed(attempt.vendor, "Another Name"))
    after = await remittance(scenario, attempt.payout_id, own(scenario, attempt.vendor))
    assert after.content == before.content
    other = await scenario.vendor()
    assert error_of(await remittance(scenario, attempt.payout_id, own(scenario, other))) == NOT_FOUND
    buyer = scenario.headers(new_id())
    assert error_of(await remittance(scenario, attempt.payout_id, buyer)) == FORBIDDEN


async def test_remittances_of_a_vendor_have_no_gap(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(AMOUNT * 3)
    payouts = [await scenario.payout(vendor, AMOUNT) for _ in range(3)]
    transfers = (await scenario.dispatch("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e", payoutIds=payouts)).json()["data"][
        "transfers"
    ]
    events = [transfer_event(TransferSucceeded, transfer["reference"]) for transfer in transfers]
    await asyncio.gather(*(scenario.receive(event) for event in events))
    await scenario.receive(events[0])
    numbers = [number_of(await remittance(scenario, payout_id, own(scenario, vendor))) for payout_id in payouts]
    assert sorted(numbers) == [1, 2, 3]


async def test_a_payout_that_was_processed_before_gets_its_remittance_when_it_is_read(scenario: Scenario) -> None:
    [attempt] = await sent_payouts(scenario)
    await scenario.receive(transfer_event(TransferSucceeded, attempt.reference))
    headers = own(scenario, attempt.vendor)
    before = await remittance(scenario, attempt.payout_id, headers)
    await scenario.fetch_as_owner("DELETE FROM issued_documents")
    await scenario.fetch_as_owner("DELETE FROM document_counters")
    read = await asyncio.gather(*(remittance(scenario, attempt.payout_id, headers) for _ in range(3)))
    assert {response.content for response in read} == {before.content}


async def test_a_month_has_an_invoice_after_its_end(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.vendor(legal_name="Ụzọ Adébáyọ̀ & Sons")
    order_id = await sell(scenario, vendor, 5_000)
    await sell(scenario, vendor, 2_500)
    reversal = {"from_vendor_minor": 9_000, "from_commission_minor": 1_000, "from_delivery_fee_minor": 0}
    fixed = {"buyer_id": new_id(), "remaining_minor": 0, "remaining_vendor_minor": 0}
    refund = {"order_id": order_id, "vendor_id": vendor.id, "refund_id": new_id(), "amount_minor": 10_000}
    await scenario.receive(EscrowRefunded(**refund, **fixed, **reversal))
    # January ends in Lagos an hour before it ends in UTC, and its last lines may be five minutes late.
    for now in (datetime(2026, 1, 31, 22, 59, tzinfo=UTC), datetime(2026, 1, 31, 23, 4, 59, tzinfo=UTC)):
        clock.advance(now - clock.now())
        assert error_of(await invoice(scenario, vendor, "2026-01")) == NOT_FOUND
    clock.advance(timedelta(seconds=1))
    html = await invoice(scenario, vendor, "2026-01")
    assert number_of(html) == 1
    shown = ("January 2026", "₦75.00", "-₦10.00", "₦65.00", "Ụzọ Adébáyọ̀ &amp; Sons", html.headers["x-document-number"])
    assert [one for one in shown if one not in html.text] == []
    await scenario.receive(renamed(vendor, "Another Name"))
    pdf = [(await invoice(scenario, vendor, "2026-01", own(scenario, vendor))).content for _ in range(2)]
    assert pdf[0] == pdf[1]
    assert (await invoice(scenario, vendor, "2026-01")).content == html.content


async def test_invoices_are_numbered_in_the_order_of_their_months(scenario: Scenario, clock: ManualClock) -> None:
    vendor = await scenario.vendor()
    for month in range(1, 6):
        clock.advance(datetime(2026, month, 10, tzinfo=UTC) - clock.now())
        if month != 3:
            await sell(scenario, vendor, 100 * month)
    read = await asyncio.gather(*(invoice(scenario, vendor, "2026-04") for _ in range(4)))
    assert [number_of(response) for response in read] == [3] * 4
    assert [number_of(await invoice(scenario, vendor, f"2026-0{month}")) for month in (2, 1)] == [2, 1]
    for month in ("2026-03", "2026-05", "2099-01", "2025-12"):
        assert error_of(await invoice(scenario, vendor, month)) == NOT_FOUND
    for month in ("2026-13", "soon", "2026-1"):
        assert invalid_field_of(await invoice(scenario, vendor, month)) == (422, "month")


async def test_only_the_vendor_and_finance_read_its_invoices(scenario: Scenario, clock: ManualClock) -> None:
    vendor, other = await scenario.vendor(), await scenario.vendor()
    await sell(scenario, vendor, 100)
    clock.advance(timedelta(days=40))
    for caller in (own(scenario, other), scenario.headers(new_id(), **HTML)):
        refused = await invoice(scenario, vendor, "2026-01", caller)
        assert error_of(refused) in (NOT_FOUND, FORBIDDEN)
    assert number_of(await invoice(scenario, vendor, "2026-01", scenario.maker())) == 1


async def test_closing_a_vendor_removes_its_names_from_documents(scenario: Scenario, clock: ManualClock) -> None:
    [attempt] = await sent_payouts(scenario)
    vendor = attempt.vendor
    await scenario.receive(transfer_event(TransferSucceeded, attempt.reference))
    await sell(scenario, vendor, 100)
    clock.advance(timedelta(days=40))
    number_of(await invoice(scenario, vendor, "2026-01"))
    await scenario.receive(VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id()))
    finance = {**scenario.maker(), **HTML}
    pages = [
        await remittance(scenario, attempt.payout_id, finance),
        await invoice(scenario, vendor, "2026-01", finance),
    ]
    for page in pages:
        assert number_of(page) == 1
        assert "Account closed" in page.text
        assert "Obi" not in page.text
        assert "6785" not in page.text
    assert "Obi" not in str(await scenario.fetch("SELECT content FROM issued_documents"))
