"""Change one's own profile."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import StaleRevision
from contracts.identity import CredentialsChanged
from identity.queries.profiles import profile_of
from identity.store import profiles
from identity.use_cases.accounts.publish_profile import publish_profile


async def change_profile(
    uow: UnitOfWork, caller: Caller, changes: Mapping[str, Any], revision: int | None, *, now: datetime
) -> dict[str, Any]:
    """A person changes their name or phone number (`fullName`, `phone`), and every service that keeps them hears of it.

    Raises ProfileMissing, and StaleRevision when the profile has changed since `revision`. Two changes at once without a
    revision both happen, one after the other.
    """
    await profiles.lock_profile(uow, caller.id)
    before = await profile_of(uow, caller.id)
    if revision is not None and revision != before["revision"]:
        raise StaleRevision
    wanted = {name: changes.get(name, before[name]) for name in ("fullName", "phone")}
    if all(wanted[name] == before[name] for name in wanted):
        return before
    if not await profiles.save_profile(
        uow, caller.id, before["revision"], full_name=wanted["fullName"], phone=wanted["phone"], now=now
    ):
        raise StaleRevision
    if wanted["phone"] != before["phone"]:
        uow.publish(CredentialsChanged(user_id=caller.id, change="phone_changed"))
    return await publish_profile(uow, caller.id)
