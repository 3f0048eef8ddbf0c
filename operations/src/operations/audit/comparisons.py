"""Rules between services, and between the ledgers and the payment gateway."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import asyncpg

from common.ledger.hash_chain import verify_chain
from operations.audit.findings import Kind, Offence
from operations.audit.gateway import Gateway, GatewayStatement

Connections = Mapping[str, asyncpg.Connection]

# Order states whose whole amount is in escrow, and states with nothing in escrow.
HELD: Final = ("paid_escrow", "dispatched", "disputed")
NOT_HELD: Final = ("Processing", "expired", "cancelled", "paid", "refund_pending", "refunded")

_ORDERS: Final = "SELECT id, status, total_amount, refunded_minor FROM orders"
_ESCROWS: Final = (
    "SELECT order_id, held_minor, refunded_minor, locked_vendor_minor, "
    "locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor AS locked_minor, charged_back_minor "
    "FROM escrows"
)
_SHARES: Final = "SELECT order_id, remaining_vendor_minor FROM order_shares"
_SALES: Final = """
SELECT order_id, sum(gross_minor)::bigint AS held, sum(locked_minor)::bigint AS locked, sum(net_minor)::bigint AS net,
       sum(commission_minor)::bigint AS commission, sum(delivery_fee_minor)::bigint AS delivery_fee
FROM sale_lines GROUP BY order_id
"""
_RELEASED: Final = """
SELECT order_id, held_minor, locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor,
       released_vendor_minor, released_commission_minor, released_delivery_fee_minor FROM escrows
"""
_ORDER_TERMS: Final = "SELECT id, buyer_id, vendor_id, total_amount, commission_minor, delivery_fee_minor FROM orders"
_PAYABLE_ORDERS: Final = (
    "SELECT id, buyer_id, vendor_id, total_minor, commission_minor, delivery_fee_minor FROM payable_orders"
)
_VENDOR_PAYABLES: Final = """
SELECT split_part(account, ':', 2) AS vendor, balance_minor AS minor FROM ledger_balances
WHERE account LIKE 'vendor_payable:%' AND balance_minor <> 0
"""
# Per vendor: the wallet and debt entries whose counterpart is `escrow_released`.
_RECEIVED_BY_VENDORS: Final = """
SELECT split_part(e.account, ':', 2) AS vendor, -sum(e.amount_minor)::bigint AS minor FROM ledger_entries e
WHERE (e.account LIKE 'wallet:%' OR e.account LIKE 'vendor_debt:%') AND e.transaction_id IN (
    SELECT transaction_id FROM ledger_entries WHERE account = 'escrow_released'
) GROUP BY 1 HAVING sum(e.amount_minor) <> 0
"""
_ENTRIES_OF: Final = "SELECT coalesce(sum(amount_minor), 0)::bigint FROM ledger_entries WHERE account = $1"
_ON_THE_WAY: Final = """
SELECT coalesce(sum(t.amount), 0)::bigint FROM payout_transfers t JOIN payout_requests p ON p.id = t.payout_id
WHERE (p.status = 'pending' OR t.status IN ('submitting', 'unknown', 'pending', 'received', 'otp'))
  AND t.reference = ANY ($1::text[])
"""
# A refund to a bank account is a transfer too: 're-' and its attempt's digits.
_REFUNDS_ON_THE_WAY: Final = """
SELECT coalesce(sum(amount_minor), 0)::bigint FROM refunds
WHERE recipient_code IS NOT NULL AND status <> 'settled' AND 're-' || replace(attempt_id::text, '-', '') = ANY ($1::text[])
"""
_BOOKED_FEES: Final = (
    "SELECT reference, fee FROM payout_transfers WHERE fee IS NOT NULL AND reference = ANY ($1::text[])"
)
_BOOKED_FEES_OF_REFUNDS: Final = """
SELECT reference, fee FROM (
    SELECT 're-' || replace(attempt_id::text, '-', ''), transfer_fee_minor FROM refunds
    UNION ALL SELECT 're-' || replace(id::text, '-', ''), transfer_fee_minor FROM failed_refund_attempts
) AS attempts (reference, fee) WHERE fee IS NOT NULL AND reference = ANY ($1::text[])
"""

# Transfers that staff explained as not made by the platform.
_EXPLAINED: Final = """
SELECT coalesce(sum(amount), 0)::bigint FROM found_transfers
WHERE outcome = 'explained' AND currency = 'NGN' AND reference = ANY ($1::text[])
"""
# Differences to the gateway's balance that wait for a decision: payouts that were returned or paid outside the ledger,
# unknown transfers, and charges, fees, refunds or settlements with an open case.
_UNDECIDED_PAYOUTS: Final = """
SELECT coalesce(sum((booked.postings - paid.transfers) * p.amount), 0)::bigint FROM payout_requests p
CROSS JOIN LATERAL (SELECT count(*) FROM payout_transfers t WHERE t.payout_id = p.id AND t.reference = ANY ($1::text[])) AS paid (transfers)
CROSS JOIN LATERAL (SELECT coalesce(sum(CASE WHEN t.type IN ('reversal', 'recovery_returned') THEN -1 ELSE 1 END), 0)
    FROM ledger_transactions t WHERE t.posting_key IN ('payout_processed:' || p.id, 'reversal:' || p.id)
    OR t.posting_key IN (SELECT kind || a.id FROM payout_transfers a, unnest(ARRAY ['recovery:', 'recovery_returned:']) AS kind
                         WHERE a.payout_id = p.id)) AS booked (postings)
