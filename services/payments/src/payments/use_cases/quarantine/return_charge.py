"""Return a quarantined charge to its payer, in its own currency."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from payments.domain import identifiers, postings
from payments.domain.refunds import NewRefund
from payments.store import decisions, projections
from payments.store.decisions import LockedQuarantinedCharge
from payments.use_cases.alerts import clear_quarantine_alert
from payments.use_cases.refunds.create_refund import create_refund


async def return_charge(uow: UnitOfWork, charge: LockedQuarantinedCharge, reason: str, now: datetime) -> None:
    """Post all of it as due to the payer, and create its refund. The posting key is the charge's."""
    refund_id = identifiers.quarantine_refund_id(charge.identity)
    await ledger.post(
        uow,
        postings.quarantine_release(
            charge.identity,
            charge.reference,
            charge.currency,
            order_id=None,
            refund_id=refund_id,
            escrow_minor=0,
            refund_minor=charge.amount_minor,
        ),
    )
    buyer_id = None if charge.order_id is None else await projections.find_buyer_of_order(uow, charge.order_id)
    refund = NewRefund(
        refund_id,
        "quarantine",
        charge.charge_id,
        charge.order_id,
        buyer_id,
        charge.amount_minor,
        reason,
        charge.currency,
    )
    await create_refund(uow, refund, now)
    await decisions.save_quarantined(uow, charge.id, "returned", refund_id=refund_id)
    clear_quarantine_alert(uow, charge.id, "returned")
