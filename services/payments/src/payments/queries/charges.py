"""Charges of a payment and their parts."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from common.database.unit_of_work import Reads
from common.web.response_models import Row
from payments.responses.charges import Charge, ChargeChargeback, ChargedOrder, ChargeRefund

# A charge names one of the payment's references.
_CHARGES: Final = """
SELECT id, reference, gateway, amount_minor, currency, channel, verdict, settled_at AS charged_at,
       coalesce(surcharge_minor, 0) AS surcharge_minor,
       (
           SELECT coalesce(sum(r.amount_minor), 0)::bigint FROM refunds r
           WHERE r.charge_id = charges.id AND r.kind = 'overpayment'
       ) AS surplus_minor
FROM charges WHERE reference IN (SELECT reference FROM payment_references WHERE intent_id = $1)
ORDER BY settled_at, id
"""
_ORDERS: Final = """
SELECT charge_id, order_id, number_of_order(order_id) AS order_number, held_minor - balance_minor AS charged_minor,
       balance_minor, refunded_minor, charged_back_minor
FROM escrows WHERE charge_id = ANY ($1) ORDER BY held_at, order_id
"""
_REFUNDS: Final = """
SELECT charge_id, id, kind, order_id, amount_minor, balance_minor, status, created_at
FROM refunds WHERE charge_id = ANY ($1) ORDER BY created_at, id
"""
# A refund made outside is a refund, and no dispute.
_CHARGEBACKS: Final = """
SELECT charge_id, id, order_id, amount_minor, status, opened_at AS created_at
FROM chargebacks WHERE charge_id = ANY ($1) AND identity NOT LIKE 'outside:%' ORDER BY opened_at, id
"""


async def list_charges_of_payment(reads: Reads, payment_id: UUID) -> list[Charge]:
    """Return the charges of a payment, oldest first, with their parts."""
    charges = await reads.fetch(_CHARGES, payment_id)
    ids = [row["id"] for row in charges]
    orders, refunds, chargebacks = [
        _by_charge(await reads.fetch(statement, ids)) for statement in (_ORDERS, _REFUNDS, _CHARGEBACKS)
    ]
    return [
        Charge.from_row(
            row,
            orders=[ChargedOrder.from_row(one) for one in orders[row["id"]]],
            refunds=[ChargeRefund.from_row(one) for one in refunds[row["id"]]],
            chargebacks=[ChargeChargeback.from_row(one) for one in chargebacks[row["id"]]],
        )
        for row in charges
    ]


def _by_charge(rows: Sequence[Row]) -> defaultdict[UUID, list[Row]]:
    found = defaultdict[UUID, list[Row]](list)
    for row in rows:
        found[row["charge_id"]].append(row)
    return found
