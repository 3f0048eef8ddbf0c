"""The owners of an order's money. `tests/resilience/test_simulation.py` compares those of whole runs."""

from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.money import apportion
from contracts.orders import RefundRequested
from lab.simulation.shares import Parts, RefundsOfItems, differences

KOBO = st.integers(0, 10**12)
ITEMS = "a refund of items"
# Of an order of 1,000 kobo with a commission of 100 and a delivery fee of 50.
POSTINGS = (
    ("release", "release:1", 501, (425, 50, 26)),
    ("refund", "a refund of an amount", 101, (0, 0, 0)),
    ("refund", ITEMS, 359, (-41, 0, 0)),
    ("chargeback", "chargeback:1", 39, (-50, -6, -5)),
)
AT_THE_END = (0, 0, 0, 334, 44, 21)


def differences_of(postings: Any, parts: tuple[int, ...] = AT_THE_END) -> list[str]:
    terms = {"id": "o", "total_minor": 1000, "commission_minor": 100, "delivery_fee_minor": 50}
    names = ("type", "posting_key", "from_locked_minor", "moved")
    rows = [dict(zip(names, posting, strict=True)) for posting in postings]
    return differences({**terms, "locked": parts[:3], "released": parts[3:]}, rows, {ITEMS: Parts(380, 20)})


def test_an_order_whose_money_is_with_its_owners_has_no_difference() -> None:
    assert differences_of(POSTINGS) == []
    assert differences_of([], (850, 100, 50, 0, 0, 0)) == []


@pytest.mark.parametrize("number", range(len(POSTINGS)))
def test_a_kobo_on_another_owner_is_found_although_the_tables_agree(number: int) -> None:
    type_, key, from_locked_minor, moved = POSTINGS[number]
    planted = (type_, key, from_locked_minor, (moved[0] - 1, moved[1] + 1, moved[2]))
    found = differences_of([*POSTINGS[:number], planted, *POSTINGS[number + 1 :]], (0, 0, 0, 333, 45, 21))
    assert found[0].startswith(f"{type_} {key} of order o: ")


def test_a_wrong_split_at_the_charge_is_found() -> None:
    assert differences_of([], (849, 101, 50, 0, 0, 0))[0].startswith("escrow of order o: ")


def test_an_order_is_followed_until_a_won_chargeback() -> None:
    assert differences_of([*POSTINGS, ("chargeback_won", "chargeback_won:1", -39, (50, 6, 5))], (1,) * 6) == []


def test_a_published_refund_of_items_is_recorded_with_its_parts() -> None:
    refunds, ids = RefundsOfItems(), dict.fromkeys(("order_id", "buyer_id", "vendor_id"), uuid4())
    for commission_minor in (20, None):
        event = RefundRequested(
            **ids, refund_id=uuid4(), amount_minor=400, reason="x", commission_minor=commission_minor
        )
        refunds.record(msgspec.json.encode({"type": event.TYPE, "data": event}))
    refunds.record(b'{"orderId": "a work item"}')
    assert list(refunds.values()) == [Parts(380, 20)]


@given(st.tuples(KOBO, KOBO, KOBO), st.data())
def test_shares_are_those_of_the_contract(parts: tuple[int, int, int], data: Any) -> None:
    amount_minor = data.draw(st.integers(0, sum(parts)))
    assert list(Parts(*parts).share(amount_minor)) == apportion(amount_minor, parts)
