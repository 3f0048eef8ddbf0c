"""Say who a person is."""

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
from identity.use_cases.accounts.confirm_email import confirm_email


async def find_user(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    session_id: UUID | None,
    *,
    federated: FederatedIdentity | None = None,
    now: datetime,
) -> LocalUser:
    """Roles, vendor and campus of somebody whom a further issuer vouches for, at this moment.

    When the issuer of `stranger` says that the address is proven, it is proven for us too, and the first proof removes what was
    set before it.

    This is the one place that can lock such a person out. Raises ProfileMissing (403) before create-user was called, and
    Unauthorized when the session was ended or the person is suspended.
    """
    session_revoked = await is_session_revoked(uow, user_id, session_id)
    if session_revoked is None:
        raise ProfileMissing(user_id)
    if session_revoked:
        raise Unauthorized("The session was ended. Sign in again.")
    if federated is not None and federated.email_verified:
        await _confirm_by_issuer(uow, hashes, federated, now)
    profile = await accounts.find_authorization_profile(uow, user_id)
    if profile.is_suspended:
        raise Unauthorized
    return LocalUser(frozenset(profile.roles), profile.vendor_id, profile.campus_id, profile.email_confirmed)


async def _confirm_by_issuer(uow: UnitOfWork, hashes: KeyedHashes, federated: FederatedIdentity, now: datetime) -> None:
    """A token that names another address than the profile's proves nothing about the profile's."""
    user_id = federated.user_id
    email = await profiles.find_email(uow, user_id)
    if email is None or (federated.email is not None and normal_email(federated.email) != email):
        return
    if await codes.is_email_confirmed(uow, user_id):
        return
    await profiles.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    await confirm_email(uow, hashes, user_id, email, matching_hash=None, now=now, besides=federated.session_id)
