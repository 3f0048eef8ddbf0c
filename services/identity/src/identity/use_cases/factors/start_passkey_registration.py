"""Create a challenge for a new passkey."""

from datetime import datetime

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.passkeys import Passkeys
from identity.domain.errors import SessionInvalid, TooManyFactors
from identity.domain.second_factors import FACTORS_OF_A_KIND_MAX, Challenge
from identity.store import accounts, passkeys


async def start_passkey_registration(
    uow: UnitOfWork, authenticators: Passkeys, caller: Caller, *, now: datetime
) -> Challenge:
    """Return a challenge for this session and the options of a new passkey.

    Raises SessionInvalid, TooManyFactors, and StepUpRequired when the user has a factor.
    """
    account = await accounts.lock_account(uow, caller.id)
    if account is None or caller.session_id is None:
        raise SessionInvalid
    profile = await accounts.find_authorization_profile(uow, caller.id)
    if profile.has_second_factor:
        caller.must_have_stepped_up(now)
    held = await passkeys.list_credential_ids(uow, caller.id)
    if len(held) >= FACTORS_OF_A_KIND_MAX:
        raise TooManyFactors
    challenge_id, challenge = new_id(), authenticators.new_challenge()
    expires_at = await passkeys.record_challenge(
        uow, challenge_id, caller.id, caller.session_id, "registration", challenge, now
    )
    options = authenticators.creation_options(caller.id, account.email, challenge, held)
    return Challenge(challenge_id, expires_at, options)
