"""Create a challenge for a passkey's assertion."""

from datetime import datetime

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.passkeys import Passkeys
from identity.domain.errors import SecondFactorMissing, SessionInvalid
from identity.domain.second_factors import Challenge
from identity.store import accounts, passkeys


async def start_passkey_assertion(
    uow: UnitOfWork, authenticators: Passkeys, caller: Caller, *, now: datetime
) -> Challenge:
    """Return a challenge for this session and the options of an assertion.

    Raises SessionInvalid and SecondFactorMissing.
    """
    # Serialized with every change of the account's factors.
    if await accounts.lock_account(uow, caller.id) is None or caller.session_id is None:
        raise SessionInvalid
    held = await passkeys.list_credential_ids(uow, caller.id)
    if not held:
        raise SecondFactorMissing
    challenge_id, challenge = new_id(), authenticators.new_challenge()
    expires_at = await passkeys.record_challenge(
        uow, challenge_id, caller.id, caller.session_id, "assertion", challenge, now
    )
    return Challenge(challenge_id, expires_at, authenticators.request_options(challenge, held))
