"""The timers and the reserved stock of an order's states (contract sections 6.1 and 6.2)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from orders.domain.orders import Order, Windows, timer_of
from orders.domain.transitions import STATES, State

SINCE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WINDOWS = Windows(
    payment=timedelta(minutes=15), vendor_idle=timedelta(hours=72), pin=timedelta(days=14), returns=timedelta(days=7)
)
TIMERS = {
    "Processing": ("payment_window", datetime(2026, 3, 1, 12, 15, tzinfo=UTC)),
    "paid_escrow": ("vendor_idle", datetime(2026, 3, 4, 12, 0, tzinfo=UTC)),
    "dispatched": ("pin_window", datetime(2026, 3, 15, 12, 0, tzinfo=UTC)),
}


@pytest.mark.parametrize("state", STATES)
def test_three_states_have_a_time_limit(state: State) -> None:
    assert timer_of(state, SINCE, WINDOWS) == TIMERS.get(state)


@pytest.mark.parametrize("state", STATES)
def test_stock_is_reserved_from_checkout_to_dispatch(new_order: Callable[[State], Order], state: State) -> None:
    assert new_order(state).stock_is_reserved is (state in ("Processing", "paid_escrow"))
