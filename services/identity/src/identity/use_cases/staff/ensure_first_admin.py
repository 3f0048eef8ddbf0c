"""Create the first platform administrator at the first start."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from common.observability.logging import get_logger
from common.primitives.ids import new_id
from identity.credentials.passwords import Passwords
from identity.domain import password_rules
from identity.domain.addresses import is_email, normal_email
from identity.domain.staff import ADMIN
from identity.store import accounts, keys, profiles, staff
from identity.use_cases.accounts.provision_user import NewUser, Provisioning, provision_user

log = get_logger(__name__)

STARTING = ServiceItself("the first start")


class BootstrapImpossible(Exception):
    """BOOTSTRAP_ADMIN_EMAIL is not an address, or BOOTSTRAP_ADMIN_PASSWORD is shorter than ten characters."""


async def ensure_first_admin(
    database: Database,
    passwords: Passwords,
    provisioning: Provisioning,
    email: str,
    password: str,
    *,
    now: datetime,
) -> None:
    """Create the first platform_admin once. An existing account stays as it is, even without the role.

    Raises BootstrapImpossible.
    """
    address = normal_email(email)
    if not is_email(address) or len(password) < password_rules.CHARACTERS_MIN:
        raise BootstrapImpossible(BootstrapImpossible.__doc__)
    async with database.unit_of_work(acting_as=STARTING) as uow:
        await keys.lock_foundations(uow)
        if await accounts.find_account(uow, address) is not None:
            return
        user = NewUser(new_id(), address, full_name="Platform administrator")
        await provision_user(uow, user, provisioning, now=now)
        await accounts.record_account_if_new(uow, user.id, address, await passwords.hash(password), now)
        await profiles.record_role_if_new(uow, user.id, ADMIN, now)
        await staff.record_staff_action(
            uow, "role_granted", "person", user.id, {"role": ADMIN, "by": "first start"}, by=None, now=now
        )
    log.info("first platform administrator created", user_id=str(user.id))
