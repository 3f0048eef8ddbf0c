"""The order's own row and its timer."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from common.database.outbox import Writes
from common.database.parameters import with_places_after
from common.database.state_changes import StateChanged
from common.database.unit_of_work import Reads, UnitOfWork
from contracts.event import Event
from orders.domain.order_history import OrderActor
from orders.domain.orders import Order, ReportedEscrow, Windows, timer_of
from orders.domain.transitions import State, Trigger

_ORDER_COLUMNS: Final = """
    id, buyer_id, vendor_id, campus_id, status, total_amount, refunded_minor, delivered_at, escrow_minor, return_due_at,
    commission_minor, number, hub_id, arrived_at, orders.xmin::text
"""
_FIND_ORDER: Final = f"SELECT {_ORDER_COLUMNS} FROM orders WHERE id = $1"
_LOCK_ORDER: Final = f"{_FIND_ORDER} FOR NO KEY UPDATE"
# Items never change after the checkout, so that a read from before the lock is current.
SOLD_ORDER_COLUMNS: Final = f"""
{_ORDER_COLUMNS},
    ARRAY (SELECT id FROM order_items WHERE order_id = orders.id ORDER BY position),
    ARRAY (SELECT line_total_minor FROM order_items WHERE order_id = orders.id ORDER BY position)
