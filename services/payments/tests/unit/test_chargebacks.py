"""The disputed amount of a charge, and the sources of a lost chargeback's money."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from payments.domain.chargebacks import (
    ChargebackAllocation,
    ChargebackUpdate,
    DisputedCharge,
    UnsentRefund,
    allocate_chargeback,
    disputed_minor,
    disputed_vendor_minor,
    due_alert_key,
)
from payments.domain.escrow import Escrow, Parts

CHARGEBACK, CHARGE, ORDER, FIRST, SECOND = (UUID(int=number) for number in range(1, 6))
UPDATE = ChargebackUpdate("dispute:1", "ch-1", "7", None, None, None, None, None, True)
DISPUTED = DisputedCharge(CHARGE, "ch-1", 500_000, "NGN", ORDER)
# 1,000 kobo in escrow, and 500 that were released.
ESCROW = Escrow(locked=Parts(900, 60, 40), released=Parts(450, 30, 20))


@pytest.mark.parametrize(
    ("reported", "disputed"),
    [
        ({}, 500_000),
        ({"amount_minor": 500_000, "currency": "NGN"}, 500_000),
        ({"amount_minor": 499_999}, 499_999),
        ({"amount_minor": 1, "currency": "ngn"}, 1),
        # Odd amounts freeze all of the charge.
        ({"amount_minor": 500_001}, 500_000),
        ({"amount_minor": 0}, 500_000),
        ({"amount_minor": -1}, 500_000),
        ({"currency": "GHS"}, 500_000),
        ({"amount_minor": 1, "currency": "USD"}, 500_000),
    ],
)
def test_a_dispute_is_over_its_amount_else_all_of_its_charge(reported: dict[str, Any], disputed: int) -> None:
    assert disputed_minor(replace(UPDATE, **reported), DISPUTED) == disputed


@pytest.mark.parametrize(
    ("amount", "refunds", "from_refunds", "from_locked", "from_released", "loss"),
    [
        # Unsent refunds first, in their order.
        (299, (300,), (299,), Parts(), Parts(), 0),
        (300, (300, 200), (300,), Parts(), Parts(), 0),
        (301, (300, 200), (300, 1), Parts(), Parts(), 0),
        # Then escrow, each part in proportion.
        (500, (300, 200), (300, 200), Parts(), Parts(), 0),
        (600, (300, 200), (300, 200), Parts(90, 6, 4), Parts(), 0),
        (333, (), (), Parts(299, 19, 15), Parts(), 0),
        (1_000, (), (), Parts(900, 60, 40), Parts(), 0),
        # Then the receivers of released money.
        (1_001, (), (), Parts(900, 60, 40), Parts(0, 0, 1), 0),
        (1_500, (), (), Parts(900, 60, 40), Parts(450, 30, 20), 0),
        # The rest is a loss of the platform.
        (1_501, (), (), Parts(900, 60, 40), Parts(450, 30, 20), 1),
        (2_000, (100,), (100,), Parts(900, 60, 40), Parts(450, 30, 20), 400),
    ],
)
def test_a_lost_chargeback_is_allocated_to_refunds_then_escrow_then_released_money(
    amount: int,
    refunds: tuple[int, ...],
    from_refunds: tuple[int, ...],
    from_locked: Parts,
    from_released: Parts,
    loss: int,
) -> None:
    ids = (FIRST, SECOND)
    unsent = [UnsentRefund(id_, minor) for id_, minor in zip(ids, refunds, strict=False)]
    allocation = allocate_chargeback(amount, unsent, ESCROW)
    assert allocation == ChargebackAllocation(
        tuple(UnsentRefund(id_, minor) for id_, minor in zip(ids, from_refunds, strict=False)),
        from_locked,
        from_released,
        loss_minor=loss,
    )
    assert allocation.from_order_minor == amount - sum(from_refunds) - loss


@pytest.mark.parametrize(("amount", "refunded", "loss"), [(400, 400, 0), (401, 400, 1)])
def test_a_lost_chargeback_of_a_charge_without_an_order_is_a_loss_beyond_its_refund(
    amount: int, refunded: int, loss: int
) -> None:
    allocation = allocate_chargeback(amount, [UnsentRefund(FIRST, 400)], None)
    assert allocation == ChargebackAllocation((UnsentRefund(FIRST, refunded),), loss_minor=loss)
    assert allocation.from_order_minor == 0


@pytest.mark.parametrize(("amount", "vendor"), [(100, 90), (1_000, 900), (1_100, 990), (1_500, 1_350), (9_999, 1_350)])
def test_a_vendor_bears_its_part_of_a_dispute_in_escrow_and_after_it(amount: int, vendor: int) -> None:
    assert disputed_vendor_minor(amount, ESCROW) == vendor


def test_the_alert_of_a_due_dispute_has_its_key() -> None:
    assert due_alert_key(CHARGEBACK) == f"chargeback:{CHARGEBACK}:due"
