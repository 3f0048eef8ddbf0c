"""Publish all profiles."""

from typing import Final
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database
from identity.store import profiles
from identity.use_cases.accounts.steps import publish_profile

PUBLISHING_PROFILES: Final = ServiceItself("publication of all profiles")
# A transaction of some hundredths of a second, so that a user who changes their profile hardly waits.
BATCH_PROFILES: Final = 100


async def publish_profiles(database: Database) -> int:
    """Publish the present profile of every user, and return their number.

    For services that project a new field of a profile. The locks order the publications
    after concurrent changes. A repetition, also after a crash, publishes the same content again.
    """
    published = 0
    last_id: UUID | None = None
    while True:
        async with database.unit_of_work(acting_as=PUBLISHING_PROFILES) as uow:
            user_ids = await profiles.lock_profiles_after(uow, last_id, BATCH_PROFILES)
            for user_id in user_ids:
                await publish_profile(uow, user_id)
        if not user_ids:
            return published
        published, last_id = published + len(user_ids), user_ids[-1]
