"""Handlers of identity's events: contacts, vendors and one-time codes."""

from datetime import datetime

from common.database.unit_of_work import UnitOfWork
from common.messaging.faults import NotYetKnown, PermanentFault
from common.messaging.messages import Outcome, Received, applied_if
from common.primitives.encryption import DecryptionFailed, UnknownKey
from common.primitives.json_records import JsonObject
from contracts.identity import (
    ApiKeyExpiring,
    CredentialsChanged,
    EmailConfirmed,
    ErasureRefused,
    OneTimeCodeIssued,
    ProfileChanged,
    ShopInvitationSent,
    ShopMemberChanged,
    SignUpRepeated,
    UserProvisioned,
    VendorApplicationDecided,
    VendorApproved,
    VendorChanged,
    VendorReinstated,
    VendorSuspended,
)
from notifications.deliveries.domain.deliveries import Contact, EncryptedValue, NotificationRequest, masked
from notifications.deliveries.domain.erasure_obligations import obligations_text
from notifications.deliveries.domain.shop_notices import MEMBER_NOTICES, notices_of
from notifications.deliveries.store.contacts import save_contact, save_vendor
from notifications.deliveries.store.devices import delete_devices_registered_before
from notifications.deliveries.store.shop_members import cancel_queued_notices, save_member
from notifications.deliveries.use_cases.deliveries.defer_notification import defer_notification
from notifications.deliveries.use_cases.deliveries.notify_shop import notify_shop
from notifications.deliveries.use_cases.deliveries.notify_user import notify_user
from notifications.dependencies import Dependencies


async def on_user_provisioned(
    event: UserProvisioned, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_contact(event, received, uow)


async def on_email_confirmed(
    event: EmailConfirmed, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Delete the devices from before the first proof of the address: they may be another user's."""
    await delete_devices_registered_before(uow, event.user_id, datetime.fromisoformat(event.confirmed_at))


async def on_sign_up_repeated(
    event: SignUpRepeated, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    notify_user(uow, dependencies.delivery_context(), event.user_id, "already_registered", {}, event.notification_id)


async def on_profile_changed(
    event: ProfileChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_contact(event, received, uow)


async def on_erasure_refused(
    event: ErasureRefused, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {"matters": obligations_text(event.open_matters)}
    notify_user(uow, dependencies.delivery_context(), event.user_id, "erasure_refused", parameters, event.request_id)


async def on_vendor_approved(
    event: VendorApproved, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor(event, received, uow)


async def on_vendor_changed(
    event: VendorChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    return await _project_vendor(event, received, uow)


async def _project_contact(event: UserProvisioned | ProfileChanged, received: Received, uow: UnitOfWork) -> Outcome:
    contact = Contact(event.user_id, event.email, event.phone, event.full_name)
    is_proven, roles = bool(event.phone_confirmed), event.staff_roles
    is_newer = await save_contact(
        uow, contact, received.sequence, phone_confirmed=is_proven, staff_roles=roles, hub_id=event.hub_id
    )
    return applied_if(is_newer)


async def _project_vendor(
    event: VendorApproved | VendorChanged | VendorSuspended | VendorReinstated, received: Received, uow: UnitOfWork
) -> Outcome:
    is_newer = await save_vendor(uow, event.vendor_id, event.owner_user_id, event.business_name, received.sequence)
    return applied_if(is_newer)


async def on_credentials_changed(
    event: CredentialsChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Notify of each change: a second one may be an intruder's."""
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.user_id,
        "credentials_changed",
        {"change": event.change},
        received.event_id,
    )


async def on_api_key_expiring(
    event: ApiKeyExpiring, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters: JsonObject = {"keyName": event.name, "expiresOn": event.expires_at[:10]}
    notify_user(uow, dependencies.delivery_context(), event.user_id, "api_key_expiring", parameters, event.key_id)


async def on_shop_invitation_sent(
    event: ShopInvitationSent, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    context, parameters = dependencies.delivery_context(), {"businessName": event.business_name}
    notify_user(uow, context, event.user_id, "shop_invitation", parameters, event.invitation_id)


async def on_shop_member_changed(
    event: ShopMemberChanged, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Project the membership. Unsent notices that the role no longer has are not sent."""
    if not await save_member(uow, event.user_id, event.vendor_id, event.role, received.sequence):
        return Outcome.STALE
    ended = MEMBER_NOTICES - notices_of(event.role)
    await cancel_queued_notices(uow, event.user_id, event.vendor_id, ended)
    return Outcome.APPLIED


async def on_vendor_application_decided(
    event: VendorApplicationDecided, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    parameters = {"outcome": event.outcome} | ({"reason": event.reason} if event.reason else {})
    notify_user(
        uow,
        dependencies.delivery_context(),
        event.user_id,
        "vendor_application_decided",
        parameters,
        event.application_id,
        subject_id=event.application_id,
    )


async def on_vendor_suspended(
    event: VendorSuspended, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    """Notify of each suspension."""
    outcome = await _project_vendor(event, received, uow)
    parameters = {"reason": event.reason}
    context = dependencies.delivery_context()
    notify_shop(uow, context, event.vendor_id, "vendor_suspended", parameters, received.event_id)
    return outcome


async def on_vendor_reinstated(
    event: VendorReinstated, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> Outcome:
    outcome = await _project_vendor(event, received, uow)
    context = dependencies.delivery_context()
    notify_shop(uow, context, event.vendor_id, "vendor_reinstated", {}, received.event_id)
    return outcome


async def on_one_time_code_issued(
    event: OneTimeCodeIssued, received: Received, uow: UnitOfWork, dependencies: Dependencies
) -> None:
    """Send the code. Address and code stay encrypted; the address is decrypted here to be masked."""
    context = str(event.code_id)
    try:
        recipient = masked(dependencies.delivery_sender.encryptor.decrypt(event.address_sealed, context))
    except UnknownKey as unknown:
        # Identity already uses a key that this process receives with its next start.
        raise NotYetKnown from unknown
    except DecryptionFailed:
        raise PermanentFault("the encrypted address cannot be decrypted") from None
    request = NotificationRequest(
        notification_id=event.code_id,
        channel=event.channel,
        template="confirm_email" if event.confirms_email else "one_time_code",
        parameters={} if event.confirms_email else {"purpose": event.purpose},
        encrypted={
            "address": EncryptedValue(event.address_sealed, context),
            "code": EncryptedValue(event.code_sealed, context),
        },
    )
    await defer_notification(uow, request, dependencies.delivery_context(), recipient=recipient)