WHERE p.status <> 'pending' AND EXISTS (SELECT FROM payout_exceptions e WHERE e.payout_id = p.id AND e.status = 'open')
"""
_UNDECIDED_TRANSFERS: Final = """
SELECT -coalesce(sum(amount), 0)::bigint FROM found_transfers
WHERE outcome = 'open' AND currency = 'NGN' AND reference = ANY ($1::text[])
"""
_UNDECIDED_CASES: Final = """
SELECT coalesce(sum(CASE WHEN kind LIKE 'charge%' THEN theirs_minor - ours_minor WHEN kind LIKE 'refund%' OR kind LIKE 'fee%'
                    OR kind LIKE 'settlement%' THEN ours_minor - theirs_minor ELSE 0 END), 0)::bigint
FROM reconciliation_cases WHERE status = 'open' AND currency = 'NGN' AND kind <> 'settlement_not_in_book'
"""
# The daily reconciliation posts a settlement; one of unknown charges has an open case.
_POSTED_SETTLEMENTS: Final = (
    "SELECT substr(posting_key, 1 + length('settlement:')) AS id FROM ledger_transactions WHERE type = 'settlement'"
)
_UNDECIDED_SETTLEMENTS: Final = """
SELECT substr(subject, 1 + length('settlement:')) AS id FROM reconciliation_cases
WHERE status = 'open' AND kind = 'settlement_not_in_book' AND currency = 'NGN'
"""
_WEBHOOKS_QUEUED: Final = """
SELECT count(*) FROM processed_webhook_events WHERE outcome = 'queued' AND processed_at > now() - interval '20 minutes'
"""
_POSTED_TO_VENDORS: Final = """
SELECT CASE t.type WHEN 'refund' THEN 'refund:' || t.posting_key
       ELSE replace(t.posting_key, 'chargeback_won:', 'chargeback:') END AS source,
       split_part(e.account, ':', 2) AS vendor, -sum(e.amount_minor)::bigint AS minor
FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
WHERE e.account LIKE 'vendor_payable:%' GROUP BY 1, 2
"""
_LINES_OF_VENDORS: Final = """
SELECT CASE WHEN kind LIKE 'chargeback%' THEN 'chargeback:' || split_part(source_key, ':', 2) ELSE source_key END AS source,
       vendor_id::text AS vendor, sum(net_minor)::bigint AS minor
