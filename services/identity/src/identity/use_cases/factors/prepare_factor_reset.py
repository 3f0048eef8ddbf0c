"""Prepare the reset of a user's lost second factors."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.identity import CredentialsChanged
from identity.domain.factor_resets import RESET_LIFE, FactorReset, FactorResetOpen, NoFactorToReset, OwnFactorReset
from identity.queries.factors import list_own_factors
from identity.store import accounts, factor_resets
from identity.store.staff import record_staff_action


async def prepare_factor_reset(uow: UnitOfWork, caller: Caller, user_id: UUID, reason: str, *, now: datetime) -> UUID:
    """Return the id of the reset, which waits for a platform_admin; notify the user, who may object.

    A repetition returns the same reset. Raises OwnFactorReset (403), NotFound, NoFactorToReset and FactorResetOpen.
    """
    if user_id == caller.id:
        raise OwnFactorReset
    if await accounts.lock_account(uow, user_id) is None:
        raise NotFound
    if not any(factor.confirmed for factor in await list_own_factors(uow, user_id)):
        raise NoFactorToReset
    waiting = await factor_resets.find_open_reset(uow, user_id, now)
    if waiting is not None:
        if waiting.prepared_by != caller.id or waiting.reason != reason:
            raise FactorResetOpen
        return waiting.id
    reset = FactorReset(new_id(), user_id, reason, caller.id, now, now + RESET_LIFE, "prepared")
    await factor_resets.record_reset(uow, reset)
    await record_staff_action(
        uow, "factor_reset_prepared", "person", user_id, {"resetId": str(reset.id)}, by=caller.id, now=now
    )
    uow.publish(CredentialsChanged(user_id=user_id, change="factor_reset_prepared"))
    return reset.id
