"""Make the first platform administrator, before the first request."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.ids import new_id
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.passwords import Passwords
from identity.domain import password_rules
from identity.domain.addresses import is_email, normal_email
from identity.domain.institutions import Institutions
from identity.domain.staff import ADMIN
from identity.store import accounts, keys, profiles, staff
from identity.use_cases.accounts.provision_user import NewUser, provision_user

log = get_logger(__name__)

STARTING = ServiceItself("the first start")


class BootstrapImpossible(Exception):
    """BOOTSTRAP_ADMIN_EMAIL is no address, or BOOTSTRAP_ADMIN_PASSWORD is shorter than ten characters."""


async def ensure_first_admin(
    database: Database,
    passwords: Passwords,
    institutions: Institutions,
    email: str,
    password: str,
    *,
    hashes: KeyedHashes,
    now: datetime,
) -> None:
    """There is a platform_admin to begin with, made once: an address that has an account is left as it is, even when its
    role was taken away since. Raises BootstrapImpossible."""
    address = normal_email(email)
    if not is_email(address) or len(password) < password_rules.CHARACTERS_MIN:
        raise BootstrapImpossible(BootstrapImpossible.__doc__)
    async with database.unit_of_work(acting_as=STARTING) as uow:
        await keys.lock_foundations(uow)
        if await accounts.find_account(uow, address) is not None:
            return
        user = NewUser(new_id(), address, full_name="Platform administrator")
        await provision_user(uow, user, institutions=institutions, hashes=hashes, reward_minor=0, now=now)
        await accounts.record_account_if_new(uow, user.id, address, await passwords.hash(password), now)
        await profiles.record_role_if_new(uow, user.id, ADMIN, now)
        await staff.record_staff_action(
            uow,
            actor_id=None,
            act="role_granted",
            subject_kind="person",
            subject_id=user.id,
            detail={"role": ADMIN, "by": "first start"},
            now=now,
        )
    log.info("first platform administrator created", user_id=str(user.id))