FROM wallet_lines WHERE kind IN ('release', 'refund', 'chargeback', 'chargeback_won') GROUP BY 1, 2
"""
_CORRECTED: Final = """
SELECT vendor_id::text AS vendor, sum(net_minor)::bigint AS minor FROM wallet_lines WHERE kind = 'correction' GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A rule between services, and the function that returns its offences.

    `resolved_by`: the services whose pending events resolve an offence.
    """

    rule: str
    offending: Callable[[Connections, Gateway], Awaitable[list[Offence]]]
    resolved_by: tuple[str, ...] = ()


def _of_order(order_id: object, expected: str, actual: str) -> Offence:
    return Offence(f"order {order_id}", expected, actual, ids=(str(order_id),))


async def _orders_and_escrow(databases: Connections, _: Gateway) -> list[Offence]:
    escrows = {row["order_id"]: row for row in await databases["payments"].fetch(_ESCROWS)}
    offending = []
    for order in await databases["orders"].fetch(_ORDERS):
        escrow = escrows.pop(order["id"], None)
        locked = escrow["locked_minor"] if escrow else 0
        # A chargeback debited escrow of a disputed order, and staff have not resolved it yet.
        due_minor = order["total_amount"] - (escrow["charged_back_minor"] if escrow else 0)
        released_by_staff = escrow is not None and order["status"] in HELD and locked < due_minor
        if order["status"] in HELD and locked != due_minor and not (released_by_staff and locked > 0):
            offending.append(
                _of_order(order["id"], f"{due_minor} kobo in escrow while {order['status']}", f"{locked} kobo held")
            )
        if order["status"] in NOT_HELD and locked != 0:
            offending.append(
                _of_order(order["id"], f"nothing in escrow while {order['status']}", f"{locked} kobo still held")
            )
    offending.extend(_of_order(order_id, "an order", "an escrow without its order") for order_id in escrows)
    return offending


async def _refunds(databases: Connections, _: Gateway) -> list[Offence]:
    posted = {row["order_id"]: row["refunded_minor"] for row in await databases["payments"].fetch(_ESCROWS)}
    return [
        _of_order(
            order["id"],
            f"{posted.get(order['id'], 0)} kobo refunded, as payments posted",
            f"{order['refunded_minor']} kobo shown as refunded while {order['status']}",
        )
        for order in await databases["orders"].fetch(_ORDERS)
        if order["refunded_minor"] != posted.get(order["id"], 0)
    ]


async def _sales(databases: Connections, _: Gateway) -> list[Offence]:
    """Orders of before the projection have no lines until `python -m payments publish-escrows`."""
    stated = {row["order_id"]: tuple(row)[1:] for row in await databases["payments"].fetch(_RELEASED)}
    return [
        _of_order(
            sale["order_id"],
            f"{stated.get(sale['order_id'])} kobo held, locked, net, commission and delivery fee, as in payments",
            f"the sales say {tuple(sale)[1:]}",
        )
        for sale in await databases["orders"].fetch(_SALES)
        if tuple(sale)[1:] != stated.get(sale["order_id"])
    ]


async def _escrow_and_wallets(databases: Connections, _: Gateway) -> list[Offence]:
    shares = {row["order_id"]: row["remaining_vendor_minor"] for row in await databases["payouts"].fetch(_SHARES)}
    locked = {row["order_id"]: row["locked_vendor_minor"] for row in await databases["payments"].fetch(_ESCROWS)}
    return [
        _of_order(
            order_id,
            f"{locked.get(order_id, 0)} kobo locked for the vendor, as in payments",
            f"payouts knows {shares.get(order_id)}",
        )
        for order_id in locked | shares
        # Without an escrow nothing may be locked: a row with zero is no difference.
        if shares.get(order_id) != locked.get(order_id) and (order_id in locked or shares[order_id] != 0)
    ]


async def _released_shares(databases: Connections, _: Gateway) -> list[Offence]:
    released = Counter({row["vendor"]: row["minor"] for row in await databases["payments"].fetch(_VENDOR_PAYABLES)})
    received = Counter({row["vendor"]: row["minor"] for row in await databases["payouts"].fetch(_RECEIVED_BY_VENDORS)})
    return [
        Offence(
            f"vendor {vendor}",
            f"{released[vendor]} kobo received, as payments released",
            f"payouts received {received[vendor]}",
            ids=(vendor,),
        )
        for vendor in sorted(released.keys() | received.keys())
        if released[vendor] != received[vendor]
    ]


async def _lines_and_postings(databases: Connections, _: Gateway) -> list[Offence]:
    posted = {
        (row["source"], row["vendor"]): row["minor"] for row in await databases["payments"].fetch(_POSTED_TO_VENDORS)
    }
    lines = {
        (row["source"], row["vendor"]): row["minor"] for row in await databases["payouts"].fetch(_LINES_OF_VENDORS)
    }
    corrected = {row["vendor"]: row["minor"] for row in await databases["payouts"].fetch(_CORRECTED)}
    differing = {key for key in posted.keys() | lines.keys() if posted.get(key, 0) != lines.get(key, 0)}
    surplus: Counter[str] = Counter()
    for key in differing:
        surplus[key[1]] += lines.get(key, 0) - posted.get(key, 0)
    return [
        Offence(
            f"line {source} of vendor {vendor}",
            f"{posted.get((source, vendor), 0)} kobo, as payments posted",
            f"{lines.get((source, vendor), 0)} kobo in the wallet",
            ids=(vendor,),
        )
        for source, vendor in sorted(differing)
        # An operator corrected the difference: the wrong line and its correction cancel out.
        if vendor not in corrected or surplus[vendor] + corrected[vendor] != 0
    ]


async def _order_terms(databases: Connections, _: Gateway) -> list[Offence]:
    recorded = {row["id"]: tuple(row) for row in await databases["payments"].fetch(_PAYABLE_ORDERS)}
    return [
        _of_order(order["id"], "the parties and amounts of the order", "payments knows others, or none")
        for order in await databases["orders"].fetch(_ORDER_TERMS)
        if recorded.get(order["id"]) != tuple(order)
    ]


async def _gateway_balance(databases: Connections, gateway: Gateway) -> list[Offence]:
    statement = await gateway.read()
    payments, payouts = databases["payments"], databases["payouts"]
    ours = await payments.fetchval(_ENTRIES_OF, "gateway_cash") + await payouts.fetchval(_ENTRIES_OF, "gateway_cash")
    # The gateway debits a transfer when it accepts it; the ledger, when the bank confirms it.
    on_the_way = await payouts.fetchval(_ON_THE_WAY, statement.left)
    on_the_way += await payments.fetchval(_REFUNDS_ON_THE_WAY, statement.left)
    on_the_way += await _fees_on_the_way(databases, statement)
    theirs = statement.held_minor + on_the_way + await payouts.fetchval(_EXPLAINED, statement.left)
    if ours == theirs:
        return []
    undecided = await payouts.fetchval(_UNDECIDED_PAYOUTS, statement.arrived)
    undecided += await payouts.fetchval(_UNDECIDED_TRANSFERS, statement.left)
    undecided += await payments.fetchval(_UNDECIDED_CASES)
    posted = {row["id"] for row in await payments.fetch(_POSTED_SETTLEMENTS)}
    unposted = {key: minor for key, minor in statement.settlements.items() if key not in posted}
    to_bank = sum(unposted.values())
    cases = {row["id"] for row in await payments.fetch(_UNDECIDED_SETTLEMENTS)}
    kind: Kind = "broken"
    actual = f"our books say {ours}"
    if theirs - ours == undecided - to_bank and (undecided or cases & unposted.keys()):
        kind, actual = "open", f"{actual}; {undecided - to_bank} kobo wait for a reconciliation to be decided"
    elif theirs - ours == -to_bank:
        kind, actual = "waiting", f"{actual}; {to_bank} kobo were settled to the bank and are posted by the daily run"
    elif await payments.fetchval(_WEBHOOKS_QUEUED):
        kind, actual = "waiting", f"{actual}; webhooks of the gateway are being processed"
    expected = f"{theirs} kobo of ours at the gateway (with {on_the_way} on the way)"
    return [Offence(f"gateway {gateway.url}", expected, actual, kind)]


async def _fees_on_the_way(databases: Connections, statement: GatewayStatement) -> int:
    """The gateway's fees that the ledgers do not have yet, less those that it returned with their transfer."""
    references = list(statement.fees)
    rows = await databases["payouts"].fetch(_BOOKED_FEES, references)
    rows += await databases["payments"].fetch(_BOOKED_FEES_OF_REFUNDS, references)
    booked = {row["reference"]: row["fee"] for row in rows}
    left = set(statement.left)
    return sum(
        fee_minor - booked.get(reference, 0)
        for reference, fee_minor in statement.fees.items()
        if reference not in booked or reference not in left
    )


