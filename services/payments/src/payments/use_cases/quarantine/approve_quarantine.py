"""Approve the prepared decision about a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from payments.store import decisions
from payments.store.decisions import QUARANTINE_DECISIONS
from payments.use_cases.quarantine.steps import accept_charge, return_charge


async def approve_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, approved_hash: str, by: UUID, now: datetime
) -> None:
    """Accept or return the charge once, as the decision with this hash states.

    Raises NotFound, ChargeCannotBeAccepted (409), and the errors of `evaluate_approval`.
    """
    charge = await decisions.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    decision = await QUARANTINE_DECISIONS.approve(uow, quarantined_id, approved_hash, by, now)
    if decision is None:
        return
    if decision.outcome == "accept":
        await accept_charge(uow, charge, now)
    else:
        await return_charge(uow, charge, decision.reason, now)
