"""Steps of second factors that several operations share."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import Verdict
from common.primitives.problems import NotFound
from identity.domain.factor_resets import FactorReset
from identity.store import accounts, factor_resets
from identity.store.staff import record_staff_action
from identity.use_cases.staff.steps import lock_staff_as_admin


async def lock_factor_reset(uow: UnitOfWork, caller: Caller, reset_id: UUID) -> FactorReset:
    """Return the reset, while its user's factors do not change.

    Raises NotFound, OwnFactorReset (403), NoLongerAdmin (409).
    """
    found = await factor_resets.find_reset(uow, reset_id)
    if found is None:
        raise NotFound
    found.check_not_own(caller.id)
    await lock_staff_as_admin(uow, caller)
    # The account's lock covers all its factors: a step-up runs before or after this decision.
    if await accounts.lock_account(uow, found.user_id) is None:
        raise NotFound
    reset = await factor_resets.find_reset(uow, reset_id, lock=True)
    if reset is None:
        raise AssertionError("a reset is never removed")
    return reset


async def record_factor_verdict(
    uow: UnitOfWork, caller: Caller, reset: FactorReset, verdict: Verdict, now: datetime
) -> None:
    """Record the verdict in the audit trail."""
    detail = {"resetId": str(reset.id), "preparedBy": str(reset.prepared_by)}
    await record_staff_action(uow, f"factor_reset_{verdict}", "person", reset.user_id, detail, by=caller.id, now=now)
