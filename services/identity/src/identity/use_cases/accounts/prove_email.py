"""Prove the mail address of an account."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from contracts.identity import EmailConfirmed
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.sign_up_passwords import sign_up_address_hash
from identity.store import accounts, codes, factors, passkeys, recovery_codes, sessions, sign_ups
from identity.store import profiles as people
from identity.use_cases.accounts.publish_profile import publish_profile
from identity.use_cases.sessions.end_sessions import Ended, end_sessions


async def prove_email(
    uow: UnitOfWork,
    hashes: KeyedHashes,
    user_id: UUID,
    email: str,
    *,
    kept_hash: str | None,
    now: datetime,
    besides: UUID | None = None,
) -> Ended | None:
    """The first proof of the address ends all sessions and removes every credential that was set before it; None when it was
    proven before (contract section 10.1).

    `kept_hash` is the stored hash that the prover's password matched: that password stays, and so does the telephone number
    given with it. Without it the account may have been opened by another person. A session `besides` is one of a further
    issuer, whose token brought the proof. The caller holds the profile's and the account's row.
    """
    if not await codes.save_confirmed_email(uow, user_id, email):
        return None
    await factors.forget_factors(uow, user_id)
    await recovery_codes.forget_recovery_codes(uow, user_id)
    await passkeys.forget_passkeys(uow, user_id)
    await accounts.save_code_failures(uow, user_id, 0, None)
    await codes.end_codes(uow, user_id, now)
    await sign_ups.forget_sign_up_passwords(uow, sign_up_address_hash(hashes, email))
    stored_hash = await accounts.lock_password_hash(uow, user_id)
    if stored_hash is not None and stored_hash != kept_hash:
        await accounts.set_password_hash(uow, user_id, None)
        if await people.forget_unproven_phone(uow, user_id, now):
            await publish_profile(uow, user_id)
    ended = await end_sessions(uow, user_id, because="address_proven", now=now, besides=besides)
    await sessions.forget_step_ups(uow, user_id, None)
    reward_minor = await people.find_reward(uow, user_id)
    uow.publish(EmailConfirmed(user_id=user_id, confirmed_at=iso(now), referral_reward_minor=reward_minor))
    return ended
