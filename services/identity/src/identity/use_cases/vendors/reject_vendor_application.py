"""Reject a vendor application."""

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
    """Reject the application and publish the reason; the user may apply again. The first reason stays.

    Runs as the service after the right of `by` was checked. Raises NotFound and ApplicationDecidedOtherwise (409).
    """
    application = await vendors.lock_application(uow, application_id)
    if application is None:
        raise NotFound
    if not is_undecided(application, "rejected"):
        return
    await vendors.save_decision(uow, application_id, "rejected", by=by, now=now, reason=reason)
    await record_staff_action(
        uow,
        "rejected",
        "vendor_application",
        application_id,
        {"applicantId": application.user_id, "reason": reason},
        by=by,
        now=now,
    )
    uow.publish(
        VendorApplicationDecided(
            application_id=application_id, user_id=application.user_id, outcome="rejected", reason=reason
        )
    )
