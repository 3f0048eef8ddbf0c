"""Approve a vendor application."""

from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import NotFound
from contracts.identity import VendorApplicationDecided, VendorApproved
from identity.domain.errors import ApplicantEmailNotConfirmed, CampusClosed, VendorOwned
from identity.domain.shop_members import ApplicantWorksForAShop
from identity.domain.vendor_applications import is_undecided
from identity.store import profiles, shop_members, vendors
from identity.store.staff import record_staff_action


async def approve_vendor_application(uow: UnitOfWork, application_id: UUID, *, by: UUID, now: datetime) -> None:
    """Create the applicant's vendor, grant the role merchant from their next token on, and publish both.

    Runs as the service after the right of `by` was checked. A repetition changes nothing. Raises NotFound,
    ApplicationDecidedOtherwise, CampusClosed, ApplicantEmailNotConfirmed, VendorOwned and
    ApplicantWorksForAShop (409).
    """
    application = await vendors.lock_application(uow, application_id)
    if application is None:
        raise NotFound
    if not is_undecided(application, "approved"):
        return
    if not await vendors.is_campus_open(uow, application.details.campus_id):
        raise CampusClosed
    if not await vendors.is_applicant_email_confirmed(uow, application.user_id):
        raise ApplicantEmailNotConfirmed
    vendor_id = new_id()
    if not await vendors.record_vendor_if_new(uow, vendor_id, application, now):
        raise VendorOwned
    # After the insertion, which waits for an acceptance of an invitation by the same user.
    if await shop_members.find_member(uow, application.user_id) is not None:
        raise ApplicantWorksForAShop
    await profiles.record_role_if_new(uow, application.user_id, "merchant", now)
    await vendors.save_decision(uow, application_id, "approved", by=by, now=now, vendor_id=vendor_id)
    await record_staff_action(
        uow,
        "approved",
        "vendor_application",
        application_id,
        {"vendorId": vendor_id, "applicantId": application.user_id},
        by=by,
        now=now,
    )
    uow.publish(
        VendorApproved(
            vendor_id=vendor_id,
            owner_user_id=application.user_id,
            business_name=application.details.business_name,
            legal_name=application.details.legal_name,
            campus_id=application.details.campus_id,
        )
    )
    uow.publish(
        VendorApplicationDecided(application_id=application_id, user_id=application.user_id, outcome="approved")
    )