"""
_SOLD_ORDER_COLUMNS_COUNT: Final = 17
_FIND_SOLD_ORDER: Final = f"SELECT {SOLD_ORDER_COLUMNS} FROM orders WHERE id = $1"
_LOCK_SOLD_ORDER: Final = f"{_FIND_SOLD_ORDER} FOR NO KEY UPDATE"
# An order has one timer at most: that of its state.
_SAVE_TRANSITION: Final = """
transitioned AS (
    UPDATE orders SET status = $2, revision = revision + 1, updated_at = $3,
        delivered_at = CASE WHEN $2 = 'delivered' THEN coalesce(delivered_at, $3) ELSE delivered_at END,
        return_due_at = CASE WHEN $2 IN ('delivered', 'paid') THEN coalesce(return_due_at, $6::timestamptz)
            ELSE return_due_at END,
        escrow_minor = CASE WHEN escrow_sequence < $8 THEN $7 ELSE escrow_minor END,
        escrow_sequence = greatest(escrow_sequence, $8)
    WHERE id = $1 AND status = $11 AND ($12::text IS NULL OR xmin = $12::text::xid) RETURNING id
), stopped AS (
    DELETE FROM order_timers WHERE order_id = $1 AND $4::text IS NULL
), recorded AS (
    INSERT INTO order_history (order_id, event, status, occurred_at, actor_id, actor_role)
    VALUES ($1, $9, $2, $3, $10, $13)
), restarted AS (
    UPDATE order_timers SET kind = $4, due_at = $5 WHERE order_id = $1 AND $4::text IS NOT NULL RETURNING 1
), started AS (
    INSERT INTO order_timers (order_id, kind, due_at) SELECT $1, $4::text, $5::timestamptz
    WHERE $4::text IS NOT NULL AND NOT EXISTS (SELECT FROM restarted)
)
"""
_TRANSITION_VALUES: Final = 13
# One INSERT keeps the order of its rows, which readers see.
_HISTORY: Final = "VALUES ($1, $9, $2, $3, $10, $13)"
# Events of payments arrive in any order: the highest sequence wins.
_SAVE_ESCROW: Final = """
UPDATE orders SET escrow_minor = $2, escrow_sequence = $3 WHERE id = $1 AND escrow_sequence < $3
"""
_SAVE_QUARANTINED_CHARGE: Final = """
UPDATE orders SET charge_quarantined_at = $2 WHERE id = $1 AND charge_quarantined_at IS NULL
"""
_SAVE_ARRIVAL: Final = """
WITH arrived AS (
    UPDATE orders SET arrived_at = $2, revision = revision + 1, updated_at = $2
    WHERE id = $1 AND status = 'dispatched' AND arrived_at IS NULL RETURNING id
)
INSERT INTO order_history (order_id, event, occurred_at, actor_id, actor_role)
SELECT id, 'arrived', $2, $3, 'hub_agent' FROM arrived
"""


class Companion(NamedTuple):
    """INSERT of one row that is made with a transition, after whose row in the history one of `history_event` follows.

    `conflict` is raised when no row was inserted.
    """

    insert: str
    values: Sequence[object]
    conflict: Exception
    history_event: str | None = None


class TransitionFacts(NamedTuple):
    """Facts that are saved with a transition.

    The escrow that payments reported, as by `save_escrow`; the person who caused it, for the order's history; an event
    about the order, which is published; a row of another table; and whether the transaction writes nothing after them.
    """

    escrow: ReportedEscrow | None = None
    actor: OrderActor | None = None
    event: Event | None = None
    also: Companion | None = None
    are_last: bool = False


NO_FACTS: Final = TransitionFacts()


async def find_order(reads: Reads, order_id: UUID) -> Order | None:
    """Return the order; None when it is absent or invisible to the caller."""
    return _order(await reads.fetch_row(_FIND_ORDER, order_id))


async def lock_order(uow: UnitOfWork, order_id: UUID, *, found: Order | None = None) -> Order | None:
    """Return the order, locked until the transaction ends, so that concurrent triggers run one after the other. `found`
    by `find_order` is returned where the decision needs no lock.
    """
    if found is not None and uow.decides_unlocked(is_read=True):
        return found
    return _order(await uow.fetch_row(_LOCK_ORDER, order_id))


class SoldOrder(NamedTuple):
    """A locked order, and the line totals (kobo) by item, in the sequence of its checkout."""

    order: Order
    line_totals_minor: dict[UUID, int]


async def lock_sold_order(uow: UnitOfWork, order_id: UUID) -> SoldOrder | None:
    """Return the order as `lock_order` does, with its line totals; unlocked where the decision needs no lock."""
    row = await uow.fetch_row(_FIND_SOLD_ORDER if uow.decides_unlocked() else _LOCK_SOLD_ORDER, order_id)
    return None if row is None else sold_order_of(row)


def sold_order_of(row: asyncpg.Record) -> SoldOrder:
    """Return the order of a row whose first columns are `SOLD_ORDER_COLUMNS`."""
    *columns, item_ids, totals_minor = row[:_SOLD_ORDER_COLUMNS_COUNT]
    return SoldOrder(Order(*columns), dict(zip(item_ids, totals_minor, strict=True)))


async def save_transition(
    uow: UnitOfWork,
    order: Order,
    to: State,
    trigger: Trigger,
    now: datetime,
    windows: Windows,
    facts: TransitionFacts = NO_FACTS,
) -> Order:
    """Set the state of the locked or unchanged order and return the order with it; stop its timer, start the timer of
    the new state, and open the return window on delivery. `trigger` is recorded in the order's history. The facts are
    saved in the same round trip.

    Raises:
        StateChanged: the order has another state.
        Exception: the one of the facts' companion, which inserted no row.
    """
    kind, due_at = timer_of(to, now, windows) or (None, None)
    reported, also = facts.escrow or (None, None), facts.also
    returns_at, (by, role) = now + windows.returns, facts.actor or (None, None)
    version = order.version if uow.is_unlocked else None
    values = (order.id, to, now, kind, due_at, returns_at, *reported, trigger, by, order.status, version, role)
    inserted = (None, None) if also is None else (also.insert, also.history_event)
    writes = _transition(*inserted, are_last=facts.are_last)
    row = await uow.fetch_row_and_publish(writes, *values, *(also.values if also else ()), event=facts.event)
    if not row["is_saved"]:
        raise StateChanged(f"order {order.id} is no longer {order.status}")
    if also is not None and not row["is_inserted"]:
        raise also.conflict
    return replace(order, status=to)


@cache
def _transition(insert: str | None, history_event: str | None, *, are_last: bool) -> Writes:
    is_saved, is_inserted = "EXISTS (SELECT FROM transitioned)", "EXISTS (SELECT FROM also)"
    if insert is None:
        return Writes(_SAVE_TRANSITION, f"{is_saved} AS is_saved", is_saved, is_saved if are_last else None)
    history = _HISTORY if history_event is None else f"{_HISTORY}, ($1, '{history_event}', NULL, $3, NULL, NULL)"
    return Writes(
        f"{_SAVE_TRANSITION.replace(_HISTORY, history)}, "
        f"also AS ({with_places_after(_TRANSITION_VALUES, insert)} RETURNING 1)",
        f"{is_saved} AS is_saved, {is_inserted} AS is_inserted",
        is_saved,
        f"{is_saved} AND {is_inserted}" if are_last else None,
    )


async def save_escrow(uow: UnitOfWork, order_id: UUID, escrow: ReportedEscrow) -> None:
    """Save the escrow of the order, unless payments reported it with a higher sequence before."""
    await uow.execute(_SAVE_ESCROW, order_id, *escrow)


async def save_quarantined_charge(uow: UnitOfWork, order_id: UUID, at: datetime) -> bool:
    """Record that a charge of the order was quarantined; return False for a later one."""
    return bool(await uow.execute(_SAVE_QUARANTINED_CHARGE, order_id, at))


async def save_arrival(uow: UnitOfWork, order: Order, agent_id: UUID, now: datetime) -> None:
    """Record the arrival of the locked order, with a line in its history. Raises StateChanged."""
    if await uow.execute(_SAVE_ARRIVAL, order.id, now, agent_id) != 1:
        raise StateChanged(f"order {order.id} is no longer dispatched, or arrived before")


def _order(row: asyncpg.Record | None) -> Order | None:
    return None if row is None else Order(*row)
