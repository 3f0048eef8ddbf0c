"""Appoint a platform_admin by command."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.problems import Conflict
from identity.domain.addresses import normal_email
from identity.domain.errors import CannotAppoint
from identity.domain.staff import ADMIN, Appointment, check_roles_compatible
from identity.store import accounts, staff
from identity.use_cases.accounts.steps import publish_profile

OPERATING = ServiceItself("an operator at the machine")


async def appoint_admin(database: Database, email: str, *, now: datetime) -> str:
    """Appoint the user of this address and return a message for the operator. Raises CannotAppoint.

    The second admin is appointed this way, because the first has no second approver. The trail records no actor.
    """

    async def appoint(uow: UnitOfWork) -> str:
        await staff.lock_staff(uow)
        user_id = await accounts.find_account(uow, normal_email(email))
        user = await staff.lock_user(uow, user_id) if user_id else None
        if user is None:
            raise CannotAppoint("no account has this address")
        if user.is_suspended:
            raise CannotAppoint("this user is suspended; reinstate them first")
        if not user.email_confirmed:
            raise CannotAppoint(
                "this address is not confirmed: its owner must sign in with the code sent to it, then try again"
            )
        if ADMIN in user.roles:
            return f"{user.user_id} is {ADMIN} already"
        try:
            check_roles_compatible(user.appointments, Appointment(ADMIN))
        except Conflict as conflict:
            raise CannotAppoint(conflict.explanation) from None
        await staff.record_appointment(uow, user.user_id, Appointment(ADMIN), by=None, now=now)
        await staff.record_staff_action(
            uow, "role_granted", "person", user.user_id, {"role": ADMIN, "by": "operator"}, by=None, now=now
        )
        await publish_profile(uow, user.user_id)
        return f"{user.user_id} is {ADMIN} from the next token on"

    return await database.transact(acting_as=OPERATING, work=appoint)
