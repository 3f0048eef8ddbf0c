"""Reject a prepared reset of second factors."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.store import factor_resets
from identity.use_cases.factors.steps import lock_factor_reset, record_factor_verdict


async def reject_factor_reset(uow: UnitOfWork, caller: Caller, reset_id: UUID, *, now: datetime) -> None:
    """Reject the reset; the factors stay. Raises NotFound, OwnFactorReset (403), NoLongerAdmin (409), and the errors of
    `evaluate_rejection`.
    """
    reset = await lock_factor_reset(uow, caller, reset_id)
    if await factor_resets.TABLE.reject(uow, reset.id, reset.decision_at(now), caller.id, now):
        await record_factor_verdict(uow, caller, reset, "rejected", now)
