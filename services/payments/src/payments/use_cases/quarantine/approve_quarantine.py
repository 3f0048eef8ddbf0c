"""Approve the prepared decision about a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_approval
from common.primitives.problems import NotFound
from payments.store import decisions
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
    found = await decisions.find_quarantine_decision(uow, quarantined_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_approval(decision.prepared(status), approved_hash, by):
        return
    await decisions.save_quarantine_verdict(uow, decision.id, "approved", by, now)
    if decision.outcome == "accept":
        await accept_charge(uow, charge, now)
    else:
        await return_charge(uow, charge, decision.reason, now)
