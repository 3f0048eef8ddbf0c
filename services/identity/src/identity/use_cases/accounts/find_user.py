"""Find the user of a further issuer's token."""

from datetime import datetime
from uuid import UUID

from common.auth.issuers import FederatedIdentity
from common.auth.user_lookup import LocalUser, ProfileMissing
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Unauthorized
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.addresses import normal_email
from identity.queries.user_lookup import is_session_revoked
from identity.store import accounts, codes, profiles
from identity.use_cases.accounts.steps import confirm_email


async def find_user(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    session_id: UUID | None,
    *,
    federated: FederatedIdentity | None = None,
    now: datetime,
) -> LocalUser:
    """Return the current roles, vendor and campus of a user of a further issuer.

    If the issuer of `federated` has verified the address, it is confirmed here too, and the first confirmation removes
    earlier credentials. Raises ProfileMissing (403) before create-user was called, and Unauthorized when the session
    has ended or the user is suspended.
    """
    session_revoked = await is_session_revoked(uow, user_id, session_id)
    if session_revoked is None:
        raise ProfileMissing(user_id)
    if session_revoked:
        raise Unauthorized("The session has ended. Sign in again.")
    if federated is not None and federated.email_verified:
        await _confirm_by_issuer(uow, hashes, federated, now)
    profile = await accounts.find_authorization_profile(uow, user_id)
    if profile.is_suspended:
        raise Unauthorized
    return LocalUser(
        frozenset(profile.roles),
        profile.vendor_id,
        profile.campus_id,
        profile.email_confirmed,
        profile.hub_id,
        profile.packing_vendor_id,
    )


async def _confirm_by_issuer(uow: UnitOfWork, hashes: KeyedHashes, federated: FederatedIdentity, now: datetime) -> None:
    """Confirm the profile's address, unless the token names another one."""
    user_id = federated.user_id
    email = await profiles.find_email(uow, user_id)
    if email is None or (federated.email is not None and normal_email(federated.email) != email):
        return
    if await codes.is_email_confirmed(uow, user_id):
        return
    await profiles.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    await confirm_email(uow, hashes, user_id, email, matching_hash=None, now=now, besides=federated.session_id)
