"""Record a service's evaluation of an erasure request."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from contracts.identity import ErasureRefused, UserErased, VendorClosed
from identity.credentials.erased_mailboxes import erased_mailbox_hash
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.erasure import ERASURE, evaluate
from identity.store import erasure, shop_members, vendors
from identity.use_cases.sessions.revoke_sessions import revoke_sessions
from identity.use_cases.shop_members.steps import end_membership


async def record_evaluation(
    uow: UnitOfWork, hashes: KeyedHashes, request_id: UUID, service: str, open_matters: Sequence[str], *, now: datetime
) -> bool:
    """Record the evaluation; after the last one erase the user, or refuse. Return False for a closed request."""
    found = await erasure.find_request(uow, request_id)
    mailbox = await erasure.lock_user(uow, found.user_id) if found else None
    # Read again under the lock: of two concurrent evaluations the second sees the first.
    request = await erasure.find_request(uow, request_id)
    if request is None or mailbox is None or not ERASURE.allows(request.status, "incomplete"):
        return False
    await erasure.record_evaluation_if_new(uow, request_id, service, open_matters, now)
    verdicts = await erasure.list_verdicts(uow, request_id)
    verdict = evaluate(verdicts)
    if verdict == "done" and (own_obligations := await _own_obligations(uow, request)):
        await erasure.record_evaluation_if_new(uow, request_id, "identity", own_obligations, now)
        verdict, verdicts["identity"] = "refused", own_obligations
    if verdict == "incomplete":
        return True
    await erasure.save_request(uow, request_id, verdict, now)
    if verdict == "done":
        await _erase_user(uow, hashes, request, mailbox, now=now)
    else:
        matters = tuple(sorted({matter for found in verdicts.values() for matter in found}))
        uow.publish(ErasureRefused(user_id=request.user_id, request_id=request_id, open_matters=matters))
    return True


async def _own_obligations(uow: UnitOfWork, request: erasure.Request) -> list[str]:
    """Return the obligations in this service that are newer than the request.

    The vendor stays locked: a suspension at the same time comes before, and counts, or finds it closed.
    """
    if request.vendor_id is not None:
        await vendors.lock_vendor(uow, request.vendor_id)
    obligations = await erasure.find_obligations(uow, request.user_id)
    found = {
        "staff_role": obligations.is_staff,
        "vendor_suspended": obligations.is_vendor_suspended,
        "vendor_opened": obligations.vendor_id != request.vendor_id,
    }
    return [matter for matter, holds in found.items() if holds]


async def _erase_user(
    uow: UnitOfWork, hashes: KeyedHashes, request: erasure.Request, mailbox: str, *, now: datetime
) -> None:
    """Delete account, sessions, factors and contact data, close the vendor, and publish the erasure.

    The caller holds the user's lock. The address is free for a new account, but its mailbox is not rewarded again.
    """
    await revoke_sessions(uow, request.user_id, because="erased", now=now)
    await erasure.delete_user(uow, request.user_id, erased_mailbox_hash(hashes, mailbox), now)
    if request.vendor_id is not None:
        for member in await shop_members.list_members(uow, request.vendor_id):
            await end_membership(uow, member, by=request.user_id, now=now)
        await shop_members.delete_invitations(uow, request.vendor_id)
        campus_id = await erasure.close_vendor(uow, request.vendor_id)
        uow.publish(VendorClosed(vendor_id=request.vendor_id, owner_user_id=request.user_id, campus_id=campus_id))
    uow.publish(UserErased(user_id=request.user_id))
