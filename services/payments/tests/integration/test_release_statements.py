"""Payments signs each movement of a vendor's money, in the transaction that posts it."""

import asyncio
import base64
from typing import Any
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.primitives.ids import new_id
from common.primitives.signatures import SigningKey, VerifyKeys
from contracts.orders import OrderDelivered, OrderPlaced
from contracts.payments import statement_message
from payments.domain.identifiers import delivery_release_id
from payments.settings import Settings
from payments.timers import issue_statements_once
from payments.use_cases.escrow.release_on_delivery import release_on_delivery as release

from .conftest import RELEASE_SIGNING_KEY, PaymentsApp

KEY = SigningKey(RELEASE_SIGNING_KEY)
NEXT_KEY = base64.urlsafe_b64encode(bytes(range(1, 33))).decode()


async def deliver(app: PaymentsApp, placed: OrderPlaced) -> None:
    await app.receive(
        OrderDelivered(
            order_id=placed.order_id,
            buyer_id=placed.buyer_id,
            vendor_id=placed.vendor_id,
            delivered_at="2026-01-01T00:00:00.000Z",
            verified_by=new_id(),
        )
    )


async def refund(app: PaymentsApp, placed: OrderPlaced, amount_minor: int) -> UUID:
    event = app.refund_requested(placed, amount_minor)
    await app.receive(event)
    return event.refund_id


def is_proven(event: dict[str, Any], source: str, amount_minor: int, keys: VerifyKeys) -> bool:
    data = event["statement"]
    message = statement_message(UUID(event["vendorId"]), source, amount_minor, data["sequence"], data["netMinor"])
    return keys.verify(data["keyId"], message, data["signature"])


async def test_statements_count_and_sum_movements(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    await deliver(app, placed)
    refund_id = await refund(app, placed, 250_000)
    [released] = await app.published("payments.escrow_released.v1")
    [refunded] = await app.published("payments.escrow_refunded.v1")
    keys = VerifyKeys.of(KEY)
    assert is_proven(released, f"release:{delivery_release_id(placed.order_id)}", released["netMinor"], keys)
    assert is_proven(refunded, f"refund:{refund_id}", -refunded["fromVendorMinor"], keys)
    assert (released["statement"]["sequence"], released["statement"]["netMinor"]) == (1, released["netMinor"])
    left = released["netMinor"] - refunded["fromVendorMinor"]
    assert (refunded["statement"]["sequence"], refunded["statement"]["netMinor"]) == (2, left)
    assert (await app.balances())[f"vendor_payable:{placed.vendor_id}"] == -left


async def test_a_statement_verifies_only_its_own_movement(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    await deliver(app, placed)
    [event] = await app.published("payments.escrow_released.v1")
    source, amount_minor = f"release:{delivery_release_id(placed.order_id)}", event["netMinor"]
    keys = VerifyKeys.of(KEY)
    assert is_proven(event, source, amount_minor, keys)
    assert not is_proven(event, source, amount_minor + 1, keys)
    assert not is_proven(event, f"release:{uuid4()}", amount_minor, keys)
    assert not is_proven({**event, "vendorId": str(uuid4())}, source, amount_minor, keys)
    assert not is_proven(event, source, amount_minor, VerifyKeys.of(SigningKey(NEXT_KEY)))


async def test_a_release_by_staff_is_signed_under_the_row_policies_of_its_caller(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    response = await app.post_as(f"/api/orders/{placed.order_id}/release", {"amountMinor": 250_000}, "finance_checker")
    assert response.status_code == 200, response.text
    [event] = await app.published("payments.escrow_released.v1")
    assert is_proven(event, f"release:{event['releaseId']}", event["netMinor"], VerifyKeys.of(KEY))
    assert event["statement"]["netMinor"] == event["netMinor"]


async def test_an_event_without_vendor_money_has_no_statement(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    await refund(app, placed, 100_000)
    [event] = await app.published("payments.escrow_refunded.v1")
    assert (event["fromVendorMinor"], "statement" in event) == (0, False)


async def test_concurrent_releases_of_a_vendor_are_numbered_without_a_gap(app: PaymentsApp) -> None:
    orders = [await app.paid_order() for _ in range(6)]
    await asyncio.gather(*(deliver(app, placed) for placed in orders))
    events = await app.published("payments.escrow_released.v1")
    data = sorted((event["statement"]["sequence"], event["statement"]["netMinor"]) for event in events)
    assert data == [(place, place * events[0]["netMinor"]) for place in range(1, 7)]


async def test_a_rotation_starts_a_new_statement(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    await deliver(app, placed)
    # The state of the previous version.
    await app.fetch("DELETE FROM vendor_statements RETURNING vendor_id")
    database = app.database
    assert await issue_statements_once(database) == 1
    assert await issue_statements_once(database) == 0
    [event] = await app.published("payments.vendor_statement_issued.v1")
    net_minor = -(await app.balances())[f"vendor_payable:{placed.vendor_id}"]
    assert (event["statement"]["sequence"], event["statement"]["netMinor"]) == (1, net_minor)
    assert is_proven(event, f"opening:{placed.vendor_id}", 0, VerifyKeys.of(KEY))

    rotated = SigningKey(NEXT_KEY)
    object.__setattr__(database.signatures, "signing_key", rotated)
    await asyncio.gather(*(issue_statements_once(database) for _ in range(3)))
    [_, second] = await app.published("payments.vendor_statement_issued.v1")
    assert second["statement"]["sequence"] == 2
    assert is_proven(second, f"opening:{placed.vendor_id}", 0, VerifyKeys.of(rotated))


async def test_a_release_that_rolls_back_uses_no_statement_number(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    database = app.database

    class Crash(Exception):
        pass

    with pytest.raises(Crash):
        async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
            await release(uow, placed.order_id, app.clock.now())
            raise Crash
    await deliver(app, placed)
    [event] = await app.published("payments.escrow_released.v1")
    assert event["statement"]["sequence"] == 1


@pytest.mark.parametrize("text", ["", "short", "!" * 44, base64.urlsafe_b64encode(bytes(31)).decode()])
def test_the_start_rejects_a_malformed_key_and_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, text: str
) -> None:
    for name, value in {
        "PORT": "1",
        "JWKS_URL": "http://identity/jwks",
        "API_DATABASE_URL": "postgresql://x",
        "SERVICE_DATABASE_URL": "postgresql://x",
        "BROKER_URL": "amqp://x",
        "CURSOR_KEY": "a cursor key for tests",
        "GATEWAY_API_URL": "http://gateway",
        "RELEASE_SIGNING_KEY": text,
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        Settings.from_environment()
    shown = capsys.readouterr().err
    assert "RELEASE_SIGNING_KEY" in shown
    assert not text or text not in shown
