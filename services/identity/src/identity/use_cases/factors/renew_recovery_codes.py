"""Renew the recovery codes."""

from datetime import datetime

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from contracts.identity import CredentialsChanged
from identity.credentials.recovery_codes import RecoveryCodes
from identity.domain.errors import SecondFactorMissing, SessionInvalid
from identity.domain.second_factors import RECOVERY_CODES
from identity.store import accounts
from identity.store.recovery_codes import delete_recovery_codes, record_recovery_codes


async def renew_recovery_codes(
    uow: UnitOfWork, recovery_codes: RecoveryCodes, caller: Caller, *, now: datetime
) -> list[str]:
    """Replace the recovery codes by ten new ones, shown only once.

    Raises SessionInvalid, SecondFactorMissing and StepUpRequired.
    """
    caller.must_have_stepped_up(now)
    # Without the lock two concurrent renewals would create twenty codes.
    if await accounts.lock_account(uow, caller.id) is None:
        raise SessionInvalid
    profile = await accounts.find_authorization_profile(uow, caller.id)
    if not profile.has_second_factor:
        raise SecondFactorMissing
    codes = [recovery_codes.new_code() for _ in range(RECOVERY_CODES)]
    await delete_recovery_codes(uow, caller.id)
    await record_recovery_codes(uow, caller.id, [recovery_codes.hash_of(caller.id, code) for code in codes], now)
    uow.publish(CredentialsChanged(user_id=caller.id, change="recovery_codes_renewed"))
    return codes
