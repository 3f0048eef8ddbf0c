"""Say who a person is."""

from datetime import datetime
from uuid import UUID

from common.auth.issuers import FederatedIdentity
from common.auth.user_lookup import LocalUser, ProfileMissing
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import Unauthorized
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.addresses import normal_email
from identity.queries.user_lookup import is_session_ended
from identity.store import accounts, codes
from identity.store import profiles as people
from identity.use_cases.accounts.prove_email import prove_email


async def find_user(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    session_id: UUID | None,
    *,
    stranger: FederatedIdentity | None = None,
    now: datetime,
) -> LocalUser:
    """Roles, vendor and campus of somebody whom a further issuer vouches for, at this moment.

    When the issuer of `stranger` says that the address is proven, it is proven for us too, and the first proof removes what was
    set before it.

    This is the one place that can lock such a person out. Raises ProfileMissing (403) before create-user was called, and
    Unauthorized when the session was ended or the person is suspended.
    """
    session_ended = await is_session_ended(uow, user_id, session_id)
    if session_ended is None:
        raise ProfileMissing(user_id)
    if session_ended:
        raise Unauthorized("The session was ended. Sign in again.")
    if stranger is not None and stranger.email_verified:
        await _take_proof(uow, hashes, stranger, now)
    standing = await accounts.find_authorization_profile(uow, user_id)
    if standing.is_suspended:
        raise Unauthorized
    return LocalUser(frozenset(standing.roles), standing.vendor_id, standing.campus_id, standing.email_confirmed)


async def _take_proof(uow: UnitOfWork, hashes: KeyedHashes, stranger: FederatedIdentity, now: datetime) -> None:
    """A token that names another address than the profile's proves nothing about the profile's."""
    user_id = stranger.user_id
    email = await people.find_email(uow, user_id)
    if email is None or (stranger.email is not None and normal_email(stranger.email) != email):
        return
    if await codes.is_email_confirmed(uow, user_id):
        return
    await people.lock_profile(uow, user_id)
    await accounts.lock_password_hash(uow, user_id)
    await prove_email(uow, hashes, user_id, email, kept_hash=None, now=now, besides=stranger.session_id)
