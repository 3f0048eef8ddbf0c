"""Request one's own erasure."""

from datetime import datetime

from common.auth.caller import Caller, ServiceItself
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import ValidationFailed
from contracts.identity import ErasureRequested
from identity.credentials.password_verifier import PasswordVerifier
from identity.domain.errors import OpenObligations, ProfileMissing, WrongPassword
from identity.store import accounts, erasure, login_failures
from identity.use_cases.passwords.steps import VerifiedPassword, verify_password

REQUESTING_ERASURE = ServiceItself("erasure request")


async def request_erasure(verifier: PasswordVerifier, caller: Caller, password: str | None, *, now: datetime) -> None:
    """Record the request and publish it for evaluation. A repetition while it is open changes nothing.

    A user with a second factor must have stepped up, and a user with a password must send it. Raises StepUpRequired,
    WrongPassword, ProfileMissing, and OpenObligations for staff and for the owner of a suspended vendor.
    """
    verified = await _verify_caller(verifier, caller, password, now=now)

    async def record_request(uow: UnitOfWork) -> None:
        # Lock order: profile, account, as in changes of staff.
        if await erasure.lock_user(uow, caller.id) is None:
            raise ProfileMissing
        stored_hash = await accounts.lock_password_hash(uow, caller.id)
        if verified is not None and stored_hash != verified.password_hash:
            raise WrongPassword
        obligations = await erasure.find_obligations(uow, caller.id)
        if obligations.is_staff or obligations.is_vendor_suspended:
            raise OpenObligations(is_staff=obligations.is_staff)
        if verified is not None:
            await login_failures.clear_failures(uow, verified.failures_key)
        if await erasure.find_open_request(uow, caller.id) is not None:
            return
        request_id = new_id()
        await erasure.record_request(uow, request_id, caller.id, obligations.vendor_id, now)
        uow.publish(ErasureRequested(user_id=caller.id, request_id=request_id, vendor_id=obligations.vendor_id))

    await verifier.database.transact(acting_as=REQUESTING_ERASURE, work=record_request)


async def _verify_caller(
    verifier: PasswordVerifier, caller: Caller, password: str | None, *, now: datetime
) -> VerifiedPassword | None:
    """Return the verified password; None for a user without one, who signs in elsewhere or with codes."""
    async with verifier.database.unit_of_work(acting_as=REQUESTING_ERASURE) as uow:
        if await erasure.lock_user(uow, caller.id) is None:
            raise ProfileMissing
        profile = await accounts.find_authorization_profile(uow, caller.id)
        email = await accounts.find_email(uow, caller.id)
        has_password = await accounts.lock_password_hash(uow, caller.id) is not None
    if profile.has_second_factor:
        caller.must_have_stepped_up(now)
    if email is None or not has_password:
        return None
    if password is None:
        raise ValidationFailed.of("password", "is required")
    verified = await verify_password(verifier, email, password, now=now)
    if not isinstance(verified, VerifiedPassword):
        raise WrongPassword
    return verified
