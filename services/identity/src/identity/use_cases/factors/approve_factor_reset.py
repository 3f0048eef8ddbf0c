"""Approve a prepared reset of second factors."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from contracts.identity import CredentialsChanged
from identity.queries.factors import list_own_factors
from identity.store import factor_resets, factors, passkeys, recovery_codes
from identity.use_cases.factors.steps import lock_factor_reset, record_factor_verdict
from identity.use_cases.sessions.revoke_sessions import RevokedSessions, revoke_sessions


async def approve_factor_reset(
    uow: UnitOfWork, caller: Caller, reset_id: UUID, approved_hash: str, *, now: datetime
) -> tuple[UUID, RevokedSessions] | None:
    """Remove all second factors and recovery codes of the user, end their sessions, and notify them.

    Return the user and the ended sessions; None for a repetition. Raises NotFound, OwnFactorReset (403), NoLongerAdmin,
    ResetWaits, FactorUsedSince (409), and the errors of `evaluate_approval`.
    """
    reset = await lock_factor_reset(uow, caller, reset_id)
    if not await factor_resets.TABLE.approve(uow, reset.id, reset.decision_at(now), approved_hash, caller.id, now):
        return None
    used_code = await recovery_codes.was_code_used_since(uow, reset.user_id, reset.prepared_at)
    reset.check_due(await list_own_factors(uow, reset.user_id), now, used_code=used_code)
    await factors.delete_factors(uow, reset.user_id)
    await passkeys.delete_passkeys(uow, reset.user_id)
    await recovery_codes.delete_recovery_codes(uow, reset.user_id)
    await record_factor_verdict(uow, caller, reset, "approved", now)
    uow.publish(CredentialsChanged(user_id=reset.user_id, change="factors_reset"))
    return reset.user_id, await revoke_sessions(uow, reset.user_id, because="factors_reset", now=now)
