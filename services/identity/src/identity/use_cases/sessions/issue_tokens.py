"""Issue the tokens of a session."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn, new_refresh_token, stored_hash
from identity.domain.authorization_profile import AuthorizationProfile, SignIn
from identity.domain.sessions import REFRESH_LIFE
from identity.store import sessions
from identity.use_cases.sessions.sign_tokens import sign_tokens


async def issue_tokens(
    uow: UnitOfWork,
    signing_keys: SigningKeys,
    profile: AuthorizationProfile,
    sign_in: SignIn,
    *,
    issuer: str,
    now: datetime,
    successor: str | None = None,
) -> SignedIn:
    """Issue an access token with the user's current rights, and a refresh token for one use.

    `successor` is the refresh token that replaces an exchanged one. Raises UserSuspended, and ConfirmationRequired
    before the address is confirmed: every sign-in ends here, so none can omit the checks.
    """
    refresh_token = successor or new_refresh_token(sign_in.session_id)
    signed = await sign_tokens(uow, signing_keys, profile, sign_in, refresh_token, issuer=issuer, now=now)
    await sessions.record_refresh_token(
        uow, stored_hash(refresh_token), sign_in, issued_at=now, expires_at=now + REFRESH_LIFE
    )
    return signed
