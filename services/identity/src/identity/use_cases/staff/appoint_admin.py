"""Appoint a platform_admin from the machine."""

from datetime import datetime

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.problems import Conflict
from identity.domain.addresses import normal_email
from identity.domain.errors import CannotAppoint
from identity.domain.staff import ADMIN, Appointment, check_roles_compatible
from identity.store import accounts, staff
from identity.use_cases.accounts.publish_profile import publish_profile

OPERATING = ServiceItself("an operator at the machine")


async def appoint_admin(database: Database, email: str, *, now: datetime) -> str:
    """Who has this address is platform_admin; told is a sentence for the operator. The second admin comes to be this way:
    the first has nobody who could approve. Recorded without an actor. Raises CannotAppoint.
    """

    async def appoint(uow: UnitOfWork) -> str:
        await staff.lock_staff(uow)
        user_id = await accounts.find_account(uow, normal_email(email))
        user = await staff.lock_user(uow, user_id) if user_id else None
        if user is None:
            raise CannotAppoint("nobody signs in with this address")
        if user.is_suspended:
            raise CannotAppoint("this person is suspended")
        if not user.email_confirmed:
            raise CannotAppoint(
                "this address is not proven: its owner signs in with the code that is sent to it, then try again"
            )
        if ADMIN in user.roles:
            return f"{user.user_id} is {ADMIN} already"
        try:
            check_roles_compatible(user.appointments, Appointment(ADMIN))
        except Conflict as conflict:
            raise CannotAppoint(conflict.explanation) from None
        await staff.record_appointment(uow, user.user_id, Appointment(ADMIN), by=None, now=now)
        await staff.record_staff_action(
            uow,
            actor_id=None,
            act="role_granted",
            subject_kind="person",
            subject_id=user.user_id,
            detail={"role": ADMIN, "by": "operator"},
            now=now,
        )
        await publish_profile(uow, user.user_id)
        return f"{user.user_id} is {ADMIN} from the next token on"

    return await database.transact(acting_as=OPERATING, work=appoint)
