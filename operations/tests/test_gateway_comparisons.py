"""Each object of the payment gateway is compared with ours in both directions."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Final

import asyncpg
import pytest
import pytest_asyncio

from operations.audit.comparisons import OFFENCES_MAX
from testkit.fixtures import DatabaseFactory

from .comparison_world import ID, LONG_AGO, NOW, REPLACED_ID, World, charge
from .gateway_double import GatewayDouble

CHARGES: Final = "every charge is recorded as the payment gateway reports it"
REFUNDS: Final = "every refund moved the amount that the payment gateway reports"
TRANSFERS: Final = "every transfer at the payment gateway is ours, with its state, amount and fee"
DISPUTES: Final = "every dispute has the outcome that the payment gateway reports"
SETTLEMENTS: Final = "every settlement is posted as the payment gateway reports it"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def opened(module_database: DatabaseFactory) -> AsyncIterator[dict[str, asyncpg.Connection]]:
    async with AsyncExitStack() as stack:
        databases = {}
        for service in ("payments", "payouts"):
            databases[service] = await asyncpg.connect((await module_database(service)).admin)
            stack.push_async_callback(databases[service].close)
            await databases[service].execute("SET session_replication_role = replica")
        yield databases


@pytest_asyncio.fixture(loop_scope="session")
async def world(opened: dict[str, asyncpg.Connection]) -> AsyncIterator[World]:
    """Its changes are rolled back."""
    async with AsyncExitStack() as stack:
        for connection in opened.values():
            undone = connection.transaction()
            await undone.start()
            stack.push_async_callback(undone.rollback)
        yield World(opened, GatewayDouble())


def refund(**changes: Any) -> dict[str, Any]:
    row = {"id": 8, "merchant_note": f"re-{ID.hex}", "amount": 5, "currency": "NGN", "status": "processed"}
    return row | {"createdAt": LONG_AGO} | changes


def transfer(**changes: Any) -> dict[str, Any]:
    row = {"reference": f"po-{ID.hex}", "amount": 700, "currency": "NGN", "status": "success", "fee_charged": 25}
    return row | {"updatedAt": LONG_AGO} | changes


def dispute(**changes: Any) -> dict[str, Any]:
    row = {"id": 7, "refund_amount": 5, "currency": "NGN", "status": "resolved", "resolution": "auto-accepted"}
    return row | {"updatedAt": LONG_AGO} | changes


@pytest.mark.parametrize(
    ("listed", "kinds"),
    [
        ([charge()], []),
        ([charge(status="reversed")], []),
        ([charge(currency="GHS")], ["broken"]),
        ([charge(amount=901)], ["broken"]),
        ([charge(id=9)], ["broken", "broken"]),
        ([charge(status="abandoned")], ["broken"]),
        ([], ["broken"]),
        ([charge(), charge(id=9, reference="pay-9")], ["broken"]),
        ([charge(), charge(id=9, reference="pay-9", paid_at=NOW)], ["waiting"]),
    ],
)
async def test_a_charge_is_compared_by_its_id_amount_and_currency(
    world: World, listed: list[dict[str, Any]], kinds: list[str]
) -> None:
    await world.charged()
    world.gateway.lists["transaction"] = listed
    assert await world.kinds(CHARGES) == kinds


@pytest.mark.parametrize(
    ("posted", "reported", "kinds"), [(10, 10, []), (0, 10, []), (10, None, []), (10, 11, ["broken"])]
)
async def test_the_fee_of_a_charge_is_compared_when_both_sides_have_one(
    world: World, posted: int, reported: int | None, kinds: list[str]
) -> None:
    await world.charged()
    if posted:
        await world.posted("gateway_fee", "gateway_fee:pay-7/7", "gateway_fees", posted)
    world.gateway.lists["transaction"] = [charge(fees=reported)]
    assert await world.kinds(CHARGES) == kinds


async def test_a_charge_that_was_reported_without_an_id_is_found_by_its_reference(world: World) -> None:
    await world.charged(gateway_id=None)
    world.gateway.lists["transaction"] = [charge()]
    assert await world.kinds(CHARGES) == []


async def test_a_charge_with_an_open_case_is_open(world: World) -> None:
    await world.case("charge_not_in_book", "charge:pay-7/7")
    world.gateway.lists["transaction"] = [charge()]
    assert await world.kinds(CHARGES) == ["open"]


async def test_a_charge_that_was_paid_after_its_page_is_queried_before_it_is_reported(world: World) -> None:
    await world.charged()
    world.gateway.queried["transaction/verify/pay-7"] = charge()
    assert await world.kinds(CHARGES) == []


@pytest.mark.parametrize(
    ("ours_minor", "listed", "queried", "kinds"),
    [
        (5, [refund()], None, []),
        (5, [refund(amount=6)], refund(amount=6), ["broken"]),
        (5, [refund(status="pending")], refund(), []),
        (5, [], None, ["broken"]),
        (5, [refund(), refund(id=9)], refund(), ["broken"]),
        (0, [refund()], refund(), ["broken"]),
        (0, [refund()], refund(refunded_at=NOW), ["waiting"]),
        (0, [refund(status="failed")], None, []),
        # Their row has no note of ours: it is the refund with that id.
        (5, [refund(merchant_note=None)], refund(), []),
    ],
)
async def test_a_refund_is_compared_by_the_amount_that_its_note_moved(
    world: World, ours_minor: int, listed: list[dict[str, Any]], queried: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.refunded(ours_minor)
    world.gateway.lists["refund"] = listed
    if queried is not None:
        world.gateway.queried |= {"refund/8": queried, "refund/9": queried | {"id": 9}}
    assert await world.kinds(REFUNDS) == kinds


async def test_a_refund_with_an_open_case_is_open(world: World) -> None:
    await world.case("refund_not_in_book", "refund:8")
    world.gateway.lists["refund"] = [refund()]
    assert await world.kinds(REFUNDS) == ["open"]


@pytest.mark.parametrize(
    ("ours", "fee", "theirs", "kinds"),
    [
        ("success", 25, transfer(), []),
        ("success", None, transfer(), []),
        ("success", 24, transfer(), ["broken"]),
        ("success", 25, transfer(amount=701), ["broken"]),
        ("success", 25, transfer(status="reversed"), ["broken"]),
        ("success", 25, transfer(status="reversed", updatedAt=NOW), ["waiting"]),
        ("success", None, None, ["broken"]),
        ("pending", None, transfer(), ["broken"]),
        ("pending", None, transfer(updatedAt=NOW), ["waiting"]),
        ("pending", None, transfer(status="otp"), []),
        ("failed", None, transfer(), ["broken"]),
        ("failed", None, transfer(status="failed"), []),
        ("failed", None, None, []),
        ("submitting", None, None, []),
        ("pending", None, None, ["broken"]),
    ],
)
async def test_a_transfer_is_compared_by_its_state_amount_and_fee(
    world: World, ours: str, fee: int | None, theirs: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.transferred(ours, fee)
    if theirs is not None:
        world.gateway.lists["transfer"] = [theirs]
        world.gateway.queried[f"transfer/verify/po-{ID.hex}"] = theirs
    assert await world.kinds(TRANSFERS) == kinds


@pytest.mark.parametrize(
    ("status", "paid", "replaced", "current", "kinds"),
    [
        # The failed attempt paid after all, and its successor was never sent.
        ("settled", "replaced", "success", None, []),
        ("settled", "replaced", "failed", None, ["broken"]),
        ("settled", "current", "failed", "success", []),
        ("settled", "current", "success", "success", ["broken"]),
        # A lost chargeback paid what two failed attempts were to pay.
        ("settled", None, "failed", "failed", []),
        ("prepared", None, "failed", "failed", []),
        ("prepared", None, "failed", "success", ["open"]),
        ("submitted", None, "failed", "pending", []),
    ],
)
async def test_a_transfer_of_a_refund_is_compared_with_the_posting_of_its_attempt(
    world: World, status: str, paid: str | None, replaced: str, current: str | None, kinds: list[str]
) -> None:
    await world.refunded_by_transfer(status)
    attempts = {"replaced": REPLACED_ID, "current": ID}
    if paid is not None:
        await world.posted("refund_settled", f"refund_settled:{attempts[paid]}", "gateway_cash", -5)
    # The replaced attempt was over more.
    world.gateway.lists["transfer"] = [
        transfer(
            reference=f"re-{attempts[name].hex}", status=at_gateway, amount=5 if name == (paid or "current") else 9
        )
        for name, at_gateway in (("replaced", replaced), ("current", current))
        if at_gateway is not None
    ]
    for row in world.gateway.lists["transfer"]:
        world.gateway.queried[f"transfer/verify/{row['reference']}"] = row
    assert await world.kinds(TRANSFERS) == kinds


async def test_a_transfer_that_ended_after_its_page_is_queried_before_it_is_reported(world: World) -> None:
    await world.transferred("success")
    world.gateway.lists["transfer"] = [transfer(status="pending")]
    world.gateway.queried[f"transfer/verify/po-{ID.hex}"] = transfer()
    assert await world.kinds(TRANSFERS) == []


@pytest.mark.parametrize(
    ("outcome", "kinds"), [("open", ["open"]), ("explained", []), (None, ["broken"])]
)  # fmt: skip
async def test_a_transfer_that_is_not_ours_is_open_once_it_was_found(
    world: World, outcome: str | None, kinds: list[str]
) -> None:
    world.gateway.lists["transfer"] = [transfer(), transfer(reference="po-failed", status="failed")]
    if outcome is not None:
        await world.databases["payouts"].execute(
            "INSERT INTO found_transfers (reference, status, amount, currency, account_last4, bank_code, "
            "created_at, found_at, "
            "outcome, evidence) VALUES ($1, 'success', 700, 'NGN', '1234', '044', now(), now(), $2, $3)",
            f"po-{ID.hex}", outcome, "topped up by hand" if outcome == "explained" else None,
        )  # fmt: skip
    assert await world.kinds(TRANSFERS) == kinds


@pytest.mark.parametrize(
    ("ours", "listed", "kinds"),
    [
        ("lost", dispute(), []),
        ("won", dispute(resolution="declined"), []),
        ("opened", dispute(status="awaiting-bank-feedback", resolution="declined"), []),
        ("lost", dispute(refund_amount=6), ["broken"]),
        ("opened", dispute(), ["broken"]),
        ("opened", dispute(updatedAt=NOW), ["waiting"]),
        ("lost", None, ["broken"]),
    ],
)
async def test_a_dispute_is_compared_by_its_outcome_and_lost_amount(
    world: World, ours: str, listed: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.disputed(ours)
    if listed is not None:
        world.gateway.lists["dispute"] = [listed]
        world.gateway.queried["dispute/7"] = listed
    assert await world.kinds(DISPUTES) == kinds


@pytest.mark.parametrize(
    ("posted_minor", "reported_minor", "status", "created_at", "kinds"),
    [
        (5, 5, "success", LONG_AGO, []),
        (5, 6, "success", LONG_AGO, ["broken"]),
        (5, 5, "failed", LONG_AGO, ["broken"]),
        (0, 5, "success", LONG_AGO, ["broken"]),
        (0, 5, "success", NOW, ["waiting"]),
        (0, 5, "pending", LONG_AGO, []),
    ],
)
async def test_a_settlement_is_compared_by_its_amount(
    world: World, posted_minor: int, reported_minor: int, status: str, created_at: str, kinds: list[str]
) -> None:
    if posted_minor:
        await world.posted("settlement", "settlement:7", "bank_account", posted_minor)
    settlement = {"id": 7, "status": status, "currency": "NGN", "effective_amount": reported_minor}
    world.gateway.lists["settlement"] = [settlement | {"createdAt": created_at}]
    assert await world.kinds(SETTLEMENTS) == kinds


def second_charge(**changes: Any) -> dict[str, Any]:
    row = {
        "id": 7,
        "tx_ref": "pay-7",
        "charged_amount": 9,
        "amount_settled": 8.9,
        "currency": "NGN",
        "status": "successful",
    }
    return row | {"created_at": LONG_AGO} | changes


def second_refund(**changes: Any) -> dict[str, Any]:
    row = {"id": 8, "comments": f"re-{ID.hex}", "amount_refunded": 0.05, "status": "completed-bank-transfer"}
    return row | {"created_at": LONG_AGO} | changes


def second_chargeback(**changes: Any) -> dict[str, Any]:
    return {"id": 6, "flw_ref": "FLW-7", "amount": 0.05, "status": "lost", "created_at": LONG_AGO} | changes


@pytest.mark.parametrize(
    ("listed", "kinds"),
    [
        ([second_charge()], []),
        ([second_charge(charged_amount=9.01)], ["broken"]),
        ([second_charge(amount_settled=8.8)], ["broken"]),
        ([second_charge(currency="GHS")], ["broken"]),
        ([], ["broken"]),
        ([second_charge(), second_charge(id=9, tx_ref="pay-9")], ["broken"]),
        ([second_charge(), second_charge(id=9, tx_ref="pay-9", created_at=NOW)], ["waiting"]),
        # On a second page, and unpaid.
        ([second_charge(id=number, tx_ref=f"pay-{number}", status="failed") for number in range(20, 35)], ["broken"]),
    ],
)
async def test_a_charge_of_the_second_gateway_is_compared_by_id_amount_currency_and_fee(
    world: World, listed: list[dict[str, Any]], kinds: list[str]
) -> None:
    await world.charged(gateway_id="flw:7")
    await world.posted("gateway_fee", "gateway_fee:pay-7/flw:7", "gateway_fees", 10)
    await world.use_second()
    world.gateway.lists["v3/transactions"] = listed
    assert await world.kinds(CHARGES) == kinds


async def test_a_charge_of_the_second_gateway_is_queried_before_it_is_reported(world: World) -> None:
    await world.charged(gateway_id="flw:7")
    await world.use_second()
    world.gateway.queried["v3/transactions"] = second_charge()
    assert await world.kinds(CHARGES) == []


@pytest.mark.parametrize(
    ("ours_minor", "listed", "queried", "kinds"),
    [
        (5, [second_refund()], None, []),
        (5, [second_refund(amount_refunded=0.06)], second_refund(amount_refunded=0.06), ["broken"]),
        # Accepted, and not paid out: the query knows more.
        (5, [second_refund(status="completed")], second_refund(), []),
        (5, [second_refund(status="completed")], second_refund(status="completed"), ["broken"]),
        (0, [second_refund()], second_refund(), ["broken"]),
        (0, [second_refund(status="failed")], None, []),
        (5, [], None, ["broken"]),
    ],
)
async def test_a_refund_of_the_second_gateway_is_compared_by_the_amount_of_its_comment(
    world: World, ours_minor: int, listed: list[dict[str, Any]], queried: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.refunded(ours_minor, "flw:8")
    await world.use_second()
    world.gateway.lists["v3/refunds"] = listed
    if queried is not None:
        world.gateway.queried["v3/refunds/8"] = queried
    assert await world.kinds(REFUNDS) == kinds


@pytest.mark.parametrize(
    ("ours", "listed", "kinds"),
    [
        ("lost", second_chargeback(), []),
        ("lost", second_chargeback(status="accepted"), []),
        ("won", second_chargeback(status="won"), []),
        ("opened", second_chargeback(status="initiated"), []),
        ("opened", second_chargeback(), ["broken"]),
        ("lost", second_chargeback(amount=0.06), ["broken"]),
        ("lost", None, ["broken"]),
    ],
)
async def test_a_chargeback_of_the_second_gateway_is_compared_by_outcome_and_lost_amount(
    world: World, ours: str, listed: dict[str, Any] | None, kinds: list[str]
) -> None:
    await world.disputed(ours, identity="flw:6@FLW-7")
    await world.use_second()
    if listed is not None:
        world.gateway.lists["v3/chargebacks"] = [listed]
    assert await world.kinds(DISPUTES) == kinds


async def test_a_transfer_of_the_second_gateway_is_queried_before_it_is_reported(world: World) -> None:
    await world.transferred("success")
    await world.use_second()
    row = {"id": 5, "reference": f"po-{ID.hex}", "amount": 7, "fee": 0.25, "currency": "NGN", "created_at": LONG_AGO}
    world.gateway.lists["v3/transfers"] = [row | {"status": "PENDING"}]
    assert await world.kinds(TRANSFERS) == ["broken"]
    world.gateway.queried["v3/transfers"] = row | {"status": "SUCCESSFUL"}
    assert await world.kinds(TRANSFERS) == []


async def test_a_list_of_differences_without_end_is_cut_and_named(world: World) -> None:
    world.gateway.lists["transaction"] = [
        charge(id=number, reference=f"pay-{number}") for number in range(OFFENCES_MAX + 2)
    ]
    offences = await world.offences(CHARGES)
    assert len(offences) == OFFENCES_MAX + 1
    assert "not listed" in offences[-1].text
