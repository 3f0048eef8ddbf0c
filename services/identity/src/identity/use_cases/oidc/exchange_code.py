"""Exchange the one-time code of a finished sign-in."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.oidc_tokens import challenge_of
from identity.credentials.tokens import SignedIn, TokenIssuer, stored_hash
from identity.domain.authorization_profile import SignIn
from identity.domain.oidc import SESSION_METHOD, STEP_UP_METHOD
from identity.store import oidc
from identity.use_cases.sessions.steps import start_session


async def exchange_code(
    uow: UnitOfWork,
    token_issuer: TokenIssuer,
    code: str,
    verifier: str | None,
    *,
    user_agent: str | None,
    now: datetime,
) -> SignedIn | None:
    """Start the session of the code, at AAL2 if the provider saw a second factor; None for an unusable code.

    A code of a flow with a challenge needs its verifier. None is a result and not an exception, because the deletion
    of the code must commit.
    """
    stored = await oidc.claim_code(uow, stored_hash(code))
    if stored is None or stored.expires_at <= now:
        return None
    # A verifier without a challenge is an attempt to use the code of another flow (RFC 9700, 2.1.1).
    if (None if verifier is None else challenge_of(verifier)) != stored.code_challenge:
        return None
    sign_in = SignIn(new_id(), now, method=SESSION_METHOD)
    if stored.stepped_up_at is not None:
        sign_in = sign_in.stepped_up(STEP_UP_METHOD, None, stored.stepped_up_at)
    signed = await start_session(uow, token_issuer, stored.user_id, sign_in, user_agent=user_agent, now=now)
    await oidc.record_oidc_session(uow, sign_in.session_id, stored.subject)
    return signed
