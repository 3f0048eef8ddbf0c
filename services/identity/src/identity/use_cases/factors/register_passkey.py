"""Register a passkey."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.json_records import Json
from contracts.identity import CredentialsChanged
from identity.credentials.passkeys import Passkeys
from identity.domain.errors import ChallengeInvalid, PasskeyRejected, SessionInvalid, TooManyFactors
from identity.domain.second_factors import FACTORS_OF_A_KIND_MAX, Factor
from identity.store import accounts, passkeys


async def register_passkey(
    uow: UnitOfWork,
    authenticators: Passkeys,
    caller: Caller,
    challenge_id: UUID,
    name: str,
    response: Mapping[str, Json],
    *,
    now: datetime,
) -> Factor:
    """Store a passkey created for a challenge of this session as a second factor.

    Raises SessionInvalid, ChallengeInvalid, PasskeyRejected, TooManyFactors and StepUpRequired.
    """
    # The account's lock covers all its factors: concurrent registrations cannot exceed the limit.
    account = await accounts.lock_account(uow, caller.id)
    if account is None or caller.session_id is None:
        raise SessionInvalid
    profile = await accounts.find_authorization_profile(uow, caller.id)
    if profile.has_second_factor:
        # Checked again: an attacker with the password could have got a challenge before the owner had a factor.
        caller.must_have_stepped_up(now)
    challenge = await passkeys.claim_challenge(uow, challenge_id, caller.id, caller.session_id, "registration", now)
    if challenge is None:
        raise ChallengeInvalid
    made = authenticators.read_new(response, challenge)
    if len(await passkeys.list_credential_ids(uow, caller.id)) >= FACTORS_OF_A_KIND_MAX:
        raise TooManyFactors
    factor = Factor(new_id(), "passkey", name, now, None, confirmed=True)
    if not await passkeys.record_passkey_if_new(uow, caller.id, factor, made):
        raise PasskeyRejected
    uow.publish(CredentialsChanged(user_id=caller.id, change="factor_added"))
    return factor
