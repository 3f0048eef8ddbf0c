"""The second person agrees on what becomes of a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import NothingPrepared, evaluate_approval
from common.primitives.problems import NotFound
from payments import store
from payments.use_cases.quarantine.accept_charge import accept_charge
from payments.use_cases.quarantine.return_charge import return_charge


async def approve_quarantine(
    uow: UnitOfWork, quarantined_id: UUID, approved_hash: str, by: UUID, now: datetime
) -> None:
    """The charge leaves quarantine, once, as the decision with this hash says.

    Raises NotFound, ChargeCannotBeAccepted (409), and what `evaluate_approval` refuses.
    """
    charge = await store.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    found = await store.find_quarantine_decision(uow, quarantined_id)
    if found is None:
        raise NothingPrepared
    status, decision = found
    if not evaluate_approval(decision.prepared(status), approved_hash, by):
        return
    await store.save_quarantine_verdict(uow, decision.id, "approved", by, now)
    if decision.outcome == "accept":
        await accept_charge(uow, charge, now)
    else:
        await return_charge(uow, charge, decision.reason, now)
