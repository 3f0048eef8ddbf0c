"""The owners of an order's money, derived again from its terms and its postings. Kobo; no code of the product.

The audit compares sums, and ledger and tables come from one function: a kobo that moves from the vendor's part to the
commission, in all of them alike, breaks none of its rules (decision 213).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import asyncpg
import msgspec

from contracts.orders import RefundRequested

_ORDERS: Final = """
SELECT o.id::text, o.total_minor, o.commission_minor, o.delivery_fee_minor,
       ARRAY[e.locked_vendor_minor, e.locked_commission_minor, e.locked_delivery_fee_minor] AS locked,
       ARRAY[e.released_vendor_minor, e.released_commission_minor, e.released_delivery_fee_minor] AS released
FROM payable_orders o JOIN escrows e ON e.order_id = o.id WHERE o.id::text = ANY ($1)
"""
# `moved`: what the receivers get; below zero, what they return.
_POSTINGS: Final = """
SELECT s.order_id::text, t.type, t.posting_key,
       coalesce(sum(e.amount_minor) FILTER (WHERE e.account LIKE 'escrow:%'), 0)::bigint AS from_locked_minor,
       ARRAY[coalesce(-sum(e.amount_minor) FILTER (WHERE e.account LIKE 'vendor_payable:%'), 0)::bigint,
             coalesce(-sum(e.amount_minor) FILTER (WHERE e.account = 'commission'), 0)::bigint,
             coalesce(-sum(e.amount_minor) FILTER (WHERE e.account = 'delivery_fee'), 0)::bigint] AS moved
FROM (
    SELECT 'release:' || id AS key, order_id FROM releases UNION ALL SELECT id::text, order_id FROM refunds
    UNION ALL SELECT 'chargeback:' || id, order_id FROM chargebacks
) AS s JOIN ledger_transactions t ON s.key = CASE
    WHEN t.type LIKE 'chargeback%' THEN 'chargeback:' || split_part(t.posting_key, ':', 2) ELSE t.posting_key END
JOIN ledger_entries e ON e.transaction_id = t.id
WHERE s.order_id::text = ANY ($1) GROUP BY s.order_id, t.id ORDER BY t.position
"""

Row = Mapping[str, Any] | asyncpg.Record


class Parts(NamedTuple):
    """An amount by owner: the vendor's share, the commission, the delivery fee."""

    vendor_minor: int = 0
    commission_minor: int = 0
    delivery_fee_minor: int = 0

    def share(self, amount_minor: int) -> "Parts":
        """Return the amount in proportion to the parts, rounded down; the last parts that can receive the rest."""
        whole_minor = sum(self)
        shares = [amount_minor * part // whole_minor if whole_minor else 0 for part in self]
        for index in reversed(range(3)):
            shares[index] += min(amount_minor - sum(shares), self[index] - shares[index])
        return Parts(*shares)

    def fitted(self, limit: Sequence[int]) -> "Parts":
        """Return the parts cut at their limits; what is cut off is added to the first parts with room."""
        parts = [min(part, most) for part, most in zip(self, limit, strict=True)]
        for index in range(3):
            parts[index] += min(sum(self) - sum(parts), limit[index] - parts[index])
        return Parts(*parts)

    def plus(self, other: Sequence[int], sign: int = 1) -> "Parts":
        return Parts(*(mine + sign * theirs for mine, theirs in zip(self, other, strict=True)))


class _Message(msgspec.Struct):
    """A message of the broker; a work item has none of an event."""

    type: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")


class RefundsOfItems(dict[str, Parts]):
    """The parts of each refund of items, as orders published them, by the refund's id."""

    def record(self, body: bytes) -> None:
        """Keep the parts of a published refund of items."""
        message = msgspec.json.decode(body, type=_Message)
        if message.type == RefundRequested.TYPE:
            refund = msgspec.json.decode(message.data, type=RefundRequested)
            if refund.commission_minor is not None:
                fee_minor = refund.delivery_fee_minor or 0
                vendor_minor = refund.amount_minor - refund.commission_minor - fee_minor
                self[str(refund.refund_id)] = Parts(vendor_minor, refund.commission_minor, fee_minor)


async def broken_shares(payments: asyncpg.Connection, order_ids: Iterable[str], refunds: RefundsOfItems) -> list[str]:
    """Return what the ledger or the escrow of these orders has on another owner than the terms of the order."""
    ids = list(order_ids)
    postings: dict[str, list[Row]] = {order_id: [] for order_id in ids}
    for row in await payments.fetch(_POSTINGS, ids):
        postings[row["order_id"]].append(row)
    rows = await payments.fetch(_ORDERS, ids)
    return [text for row in rows for text in differences(row, postings[row["id"]], refunds)]


def differences(order: Row, postings: Iterable[Row], refunds: Mapping[str, Parts]) -> list[str]:
    """Return the differences of one order, whose postings are in their sequence. After a won chargeback it is not
    followed: no entry says which parts the refunds before it counted.
    """
    commission_minor, fee_minor = order["commission_minor"], order["delivery_fee_minor"]
    locked, released = Parts(order["total_minor"] - commission_minor - fee_minor, commission_minor, fee_minor), Parts()
    found: list[str] = []
    for posting in postings:
        moved, from_locked_minor = Parts(*posting["moved"]), posting["from_locked_minor"]
        if posting["type"] == "chargeback_won":
            return found
        if posting["type"] == "release":
            from_locked = expected = locked.share(from_locked_minor)
        else:
            of_items = refunds.get(posting["posting_key"])
            from_locked, expected = _returned(locked, released, from_locked_minor - sum(moved), of_items)
        if (sum(from_locked), expected) != (from_locked_minor, moved):
            name = f"{posting['type']} {posting['posting_key']} of order {order['id']}"
            found.append(f"{name}: {expected} demanded, {moved} posted")
        locked, released = locked.plus(from_locked, -1), released.plus(expected)
    if (locked, released) != (tuple(order["locked"]), tuple(order["released"])):
        found.append(
            f"escrow of order {order['id']}: {locked} locked and {released} released demanded, "
            f"{order['locked']} and {order['released']} stored"
        )
    return found


def _returned(locked: Parts, released: Parts, amount_minor: int, of_items: Parts | None) -> tuple[Parts, Parts]:
    """Return what a refund or a chargeback takes from escrow, and what the receivers get: nothing or less."""
    if of_items is None:
        from_locked = locked.share(min(amount_minor, sum(locked)))
        return from_locked, Parts().plus(released.share(amount_minor - sum(from_locked)), -1)
    parts = of_items.share(amount_minor).fitted(locked.plus(released))
    from_locked = Parts(*map(min, parts, locked))
    return from_locked, from_locked.plus(parts, -1)
