"""How much of a wallet the open chargebacks of one order hold (contract sections 6 to 8). Amounts in kobo."""

from uuid import UUID

import pytest

from payouts.domain.chargebacks import OpenChargeback, allocate_holds

FIRST, SECOND = UUID(int=1), UUID(int=2)


def opened(vendor_minor: int, held_minor: int = 0, id_: UUID = FIRST) -> OpenChargeback:
    return OpenChargeback(id_, vendor_minor, held_minor)


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
        ([opened(701, 200)], 0, 150, 900, {}),
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
    assert allocate_holds(chargebacks, remaining_minor, credited_minor, available_minor) == holds
