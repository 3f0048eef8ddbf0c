"""Sign an access token for a refresh token."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn, sign_access_token
from identity.domain.authorization_profile import AuthorizationProfile, SignIn
from identity.domain.errors import ConfirmationRequired, UserSuspended
from identity.store import keys, sessions


class NoSigningKey(Exception):
    """The service never started on this database; the first start creates the key."""


async def sign_tokens(
    uow: UnitOfWork,
    signing_keys: SigningKeys,
    profile: AuthorizationProfile,
    sign_in: SignIn,
    refresh_token: str,
    *,
    issuer: str,
    now: datetime,
) -> SignedIn:
    """Return a new access token with the refresh token. Stores nothing. Raises like `issue_tokens`."""
    if profile.is_suspended:
        raise UserSuspended
    if profile.awaits_confirmation:
        raise ConfirmationRequired
    current = await keys.find_current_key(uow, now)
    if current is None:
        raise NoSigningKey
    if await sessions.is_without_staff_roles(uow, sign_in.session_id):
        profile = profile.without_staff_roles()
    key = signing_keys.open(*current)
    return SignedIn(
        access_token=sign_access_token(key, profile, sign_in, issuer=issuer, now=now),
        refresh_token=refresh_token,
        aal=sign_in.aal,
        mfa_required=profile.has_second_factor and sign_in.aal == "aal1",
    )
