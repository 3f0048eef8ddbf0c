"""Erase a person of whom nothing is under way."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from contracts.identity import UserErased, VendorClosed
from identity.credentials.keyed_hashes import KeyedHashes
from identity.credentials.mailbox_hashes import hash_of_mailbox
from identity.store import erasure
from identity.use_cases.sessions.end_sessions import end_sessions


async def erase_user(
    uow: UnitOfWork, hashes: KeyedHashes, request: erasure.Request, mailbox: str, *, now: datetime
) -> None:
    """A person goes: account, sessions, factors and contact are removed, their vendor is closed, and every service hears of it.

    The person is locked. Their address is free for a new account, which the same mailbox is not rewarded for.
    """
    await end_sessions(uow, request.user_id, because="erased", now=now)
    await erasure.delete_user(uow, request.user_id, hash_of_mailbox(hashes, mailbox), now)
    if request.vendor_id is not None:
        campus_id = await erasure.close_vendor(uow, request.vendor_id)
        uow.publish(VendorClosed(vendor_id=request.vendor_id, owner_user_id=request.user_id, campus_id=campus_id))
    uow.publish(UserErased(user_id=request.user_id))
