"""Step up to AAL2 with a passkey."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.observability.logging import get_logger
from common.primitives.json_records import Json
from identity.credentials.passkeys import Passkeys
from identity.credentials.tokens import SignedIn, TokenIssuer
from identity.domain.errors import ChallengeInvalid, PasskeyRejected, SessionInvalid
from identity.domain.second_factors import SignCountRegressed, check_sign_count
from identity.store import accounts, passkeys, sessions
from identity.use_cases.sessions.steps import issue_tokens

log = get_logger(__name__)


async def verify_passkey(
    uow: UnitOfWork,
    authenticators: Passkeys,
    token_issuer: TokenIssuer,
    caller: Caller,
    challenge_id: UUID,
    response: Mapping[str, Json],
    *,
    now: datetime,
) -> SignedIn:
    """Verify an assertion and return tokens at AAL2. The challenge is used up.

    Raises SessionInvalid, ChallengeInvalid and PasskeyRejected. Failures are not counted: nothing can be guessed.
    """
    account = await accounts.lock_account(uow, caller.id)
    session = await sessions.lock_session(uow, caller.session_id, caller.id) if caller.session_id else None
    if account is None or session is None:
        raise SessionInvalid
    challenge = await passkeys.claim_challenge(uow, challenge_id, caller.id, session.session_id, "assertion", now)
    if challenge is None:
        raise ChallengeInvalid
    shown = authenticators.read_shown(response, caller.id)
    passkey = await passkeys.find_passkey(uow, caller.id, shown.credential_id)
    if passkey is None:
        raise PasskeyRejected
    sign_count = authenticators.sign_count_of(shown, challenge, passkey.public_key)
    if isinstance(check_sign_count(passkey.sign_count, sign_count), SignCountRegressed):
        log.warning(
            "passkey rejected: its signature counter did not increase, the key may be cloned",
            user_id=str(caller.id),
            passkey_id=str(passkey.id),
        )
        raise PasskeyRejected
    await passkeys.save_passkey_used(uow, passkey.id, sign_count, now)
    profile = await accounts.find_authorization_profile(uow, caller.id)
    stepped_up = session.stepped_up("passkey", passkey.id, now)
    return await issue_tokens(uow, token_issuer, profile, stepped_up, now=now)
