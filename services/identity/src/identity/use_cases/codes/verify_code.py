"""Start a session with a code."""

import hmac
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn
from identity.domain.errors import SessionInvalid
from identity.domain.one_time_codes import Destination, is_redeemable
from identity.store import accounts, codes, profiles, sessions
from identity.use_cases.accounts.confirm_email import confirm_email
from identity.use_cases.accounts.publish_profile import publish_profile
from identity.use_cases.sessions.issue_tokens import issue_tokens
from identity.use_cases.sessions.revoke_sessions import RevokedSessions
from identity.use_cases.sessions.start_session import start_session


@dataclass(frozen=True, slots=True)
class Verified:
    """The tokens, and the sessions that the first confirmation of the address ended."""

    user_id: UUID
    signed: SignedIn
    revoked: RevokedSessions | None


async def verify_code(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    signing_keys: SigningKeys,
    destination: Destination,
    code: str,
    caller: Caller,
    *,
    matching_hash: str | None = None,
    user_agent: str | None,
    issuer: str,
    now: datetime,
) -> Verified | None:
    """Redeem a code once and return tokens at AAL1; None for an invalid code.

    None is a result and not an exception, because the count of tries must commit. The code confirms a mail address; the
    first confirmation removes earlier credentials. It confirms a number only for the signed-in user who requested it
    (contract section 10.1).
    """
    address_hash = hashes.of("address", destination.channel, destination.address)
    shown = hashes.of("sign_in", destination.address, code)
    seen = await codes.find_code(uow, "sign_in", address_hash)
    if seen is not None and seen.user_id is not None:
        # Lock order: profile, account, code.
        await profiles.lock_profile(uow, seen.user_id)
        await accounts.lock_password_hash(uow, seen.user_id)
    issued = await codes.lock_code(uow, "sign_in", address_hash)
    if issued is None or not is_redeemable(issued, now):
        return None
    await codes.count_try(uow, issued.id)
    user_id = issued.user_id
    if not hmac.compare_digest(issued.code_hash, shown) or user_id is None or seen is None or user_id != seen.user_id:
        return None
    claims = caller.user_id == user_id and await codes.may_confirm_phone(uow, user_id, destination)
    # The number may belong to another account since the code was sent.
    if not claims and await codes.find_sign_in_user(uow, destination) != user_id:
        return None
    await codes.mark_used(uow, issued.id, now)
    revoked = None
    if destination.channel == "email":
        revoked = await confirm_email(uow, hashes, user_id, destination.address, matching_hash=matching_hash, now=now)
    elif claims:
        for changed in await codes.save_confirmed_phone(uow, user_id, destination.address):
            await publish_profile(uow, changed)
    if claims and caller.issuer is not None:
        signed = await _in_session_of_the_issuer(uow, signing_keys, caller, user_id, issuer=issuer, now=now)
    else:
        signed = await start_session(
            uow, signing_keys, user_id, method="otp", user_agent=user_agent, issuer=issuer, now=now
        )
    return Verified(user_id, signed, revoked)


async def _in_session_of_the_issuer(
    uow: UnitOfWork, signing_keys: SigningKeys, caller: Caller, user_id: UUID, *, issuer: str, now: datetime
) -> SignedIn:
    """Return tokens for the further issuer's session, which limits the roles. Raises SessionInvalid."""
    sign_in = await sessions.lock_session(uow, caller.session_id, user_id) if caller.session_id else None
    if sign_in is None:
        raise SessionInvalid
    profile = await accounts.find_authorization_profile(uow, user_id)
    return await issue_tokens(uow, signing_keys, profile, sign_in, issuer=issuer, now=now)
