"""Reject an application to sell."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.problems import NotFound
from contracts.identity import VendorApplicationDecided
from identity.domain.vendor_applications import is_undecided
from identity.store import vendors
from identity.store.staff import record_staff_action


async def reject_vendor_application(
    uow: UnitOfWork, application_id: UUID, reason: str, *, by: UUID, now: datetime
) -> None:
    """The applicant hears the reason, and may apply again. Repeated it changes nothing: the first reason stands.

    Runs as the service after `by` was found to be the one to decide. Raises NotFound and ApplicationDecidedOtherwise (409).
    """
    application = await vendors.lock_application(uow, application_id)
    if application is None:
        raise NotFound
    if not is_undecided(application, "rejected"):
        return
    await vendors.save_decision(uow, application_id, "rejected", by=by, now=now, reason=reason)
    await record_staff_action(
        uow,
        actor_id=by,
        act="rejected",
        subject_kind="vendor_application",
        subject_id=application_id,
        detail={"applicantId": application.user_id, "reason": reason},
        now=now,
    )
    uow.publish(
        VendorApplicationDecided(
            application_id=application_id, user_id=application.user_id, outcome="rejected", reason=reason
        )
    )
