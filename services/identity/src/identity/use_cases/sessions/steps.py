"""Steps of sessions that several operations share."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from identity.credentials.tokens import SignedIn, TokenIssuer, new_refresh_token, sign_access_token, stored_hash
from identity.domain.authorization_profile import AuthorizationProfile, SignIn
from identity.domain.errors import ConfirmationRequired, UserSuspended
from identity.domain.sessions import REFRESH_LIFE
from identity.domain.user_agents import printable_user_agent
from identity.store import accounts, keys, sessions


class NoSigningKey(Exception):
    """The service never started on this database; the first start creates the key."""


async def sign_tokens(
    uow: UnitOfWork,
    token_issuer: TokenIssuer,
    profile: AuthorizationProfile,
    sign_in: SignIn,
    refresh_token: str,
    *,
    now: datetime,
) -> SignedIn:
    """Return a new access token with the refresh token. Stores nothing. Raises like `issue_tokens`."""
    if profile.is_suspended:
        raise UserSuspended(profile.user_id)
    if profile.awaits_confirmation:
        raise ConfirmationRequired
    current = await keys.find_current_key(uow, now)
    if current is None:
        raise NoSigningKey
    if await sessions.is_without_staff_roles(uow, sign_in.session_id):
        profile = profile.without_staff_roles()
    key = token_issuer.signing_keys.open(*current)
    return SignedIn(
        user_id=profile.user_id,
        access_token=sign_access_token(key, profile, sign_in, issuer=token_issuer.issuer, now=now),
        refresh_token=refresh_token,
        aal=sign_in.aal,
        mfa_required=profile.has_second_factor and sign_in.aal == "aal1",
    )


async def issue_tokens(
    uow: UnitOfWork,
    token_issuer: TokenIssuer,
    profile: AuthorizationProfile,
    sign_in: SignIn,
    *,
    now: datetime,
    successor: str | None = None,
) -> SignedIn:
    """Issue an access token with the user's current rights, and a refresh token for one use.

    `successor` is the refresh token that replaces an exchanged one. Raises UserSuspended, and ConfirmationRequired
    before the address is confirmed: every sign-in ends here, so none can omit the checks.
    """
    refresh_token = successor or new_refresh_token(sign_in.session_id)
    signed = await sign_tokens(uow, token_issuer, profile, sign_in, refresh_token, now=now)
    await sessions.record_refresh_token(
        uow, stored_hash(refresh_token), sign_in, issued_at=now, expires_at=now + REFRESH_LIFE
    )
    return signed


async def start_session(
    uow: UnitOfWork,
    token_issuer: TokenIssuer,
    user_id: UUID,
    sign_in: SignIn,
    *,
    user_agent: str | None,
    now: datetime,
) -> SignedIn:
    """Start the session of a user who authenticated as `sign_in` says, and return its tokens."""
    await sessions.record_session(uow, user_id, sign_in, printable_user_agent(user_agent))
    profile = await accounts.find_authorization_profile(uow, user_id)
    return await issue_tokens(uow, token_issuer, profile, sign_in, now=now)
