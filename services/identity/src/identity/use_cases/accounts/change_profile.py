"""Change one's own profile."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import StaleRevision
from contracts.identity import CredentialsChanged
from identity.domain.errors import NumberNotAccepted
from identity.domain.message_budgets import TextPolicy
from identity.queries.profiles import Profile, profile_of
from identity.store import profiles
from identity.use_cases.accounts.steps import profile_changed


async def change_profile(
    uow: UnitOfWork,
    caller: Caller,
    changes: Mapping[str, Any],
    revision: int | None,
    *,
    text_policy: TextPolicy,
    now: datetime,
) -> Profile:
    """Change the caller's name or phone number (`fullName`, `phone`) and publish the profile.

    Two concurrent changes without a revision are both applied, one after the other. Raises ProfileMissing,
    NumberNotAccepted, and StaleRevision when the profile has changed since `revision`.
    """
    await profiles.lock_profile(uow, caller.id)
    before = await profile_of(uow, caller.id)
    if revision is not None and revision != before.revision:
        raise StaleRevision
    full_name, phone = changes.get("fullName", before.full_name), changes.get("phone", before.phone)
    if (full_name, phone) == (before.full_name, before.phone):
        return before
    if phone not in (None, before.phone) and not text_policy.accepts(phone):
        raise NumberNotAccepted(text_policy.countries)
    if not await profiles.save_profile(uow, caller.id, before.revision, full_name=full_name, phone=phone, now=now):
        raise StaleRevision
    if phone != before.phone:
        uow.publish(CredentialsChanged(user_id=caller.id, change="phone_changed"))
    changed = await profile_of(uow, caller.id)
    # Its readers keep the roles that they have: a caller reads no suspension.
    uow.publish(profile_changed(changed))
    return changed
