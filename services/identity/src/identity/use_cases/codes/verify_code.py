"""Start a session with a code."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.code_hashes import address_hash_of, source_hash_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.tokens import SignedIn, TokenIssuer
from identity.domain.authorization_profile import SignIn
from identity.domain.errors import SessionInvalid
from identity.domain.one_time_codes import Destination, IssuedCode, codes_with_tries_left
from identity.store import accounts, codes, profiles, sessions
from identity.use_cases.accounts.steps import confirm_email, publish_profile
from identity.use_cases.codes.steps import free_mail_budgets
from identity.use_cases.sessions.revoke_sessions import RevokedSessions
from identity.use_cases.sessions.steps import issue_tokens, start_session


@dataclass(frozen=True, slots=True)
class Verified:
    """The tokens, and the sessions that the first confirmation of the address ended."""

    user_id: UUID
    signed: SignedIn
    revoked: RevokedSessions | None


@dataclass(frozen=True, slots=True)
class ShownCode:
    """A code of a destination that a client shows: `source` is the client's address."""

    destination: Destination
    code: str = field(repr=False)
    source: str
    user_agent: str | None


async def verify_code(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    token_issuer: TokenIssuer,
    presented: ShownCode,
    caller: Caller,
    *,
    matching_hash: str | None = None,
    now: datetime,
) -> Verified | None:
    """Redeem a code once and return tokens at AAL1; None for an invalid code.

    None is a result and not an exception, because the count of tries must commit. A wrong code counts for each valid
    code of the address, by the client's `source`: an attacker uses up no try of the owner (contract section 10.2).

    The code confirms a mail address; the first confirmation removes earlier credentials. It confirms a number only for
    the signed-in user who requested it (contract section 10.1).
    """
    destination, source = presented.destination, presented.source
    address_hash, source_hash = address_hash_of(hashes, destination), source_hash_of(hashes, source)
    shown = hashes.of("sign_in", destination.address, presented.code)
    seen = _matching(await codes.list_valid_codes(uow, "sign_in", address_hash, now), shown)
    if seen is not None and seen.user_id is not None:
        # Lock order: profile, account, codes.
        await profiles.lock_profile(uow, seen.user_id)
        await accounts.lock_password_hash(uow, seen.user_id)
    # Two tries of one code wait for each other here, and the second reads the tries of the first.
    issued = await codes.lock_valid_codes(uow, "sign_in", address_hash, now)
    tries = await codes.find_tries(uow, [one.id for one in issued], source_hash)
    tried = codes_with_tries_left(issued, tries, now)
    match = _matching(tried, shown)
    user_id = None if match is None else match.user_id
    if match is None or user_id is None or seen is None or match.id != seen.id or user_id != seen.user_id:
        await codes.count_wrong_try(uow, [one.id for one in tried], source_hash)
        return None
    claims = caller.user_id == user_id and await codes.may_confirm_phone(uow, user_id, destination)
    # The number may belong to another account since the code was sent.
    if not claims and await codes.find_sign_in_user(uow, destination) != user_id:
        return None
    await codes.mark_used(uow, match.id, now)
    await codes.expire_codes_of_address(uow, "sign_in", address_hash, now)
    revoked = None
    if destination.channel == "email":
        await free_mail_budgets(uow, hashes, "sign_in", destination.address, source)
        revoked = await confirm_email(uow, hashes, user_id, destination.address, matching_hash=matching_hash, now=now)
    elif claims:
        for changed in await codes.save_confirmed_phone(uow, user_id, destination.address):
            await publish_profile(uow, changed)
    if claims and caller.issuer is not None:
        signed = await _in_session_of_the_issuer(uow, token_issuer, caller, user_id, now=now)
    else:
        sign_in = SignIn(new_id(), now, method="otp")
        signed = await start_session(uow, token_issuer, user_id, sign_in, user_agent=presented.user_agent, now=now)
    return Verified(user_id, signed, revoked)


def _matching(issued: Sequence[IssuedCode], shown: bytes) -> IssuedCode | None:
    return next((one for one in issued if hmac.compare_digest(one.code_hash, shown)), None)


async def _in_session_of_the_issuer(
    uow: UnitOfWork, token_issuer: TokenIssuer, caller: Caller, user_id: UUID, *, now: datetime
) -> SignedIn:
    """Return tokens for the further issuer's session, which limits the roles. Raises SessionInvalid."""
    sign_in = await sessions.lock_session(uow, caller.session_id, user_id) if caller.session_id else None
    if sign_in is None:
        raise SessionInvalid
    profile = await accounts.find_authorization_profile(uow, user_id)
    return await issue_tokens(uow, token_issuer, profile, sign_in, now=now)
