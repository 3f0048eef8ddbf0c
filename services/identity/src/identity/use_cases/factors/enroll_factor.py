"""Enrol a TOTP factor."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from identity.credentials.totp import Totp
from identity.domain.errors import SessionInvalid, TooManyFactors
from identity.domain.second_factors import FACTORS_OF_A_KIND_MAX
from identity.queries.factors import list_own_factors
from identity.store import accounts, factors


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A factor that its first code confirms. The secret is shown only once."""

    factor_id: UUID
    secret: str
    otpauth_uri: str


async def enroll_factor(
    uow: UnitOfWork, totp: Totp, caller: Caller, name: str | None = None, *, now: datetime
) -> Enrolled:
    """Create a TOTP factor and return its secret.

    Raises TooManyFactors, SessionInvalid, and StepUpRequired when the user has a confirmed factor: a password alone
    must not add one.
    """
    account = await accounts.lock_account(uow, caller.id)
    if account is None:
        raise SessionInvalid
    confirmed = [factor for factor in await list_own_factors(uow, caller.id) if factor.confirmed]
    if confirmed:
        caller.must_have_stepped_up(now)
    if sum(factor.kind == "totp" for factor in confirmed) >= FACTORS_OF_A_KIND_MAX:
        raise TooManyFactors
    await factors.delete_unconfirmed_factors(uow, caller.id)
    factor_id, secret = new_id(), totp.new_secret()
    await factors.record_factor(uow, factor_id, caller.id, totp.encrypt(factor_id, secret), now, name=name)
    return Enrolled(factor_id, secret, totp.otpauth_uri(secret, account.email))
