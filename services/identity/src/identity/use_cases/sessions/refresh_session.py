"""Exchange a refresh token."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import SessionRevoked
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.tokens import SignedIn, TokenIssuer, hash_of_presented, stored_hash, successor_of
from identity.domain.authorization_profile import SignIn
from identity.domain.sessions import Invalid, Repeated, StoredRefreshToken, Usable, evaluate_refresh
from identity.store import accounts, sessions
from identity.use_cases.sessions.steps import issue_tokens, sign_tokens


async def refresh_session(
    uow: UnitOfWork, token_issuer: TokenIssuer, hashes: KeyedHashes, token: str, *, now: datetime
) -> SignedIn | None:
    """Exchange a refresh token for its successor and a new access token; None when nothing is issued.

    Within 30 s an unused successor is returned again. Any other reuse revokes the session. None is a result and not an
    exception, because the revocation must commit.
    """
    token_hash = hash_of_presented(token)
    shown = await sessions.lock_refresh_token(uow, token_hash) if token_hash else None
    if shown is None or token_hash is None:
        return None
    verdict = evaluate_refresh(shown, now)
    if isinstance(verdict, Invalid):
        return None
    successor = successor_of(token, hashes)
    if isinstance(verdict, Usable):
        await sessions.mark_refresh_token_used(uow, token_hash, now)
        profile = await accounts.find_authorization_profile(uow, shown.user_id)
        return await issue_tokens(uow, token_issuer, profile, _sign_in_of(shown), now=now, successor=successor)
    if isinstance(verdict, Repeated):
        present = await sessions.find_refresh_token(uow, stored_hash(successor))
        if present is None:
            # Exchanged under another key or by the previous release: no theft is proven, and nothing can be repeated.
            return None
        if isinstance(evaluate_refresh(present, now), Usable):
            profile = await accounts.find_authorization_profile(uow, present.user_id)
            return await sign_tokens(uow, token_issuer, profile, _sign_in_of(present), successor, now=now)
    await sessions.revoke_session_if_active(uow, shown.session_id, shown.user_id, now, "refresh_token_reused")
    uow.publish(SessionRevoked(user_id=shown.user_id, session_id=shown.session_id, not_before=iso(now)))
    return None


def _sign_in_of(token: StoredRefreshToken) -> SignIn:
    return SignIn(
        token.session_id,
        token.signed_in_at,
        token.stepped_up_at,
        token.method,
        token.stepped_up_by,
        token.stepped_up_factor_id,
    )