def _chain(service: str) -> Comparison:
    async def offending(databases: Connections, _: Gateway) -> list[Offence]:
        report = await verify_chain(databases[service].fetch)
        intact = f"an unbroken chain of {report.length} links"
        return [] if report.broken is None else [Offence(service, intact, str(report.broken))]

    return Comparison(f"the past of the {service} book is what its chain of hashes says", offending)


# Skipped while the gateway is unreachable.
GATEWAY: Final = Comparison("the payment gateway's own book equals ours", _gateway_balance)
COMPARISONS: Final[tuple[Comparison, ...]] = (
    Comparison("every order is of the parties and amounts that payments heard", _order_terms, ("payments",)),
    Comparison("escrow equals the orders whose money is held", _orders_and_escrow, ("orders", "payments")),
    Comparison("what each order shows as refunded is what payments posted", _refunds, ("orders", "payments")),
    Comparison("the sales of each order are what payments' escrow of it states", _sales, ("orders",)),
    Comparison("every vendor's locked share is the same in both books", _escrow_and_wallets, ("payouts",)),
    Comparison("what payments released is what payouts received", _released_shares, ("payouts",)),
    Comparison(
        "every line that a release, refund or chargeback made in a wallet is a posting of payments",
        _lines_and_postings,
        ("payouts",),
    ),
    GATEWAY,
    _chain("payments"),
    _chain("payouts"),
)
