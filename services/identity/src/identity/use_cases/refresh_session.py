"""Exchange a refresh token."""

from datetime import datetime

from common.clock import iso
from common.database import UnitOfWork
from contracts.identity import SessionRevoked
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn, shown_hash
from identity.domain.sessions import Reused, Usable, judge_refresh
from identity.domain.standing import SignIn
from identity.store import accounts, sessions
from identity.use_cases.issue_tokens import issue_tokens


async def refresh_session(
    uow: UnitOfWork, signing_keys: SigningKeys, token: str, *, issuer: str, now: datetime
) -> SignedIn | None:
    """A refresh token is exchanged for new tokens, once; shown again it ends the session and its whole family.

    None means that nothing was issued. It is an answer and no exception, because the end of the family must commit.
    """
    token_hash = shown_hash(token)
    shown = await sessions.lock_refresh_token(uow, token_hash) if token_hash else None
    if shown is None or token_hash is None:
        return None
    verdict = judge_refresh(shown, now)
    if isinstance(verdict, Reused):
        await sessions.end_session_once(uow, shown.session_id, shown.user_id, now, "refresh_token_reused")
        uow.publish(SessionRevoked(user_id=shown.user_id, session_id=shown.session_id, not_before=iso(now)))
    if not isinstance(verdict, Usable):
        return None
    await sessions.mark_refresh_token_used(uow, token_hash, now)
    standing = await accounts.find_standing(uow, shown.user_id)
    sign_in = SignIn(
        shown.session_id,
        shown.signed_in_at,
        shown.stepped_up_at,
        shown.method,
        shown.stepped_up_by,
        shown.stepped_up_factor_id,
    )
    return await issue_tokens(uow, signing_keys, standing, sign_in, issuer=issuer, now=now)
