"""How much of a wallet the open chargebacks of one order hold (contract sections 6 to 8). Amounts in kobo."""

from dataclasses import replace
from uuid import UUID

import pytest

from payouts.domain.chargebacks import HoldChange, OpenChargeback, plan_holds

FIRST, SECOND = UUID(int=1), UUID(int=2)


ORDER, OTHER_ORDER = UUID(int=3), UUID(int=4)


def opened(vendor_minor: int, held_minor: int = 0, id_: UUID = FIRST) -> OpenChargeback:
    return OpenChargeback(id_, ORDER, vendor_minor, held_minor, 0, 0, 0)


# chargebacks, the vendor's part still in escrow, received for the order, available -> further holds
@pytest.mark.parametrize(
    ("chargebacks", "remaining_minor", "credited_minor", "available_minor", "holds"),
    [
        ([], 0, 701, 701, {}),
        # All of it was released: the whole disputed part is held.
        ([opened(701)], 0, 701, 900, {FIRST: 701}),
        ([opened(1)], 0, 701, 900, {FIRST: 1}),
        # Escrow covers a dispute first.
        ([opened(701)], 701, 0, 900, {}),
        ([opened(701)], 702, 701, 900, {}),
        ([opened(701)], 700, 701, 900, {FIRST: 1}),
        ([opened(701)], 300, 701, 900, {FIRST: 401}),
        # Never more than the wallet received for the order, and never more than it has.
        ([opened(701)], 0, 500, 900, {FIRST: 500}),
        ([opened(701)], 0, 0, 900, {}),
        ([opened(701)], 0, 701, 300, {FIRST: 300}),
        ([opened(701)], 0, 701, 0, {}),
        # What is held already counts once: against the dispute, and against what the wallet received.
        ([opened(701, 701)], 0, 701, 900, {}),
        ([opened(701, 200)], 0, 701, 900, {FIRST: 501}),
        ([opened(701, 200)], 0, 500, 900, {FIRST: 300}),
        ([opened(701, 200)], 400, 701, 900, {FIRST: 101}),
        # A refund of the order returns what no loss can debit now.
        ([opened(701, 200)], 0, 150, 900, {FIRST: -50}),
        ([opened(701, 701)], 0, 0, 900, {FIRST: -701}),
        ([opened(701, 701)], 0, -5, 0, {FIRST: -701}),
        ([opened(701, 701)], 701, 701, 0, {FIRST: -701}),
        # Two disputes of one order: in order, and together at most what the wallet received.
        ([opened(400), opened(301, id_=SECOND)], 0, 701, 900, {FIRST: 400, SECOND: 301}),
        ([opened(400), opened(301, id_=SECOND)], 0, 701, 500, {FIRST: 400, SECOND: 100}),
        ([opened(400), opened(301, id_=SECOND)], 0, 701, 400, {FIRST: 400}),
        ([opened(400, 400), opened(301, 100, SECOND)], 0, 701, 900, {SECOND: 201}),
        ([opened(400, 100), opened(301, 100, SECOND)], 0, 600, 900, {FIRST: 300, SECOND: 100}),
    ],
)
def test_a_dispute_holds_what_escrow_does_not_cover_and_the_wallet_received(
    chargebacks: list[OpenChargeback],
    remaining_minor: int,
    credited_minor: int,
    available_minor: int,
    holds: dict[UUID, int],
) -> None:
    of_order = [replace(one, remaining_minor=remaining_minor, credited_minor=credited_minor) for one in chargebacks]
    changes = plan_holds(of_order, available_minor)
    assert {change.chargeback_id: change.added_minor for change in changes if change.added_minor} == holds


def test_what_the_wallet_lacks_is_uncovered_until_a_later_credit() -> None:
    first = OpenChargeback(FIRST, ORDER, 700, 0, 0, 0, 700)
    second = OpenChargeback(SECOND, OTHER_ORDER, 300, 100, 0, 0, 300)
    assert plan_holds([first, second], 600) == [
        HoldChange(FIRST, ORDER, 600, 100),
        HoldChange(SECOND, OTHER_ORDER, 0, 200),
    ]
    later = [replace(first, held_minor=600, uncovered_minor=100), replace(second, uncovered_minor=200)]
    assert plan_holds(later, 0) == []
    assert plan_holds(later, 250) == [
        HoldChange(FIRST, ORDER, 100, 0),
        HoldChange(SECOND, OTHER_ORDER, 150, 50),
    ]
