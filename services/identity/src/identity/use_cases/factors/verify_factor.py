"""Step up to AAL2 with a code."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from contracts.identity import CredentialsChanged
from identity.credentials.recovery_codes import RecoveryCodes, is_recovery_code
from identity.credentials.tokens import SignedIn, TokenIssuer
from identity.credentials.totp import Totp
from identity.domain.authorization_profile import SignIn
from identity.domain.errors import FactorIdWithRecoveryCode, SessionInvalid, TooManyWrongCodes
from identity.domain.totp_delays import blocked_until
from identity.queries.factors import list_own_factors
from identity.store import accounts, factors, sessions
from identity.store.recovery_codes import claim_recovery_code
from identity.use_cases.sessions.steps import issue_tokens


@dataclass(frozen=True, slots=True)
class FactorCode:
    """A shown TOTP or recovery code, and the factor that the caller names for it."""

    code: str = field(repr=False)
    factor_id: UUID | None


async def verify_factor(
    uow: UnitOfWork,
    totp: Totp,
    recovery_codes: RecoveryCodes,
    token_issuer: TokenIssuer,
    caller: Caller,
    shown: FactorCode,
    *,
    now: datetime,
) -> SignedIn | None:
    """Redeem a TOTP or recovery code and return tokens at AAL2; None for a wrong code.

    None is a result and not an exception, because the count of wrong codes must commit. Raises SessionInvalid,
    TooManyWrongCodes, FactorIdWithRecoveryCode, and StepUpRequired for the first code of a further factor at AAL1.
    """
    account = await accounts.lock_account(uow, caller.id)
    session = await sessions.lock_session(uow, caller.session_id, caller.id) if caller.session_id else None
    if account is None or session is None:
        raise SessionInvalid
    if account.code_blocked_until is not None and now < account.code_blocked_until:
        raise TooManyWrongCodes(account.code_blocked_until - now)
    if is_recovery_code(shown.code):
        if shown.factor_id is not None:
            raise FactorIdWithRecoveryCode
        stepped_up = await _by_recovery_code(uow, recovery_codes, session, caller, shown.code, now)
    else:
        stepped_up = await _by_totp(uow, totp, session, caller, shown, now)
    if stepped_up is None:
        failures = account.code_failures + 1
        await accounts.save_code_failures(uow, caller.id, failures, blocked_until(failures, now))
        return None
    await accounts.save_code_failures(uow, caller.id, 0, None)
    profile = await accounts.find_authorization_profile(uow, caller.id)
    return await issue_tokens(uow, token_issuer, profile, stepped_up, now=now)


async def _by_recovery_code(
    uow: UnitOfWork, recovery_codes: RecoveryCodes, session: SignIn, caller: Caller, code: str, now: datetime
) -> SignIn | None:
    code_hash = recovery_codes.hash_of(caller.id, code)
    if not await claim_recovery_code(uow, caller.id, code_hash, now):
        return None
    uow.publish(CredentialsChanged(user_id=caller.id, change="recovery_code_used"))
    return session.stepped_up("recovery_code", None, now)


async def _by_totp(
    uow: UnitOfWork, totp: Totp, session: SignIn, caller: Caller, shown: FactorCode, now: datetime
) -> SignIn | None:
    """Without a factor id, try the confirmed factors, or else the unconfirmed one."""
    enrolled = await factors.list_factors(uow, caller.id)
    confirmed = [factor for factor in enrolled if factor.confirmed]
    has_factor = any(factor.confirmed for factor in await list_own_factors(uow, caller.id))
    named = [factor for factor in enrolled if factor.id == shown.factor_id]
    for factor in named if shown.factor_id else confirmed or enrolled:
        if has_factor and not factor.confirmed:
            # Otherwise an attacker with the password could confirm a factor of their own.
            caller.must_have_stepped_up(now)
        secret = totp.decrypt(factor.id, factor.encrypted_secret)
        counter = totp.counter_of(secret, shown.code, now, after=factor.last_counter)
        if counter is not None:
            await factors.save_factor_used(uow, factor.id, counter, now)
            if not factor.confirmed:
                uow.publish(CredentialsChanged(user_id=caller.id, change="factor_added"))
            return session.stepped_up("totp", factor.id, now)
    return None
