"""Remove a second factor."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.identity import CredentialsChanged
from identity.domain.errors import LastFactorOfStaff
from identity.domain.second_factors import RequiredByAppointment, check_removal
from identity.queries.factors import list_own_factors
from identity.store import accounts, factors, recovery_codes, sessions


async def remove_factor(uow: UnitOfWork, caller: Caller, factor_id: UUID, *, now: datetime) -> None:
    """Remove a second factor, and AAL2 from the refresh tokens that it stepped up.

    The last factor also removes the recovery codes and their step-ups. Raises NotFound, LastFactorOfStaff and
    StepUpRequired.
    """
    caller.must_have_stepped_up(now)
    # The account's lock covers all its factors: of two removals the second sees which factor is the last.
    if await accounts.lock_account(uow, caller.id) is None:
        raise NotFound
    owned = await list_own_factors(uow, caller.id)
    factor = next((factor for factor in owned if factor.id == factor_id), None)
    if factor is None:
        raise NotFound
    profile = await accounts.find_authorization_profile(uow, caller.id)
    verdict = check_removal(factor, owned, profile.roles)
    if isinstance(verdict, RequiredByAppointment):
        raise LastFactorOfStaff
    await factors.remove_factor(uow, caller.id, factor)
    if verdict.is_last:
        await recovery_codes.delete_recovery_codes(uow, caller.id)
    await sessions.lock_sessions(uow, caller.id, besides=None)
    await sessions.clear_step_ups(uow, caller.id, None if verdict.is_last else factor.id)
    uow.publish(CredentialsChanged(user_id=caller.id, change="factor_removed"))
