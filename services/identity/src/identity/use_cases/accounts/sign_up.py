"""Open an account."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from identity.credentials.passwords import Passwords
from identity.credentials.sign_up_passwords import sign_up_password
from identity.domain.errors import NumberNotAccepted
from identity.domain.message_budgets import TextPolicy
from identity.domain.one_time_codes import REGISTERED_RESEND_AFTER, CodeRequest, Destination, Purpose
from identity.domain.referrals import Provisioned
from identity.store import accounts, sign_ups
from identity.use_cases.accounts.provision_user import NewUser, Provisioning, provision_user
from identity.use_cases.codes.request_code import request_code

SIGNING_UP = ServiceItself("sign-up")


class _AddressRegistered(Exception):
    """Rolls back the transaction of a sign-up whose address has an account."""


@dataclass(frozen=True, slots=True)
class SignUp:
    """The data of a sign-up, address and number in their normal forms, and the client's address."""

    email: str
    password: str
    full_name: str
    phone: str | None
    referral_token: str | None
    source: str = ""


async def sign_up(
    database: Database,
    passwords: Passwords,
    request: SignUp,
    *,
    encryptor: Encryptor,
    provisioning: Provisioning,
    text_policy: TextPolicy,
    now: datetime,
) -> UUID:
    """Open a buyer's account and send a code to the address (contract section 10.1). Return the user's id.

    A known address gets the same response after the same work: both hashes, the whole transaction (rolled back), and
    one commit that enqueues a mail to the owner. The sign-up's password is stored either way, so that a login with it
    gets the same response. Raises NumberNotAccepted, and TooManyMessages beyond the mailbox's budget of sign-ups.
    """
    if request.phone is not None and not text_policy.accepts(request.phone):
        raise NumberNotAccepted(text_policy.countries)
    password_hash = await passwords.hash(request.password)
    shown = await sign_up_password(passwords, provisioning.hashes, request.email, request.password)
    user = NewUser(new_id(), request.email, request.phone, request.full_name, request.referral_token)

    async def send_mail(uow: UnitOfWork, purpose: Purpose, resend_after: timedelta = timedelta(0)) -> None:
        await request_code(
            uow,
            encryptor,
            provisioning.hashes,
            CodeRequest(purpose, Destination("email", request.email), request.source),
            counted_as="sign_up",
            now=now,
            resend_after=resend_after,
        )

    async def open_account(uow: UnitOfWork) -> Provisioned:
        provisioned = await provision_user(uow, user, provisioning, now=now)
        if not await accounts.record_account_if_new(uow, user.id, request.email, password_hash, now):
            raise _AddressRegistered
        await sign_ups.record_sign_up_password(uow, shown.address_hash, shown.digest, now)
        await send_mail(uow, "sign_in")
        return provisioned

    try:
        await database.transact(acting_as=SIGNING_UP, work=open_account)
    except _AddressRegistered:
        async with database.unit_of_work(acting_as=SIGNING_UP) as uow:
            await accounts.count_repeated_sign_up(uow, request.email)
            await sign_ups.record_sign_up_password(uow, shown.address_hash, shown.digest, now)
            await send_mail(uow, "already_registered", REGISTERED_RESEND_AFTER)
    return user.id
