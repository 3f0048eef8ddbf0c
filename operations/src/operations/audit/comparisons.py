"""Rules between services. The gateway's are in `gateway_comparisons`, all are listed here."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import asyncpg

from common.ledger.hash_chain import verify_chain
from operations.audit.findings import Offence
from operations.audit.gateway import Gateway
from operations.audit.gateway_balance import compare_balance
from operations.audit.gateway_comparisons import (
    compare_charges,
    compare_disputes,
    compare_refunds,
    compare_settlements,
    compare_transfers,
)
from operations.audit.statement import Statement
from operations.audit.streams import full_join, rows_of, snapshots

Connections = Mapping[str, asyncpg.Connection]

# Order states whose whole amount is in escrow, and states with nothing in escrow.
HELD: Final = ("paid_escrow", "dispatched", "disputed")
NOT_HELD: Final = ("Processing", "expired", "cancelled", "paid", "refund_pending", "refunded")
# Differences of one rule that are in memory at once. With more of them the rule is broken, whatever each of them is.
OFFENCES_MAX: Final = 10_000

_ORDERS: Final = "SELECT id, status, total_amount, refunded_minor FROM orders ORDER BY id"
_ESCROWS: Final = """
SELECT order_id, held_minor, refunded_minor, locked_vendor_minor,
       locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor AS locked_minor, charged_back_minor
FROM escrows ORDER BY order_id
"""
_SHARES: Final = "SELECT order_id, remaining_vendor_minor FROM order_shares ORDER BY order_id"
_SALES: Final = """
SELECT order_id, sum(gross_minor)::bigint AS held, sum(locked_minor)::bigint AS locked, sum(net_minor)::bigint AS net,
       sum(commission_minor)::bigint AS commission, sum(delivery_fee_minor)::bigint AS delivery_fee
FROM sale_lines GROUP BY order_id ORDER BY order_id
"""
_RELEASED: Final = """
SELECT order_id, held_minor, locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor,
       released_vendor_minor, released_commission_minor, released_delivery_fee_minor FROM escrows ORDER BY order_id
"""
_ORDER_TERMS: Final = """
SELECT id, buyer_id, vendor_id, total_amount, commission_minor, delivery_fee_minor FROM orders ORDER BY id
"""
_PAYABLE_ORDERS: Final = """
SELECT id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor FROM payable_orders ORDER BY id
"""
_VENDOR_PAYABLES: Final = """
SELECT split_part(account, ':', 2) COLLATE "C" AS vendor, balance_minor AS minor FROM ledger_balances
WHERE account LIKE 'vendor_payable:%' AND balance_minor <> 0 ORDER BY 1
"""
# Per vendor: the wallet and debt entries whose counterpart is `escrow_released`.
_RECEIVED_BY_VENDORS: Final = """
SELECT split_part(e.account, ':', 2) COLLATE "C" AS vendor, -sum(e.amount_minor)::bigint AS minor FROM ledger_entries e
WHERE (e.account LIKE 'wallet:%' OR e.account LIKE 'vendor_debt:%') AND e.transaction_id IN (
    SELECT transaction_id FROM ledger_entries WHERE account = 'escrow_released'
) GROUP BY 1 HAVING sum(e.amount_minor) <> 0 ORDER BY 1
"""
_POSTED_TO_VENDORS: Final = """
SELECT (CASE WHEN t.type = 'refund' THEN 'refund:' || t.posting_key
        WHEN t.type LIKE 'chargeback%' OR t.type LIKE 'outside_refund%'
            THEN 'chargeback:' || split_part(t.posting_key, ':', 2)
        ELSE t.posting_key END || ' ' || split_part(e.account, ':', 2)) COLLATE "C" AS line,
       -sum(e.amount_minor)::bigint AS minor
FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
WHERE e.account LIKE 'vendor_payable:%' GROUP BY 1 ORDER BY 1
"""
_LINES_OF_VENDORS: Final = """
SELECT (CASE WHEN kind LIKE 'chargeback%' THEN 'chargeback:' || split_part(source_key, ':', 2) ELSE source_key END
        || ' ' || vendor_id) COLLATE "C" AS line, sum(net_minor)::bigint AS minor
FROM wallet_lines WHERE kind IN ('release', 'refund', 'chargeback', 'chargeback_won') GROUP BY 1 ORDER BY 1
"""
# `is_stated`: no line has its parts from an estimate, as those of before have.
_PARTS_OF_LINES: Final = """
SELECT order_id, sum(net_minor)::bigint AS net, sum(commission_minor)::bigint AS commission,
       sum(delivery_fee_minor)::bigint AS delivery_fee, max(vendor_id::text) AS vendor,
       bool_and(NOT estimated AND commission_minor IS NOT NULL) AS is_stated
FROM wallet_lines WHERE kind IN ('release', 'refund', 'chargeback', 'chargeback_won') AND order_id IS NOT NULL
GROUP BY order_id ORDER BY order_id
"""
_PARTS_RELEASED: Final = """
SELECT order_id, released_vendor_minor, released_commission_minor, released_delivery_fee_minor FROM escrows
ORDER BY order_id
"""
_CORRECTED: Final = """
SELECT vendor_id::text AS vendor, sum(net_minor)::bigint AS minor FROM wallet_lines WHERE kind = 'correction' GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A rule between services, and the function that yields its offences.

    `resolved_by`: the services whose pending events resolve an offence. `needs_gateway`: it is skipped while the
    payment gateway is unreachable.
    """

    rule: str
    offending: Callable[[Connections, Statement, Gateway], AsyncIterator[Offence]]
    resolved_by: tuple[str, ...] = ()
    needs_gateway: bool = False

    async def offences(self, databases: Connections, statement: Statement, gateway: Gateway) -> list[Offence]:
        """Return the first 10,000 offences, and one about the others. Raises GatewayNotCompared."""
        found: list[Offence] = []
        offending = self.offending(databases, statement, gateway)
        async with aclosing(offending):  # type: ignore[type-var]
            async for offence in offending:
                if len(found) == OFFENCES_MAX:
                    found.append(
                        Offence(self.rule, f"at most {OFFENCES_MAX} differences", "more, which are not listed")
                    )
                    break
                found.append(offence)
        return found


def _of_order(order_id: object, expected: str, actual: str) -> Offence:
    return Offence(f"order {order_id}", expected, actual, ids=(str(order_id),))


async def _orders_and_escrow(databases: Connections) -> AsyncIterator[Offence]:
    orders, payments = databases["orders"], databases["payments"]
    async with snapshots(orders, payments):
        async for order_id, order, escrow in full_join(rows_of(orders, _ORDERS), rows_of(payments, _ESCROWS)):
            if order is None:
                yield _of_order(order_id, "an order", "an escrow without its order")
                continue
            locked = escrow["locked_minor"] if escrow else 0
            # A chargeback debited escrow of a disputed order, and staff have not resolved it yet.
            due_minor = order["total_amount"] - (escrow["charged_back_minor"] if escrow else 0)
            status = order["status"]
            released_by_staff = escrow is not None and status in HELD and locked < due_minor
            if status in HELD and locked != due_minor and not (released_by_staff and locked > 0):
                yield _of_order(order_id, f"{due_minor} kobo in escrow while {status}", f"{locked} kobo held")
            if status in NOT_HELD and locked != 0:
                yield _of_order(order_id, f"nothing in escrow while {status}", f"{locked} kobo still held")


async def _refunds(databases: Connections) -> AsyncIterator[Offence]:
    orders, payments = databases["orders"], databases["payments"]
    async with snapshots(orders, payments):
        async for order_id, order, escrow in full_join(rows_of(orders, _ORDERS), rows_of(payments, _ESCROWS)):
            posted_minor = escrow["refunded_minor"] + escrow["charged_back_minor"] if escrow else 0
            if order is not None and order["refunded_minor"] != posted_minor:
                yield _of_order(
                    order_id,
                    f"{posted_minor} kobo refunded or charged back, as payments posted",
                    f"{order['refunded_minor']} kobo shown as refunded while {order['status']}",
                )


async def _sales(databases: Connections) -> AsyncIterator[Offence]:
    """Orders of before the projection have no lines until `python -m payments publish-escrows`."""
    orders, payments = databases["orders"], databases["payments"]
    async with snapshots(orders, payments):
        async for order_id, sale, escrow in full_join(rows_of(orders, _SALES), rows_of(payments, _RELEASED)):
            stated = None if escrow is None else tuple(escrow)[1:]
            if sale is not None and tuple(sale)[1:] != stated:
                yield _of_order(
                    order_id,
                    f"{stated} kobo held, locked, net, commission and delivery fee, as in payments",
                    f"the sales say {tuple(sale)[1:]}",
                )


async def _escrow_and_wallets(databases: Connections) -> AsyncIterator[Offence]:
    payments, payouts = databases["payments"], databases["payouts"]
    async with snapshots(payments, payouts):
        async for order_id, escrow, share in full_join(rows_of(payments, _ESCROWS), rows_of(payouts, _SHARES)):
            locked = escrow["locked_vendor_minor"] if escrow else None
            remaining = share["remaining_vendor_minor"] if share else None
            # Without an escrow nothing may be locked: a row with zero is no difference.
            if locked != remaining and (locked is not None or remaining != 0):
                yield _of_order(
                    order_id, f"{locked or 0} kobo locked for the vendor, as in payments", f"payouts knows {remaining}"
                )


async def _released_shares(databases: Connections) -> AsyncIterator[Offence]:
    payments, payouts = databases["payments"], databases["payouts"]
    async with snapshots(payments, payouts):
        shares = full_join(rows_of(payments, _VENDOR_PAYABLES), rows_of(payouts, _RECEIVED_BY_VENDORS))
        async for vendor, released, received in shares:
            released_minor, received_minor = released["minor"] if released else 0, received["minor"] if received else 0
            if released_minor != received_minor:
                expected = f"{released_minor} kobo received, as payments released"
                yield Offence(f"vendor {vendor}", expected, f"payouts received {received_minor}", ids=(vendor,))


async def _lines_and_postings(databases: Connections) -> AsyncIterator[Offence]:
    payments, payouts = databases["payments"], databases["payouts"]
    differing: list[tuple[str, str, int, int]] = []
    surplus: Counter[str] = Counter()
    async with snapshots(payments, payouts):
        corrected = {row["vendor"]: row["minor"] async for row in rows_of(payouts, _CORRECTED)}
        lines_and_postings = full_join(rows_of(payments, _POSTED_TO_VENDORS), rows_of(payouts, _LINES_OF_VENDORS))
        async for key, posting, line in lines_and_postings:
            posted_minor, line_minor = posting["minor"] if posting else 0, line["minor"] if line else 0
            if posted_minor != line_minor:
                source, _, vendor = key.rpartition(" ")
                surplus[vendor] += line_minor - posted_minor
                differing.append((source, vendor, posted_minor, line_minor))
                if len(differing) > OFFENCES_MAX:
                    break
    for source, vendor, posted_minor, line_minor in differing:
        # An operator corrected the difference: the wrong line and its correction cancel out.
        if vendor not in corrected or surplus[vendor] + corrected[vendor] != 0:
            yield Offence(
                f"line {source} of vendor {vendor}",
                f"{posted_minor} kobo, as payments posted",
                f"{line_minor} kobo in the wallet",
                ids=(vendor,),
            )


async def _parts_of_lines(databases: Connections) -> AsyncIterator[Offence]:
    """Yield a vendor whose wallet was corrected keeps the wrong line, so that its orders are not compared."""
    payments, payouts = databases["payments"], databases["payouts"]
    async with snapshots(payments, payouts):
        corrected = {row["vendor"] async for row in rows_of(payouts, _CORRECTED)}
        async for order_id, escrow, lines in full_join(
            rows_of(payments, _PARTS_RELEASED), rows_of(payouts, _PARTS_OF_LINES)
        ):
            if lines is not None and (not lines["is_stated"] or lines["vendor"] in corrected):
                continue
            released = (0, 0, 0) if escrow is None else tuple(escrow)[1:]
            stated = (0, 0, 0) if lines is None else (lines["net"], lines["commission"], lines["delivery_fee"])
            if stated != released:
                expected = f"{released} kobo net, commission and delivery fee, as payments released and took back"
                yield _of_order(order_id, expected, f"its statement lines say {stated}")


async def _order_terms(databases: Connections) -> AsyncIterator[Offence]:
    orders, payments = databases["orders"], databases["payments"]
    async with snapshots(orders, payments):
        async for order_id, order, payable in full_join(
            rows_of(orders, _ORDER_TERMS), rows_of(payments, _PAYABLE_ORDERS)
        ):
            if order is not None and (payable is None or tuple(payable) != tuple(order)):
                yield _of_order(order_id, "the parties and amounts of the order", "payments knows others, or none")


async def _chain(databases: Connections, service: str) -> AsyncIterator[Offence]:
    report = await verify_chain(databases[service].fetch)
    if report.broken is not None:
        yield Offence(service, f"an unbroken chain of {report.length} links", str(report.broken))


def _between_services(
    rule: str, offending: Callable[[Connections], AsyncIterator[Offence]], *resolved_by: str
) -> Comparison:
    return Comparison(rule, lambda databases, _statement, _gateway: offending(databases), resolved_by)


def _with_gateway(
    rule: str, offending: Callable[[Connections, Statement, list[str]], AsyncIterator[Offence]]
) -> Comparison:
    return Comparison(
        rule, lambda databases, statement, gateway: offending(databases, statement, gateway.names), needs_gateway=True
    )


COMPARISONS: Final[tuple[Comparison, ...]] = (
    # First, while the lists are new.
    Comparison(
        "the payment gateway's own ledger equals ours",
        lambda databases, statement, gateway: compare_balance(databases, statement, gateway.url),
        needs_gateway=True,
    ),
    _with_gateway("every transfer at the payment gateway is ours, with its state, amount and fee", compare_transfers),
    _with_gateway("every charge is recorded as the payment gateway reports it", compare_charges),
    _with_gateway("every refund moved the amount that the payment gateway reports", compare_refunds),
    _with_gateway("every dispute has the outcome that the payment gateway reports", compare_disputes),
    _with_gateway("every settlement is posted as the payment gateway reports it", compare_settlements),
    _between_services("every order is of the parties and amounts that payments received", _order_terms, "payments"),
    _between_services("escrow equals the orders whose money is held", _orders_and_escrow, "orders", "payments"),
    _between_services("what each order shows as refunded is what payments posted", _refunds, "orders", "payments"),
    _between_services("the sales of each order are what payments' escrow of it states", _sales, "orders"),
    _between_services("every vendor's locked share is the same in both ledgers", _escrow_and_wallets, "payouts"),
    _between_services("what payments released is what payouts received", _released_shares, "payouts"),
    _between_services(
        "every line that a release, refund or chargeback made in a wallet is a posting of payments",
        _lines_and_postings,
        "payouts",
    ),
    _between_services(
        "the statement lines of each order are made of what payments released of it", _parts_of_lines, "payouts"
    ),
    _between_services(
        "the past of the payments ledger is what its chain of hashes says",
        lambda databases: _chain(databases, "payments"),
    ),
    _between_services(
        "the past of the payouts ledger is what its chain of hashes says",
        lambda databases: _chain(databases, "payouts"),
    ),
)
