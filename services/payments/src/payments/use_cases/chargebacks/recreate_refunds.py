"""Create the refunds again that a reversed loss had offset."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from payments.domain.chargebacks import DisputedCharge, UnsentRefund
from payments.domain.identifiers import reversal_refund_id
from payments.domain.refunds import NewRefund
from payments.store import chargebacks
from payments.store.chargebacks import Chargeback
from payments.store.escrow import HeldOrder
from payments.use_cases.refunds.create_refund import create_refund


async def recreate_refunds(
    uow: UnitOfWork,
    chargeback: Chargeback,
    loss: int,
    charge: DisputedCharge,
    held: HeldOrder | None,
    reason: str,
    now: datetime,
) -> list[UnsentRefund]:
    """Return the new refunds of the `loss`-th loss of the chargeback."""
    recreated = []
    for part in await chargebacks.claim_refund_parts(uow, chargeback.id):
        refund = NewRefund(
            id=reversal_refund_id(chargeback.id, loss, part.id),
            # Not of kind `order`: orders has recorded the order's refund already.
            kind="overpayment",
            charge_id=charge.id,
            order_id=charge.order_id,
            buyer_id=held.buyer_id if held else None,
            amount_minor=part.amount_minor,
            reason=reason,
            currency=charge.currency,
        )
        await create_refund(uow, refund, now)
        recreated.append(UnsentRefund(refund.id, part.amount_minor))
    return recreated
