"""Orders out of nothing, for the pure rules."""

from collections.abc import Callable

import pytest

from common.primitives.ids import new_id
from orders.domain.orders import Order
from orders.domain.transitions import State


@pytest.fixture
def new_order() -> Callable[[State], Order]:
    def make(status: State) -> Order:
        return Order(
            id=new_id(),
            buyer_id=new_id(),
            vendor_id=new_id(),
            campus_id=new_id(),
            status=status,
            total_minor=150_000,
            refunded_minor=0,
            delivered_at=None,
            escrow_minor=0,
            return_due_at=None,
            commission_minor=7_500,
            number="CM-0000-0001",
            hub_id=new_id(),
            arrived_at=None,
        )

    return make
