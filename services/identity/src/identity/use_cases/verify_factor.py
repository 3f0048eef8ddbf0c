"""Step up to AAL2."""

from datetime import datetime
from uuid import UUID

from common.caller import Caller
from common.database import UnitOfWork
from identity.credentials.one_time_codes import OneTimeCodes
from identity.credentials.signing_keys import SigningKeys
from identity.credentials.tokens import SignedIn
from identity.domain.errors import SessionNotHeld, TooManyWrongCodes
from identity.domain.one_time_codes import blocked_until
from identity.domain.standing import SignIn
from identity.store import accounts, factors, sessions
from identity.store.factors import Factor
from identity.use_cases.issue_tokens import issue_tokens


async def verify_factor(
    uow: UnitOfWork,
    codes: OneTimeCodes,
    signing_keys: SigningKeys,
    caller: Caller,
    code: str,
    factor_id: UUID | None,
    *,
    issuer: str,
    now: datetime,
) -> SignedIn | None:
    """A person shows a one-time code in a session of theirs and gets tokens at AAL2; the code never works again.

    None means a wrong code; it is no exception, because the count of wrong codes must commit. Raises SessionNotHeld
    and TooManyWrongCodes, and StepUpRequired for a first code of a further factor at AAL1.
    """
    account = await accounts.lock_account(uow, caller.id)
    session = await sessions.lock_session(uow, caller.session_id, caller.id) if caller.session_id else None
    if account is None or session is None:
        raise SessionNotHeld
    if account.code_blocked_until is not None and now < account.code_blocked_until:
        raise TooManyWrongCodes(account.code_blocked_until - now)
    accepted = _accepted(codes, await factors.list_factors(uow, caller.id), code, factor_id, caller, now)
    if accepted is None:
        failures = account.code_failures + 1
        await accounts.save_code_failures(uow, caller.id, failures, blocked_until(failures, now))
        return None
    await factors.save_factor_used(uow, accepted[0].id, accepted[1], now)
    await accounts.save_code_failures(uow, caller.id, 0, None)
    standing = await accounts.find_standing(uow, caller.id)
    sign_in = SignIn(session.session_id, session.signed_in_at, now)
    return await issue_tokens(uow, signing_keys, standing, sign_in, issuer=issuer, now=now)


def _accepted(
    codes: OneTimeCodes, enrolled: list[Factor], code: str, factor_id: UUID | None, caller: Caller, now: datetime
) -> tuple[Factor, int] | None:
    """The factor whose code this is, with the code's time step.

    Without a named factor the confirmed ones are asked, or else the new one that is being confirmed.
    """
    confirmed = [factor for factor in enrolled if factor.confirmed]
    asked = [factor for factor in enrolled if factor.id == factor_id] if factor_id else confirmed or enrolled
    for factor in asked:
        if confirmed and not factor.confirmed:
            # Otherwise whoever has the password alone could confirm a factor of their own beside the owner's.
            caller.must_have_stepped_up(now)
        secret = codes.unseal(factor.id, factor.secret_sealed)
        counter = codes.counter_of(secret, code, now, after=factor.last_counter)
        if counter is not None:
            return factor, counter
    return None
