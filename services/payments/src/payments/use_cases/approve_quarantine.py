"""The second person agrees on what becomes of a quarantined charge."""

from datetime import datetime
from uuid import UUID

from common.database import UnitOfWork
from common.problems import NotFound
from payments import store
from payments.domain.decisions import Decision, judge_decision
from payments.use_cases.accept_charge import accept_charge
from payments.use_cases.return_charge import return_charge


async def approve_quarantine(uow: UnitOfWork, quarantined_id: UUID, by: UUID, now: datetime) -> None:
    """The charge leaves quarantine, once. Raises NotFound, NothingPrepared, AlreadyDecided and ChargeCannotBeAccepted (409),
    and DecidedByItsMaker (403)."""
    charge = await store.lock_quarantined(uow, quarantined_id)
    if charge is None:
        raise NotFound
    prepared = await store.find_quarantine_decision(uow, quarantined_id)
    decision = Decision(prepared["id"], prepared["status"], prepared["prepared_by"]) if prepared else None
    if not judge_decision(decision, "approved", by) or prepared is None:
        return
    await store.save_quarantine_verdict(uow, prepared["id"], "approved", by, now)
    if prepared["outcome"] == "accept":
        await accept_charge(uow, charge, now)
    else:
        await return_charge(uow, charge, prepared["reason"], now)
