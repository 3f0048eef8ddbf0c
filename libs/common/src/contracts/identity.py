"""Events of the identity service."""

from typing import ClassVar, Final, Literal
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.money import MinorAmount
from contracts.opening_hours import OpeningPeriod

CODE_DELIVERY: Final = "identity to notifications: one-time codes"
"""The purpose for which `CODE_DELIVERY_KEY` encrypts: both services derive the same key from it."""


class ReferralOutcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    applied: bool
    reward_minor: MinorAmount
    referrer_id: UUID | None = None


class UserProvisioned(Event, frozen=True, kw_only=True):
    """A profile was created."""

    TYPE: ClassVar[str] = "identity.user_provisioned.v1"
    user_id: UUID
    email: str
    role: str
    referral: ReferralOutcome
    phone: str | None = None
    full_name: str | None = None
    campus_id: UUID | None = None
    phone_confirmed: bool | None = None
    staff_roles: tuple[str, ...] | None = None
    email_confirmed: bool | None = None
    hub_id: UUID | None = None


class EmailConfirmed(Event, frozen=True, kw_only=True):
    """A user's mail address was confirmed for the first time. It earns the reward of a referral, in kobo."""

    TYPE: ClassVar[str] = "identity.email_confirmed.v1"
    user_id: UUID
    confirmed_at: str
    referral_reward_minor: MinorAmount = 0


class SignUpRepeated(Event, frozen=True, kw_only=True):
    """A sign-up used the address of an existing account, whose owner gets a mail (contract section 10.1)."""

    TYPE: ClassVar[str] = "identity.sign_up_repeated.v1"
    user_id: UUID
    notification_id: UUID


class ProfileChanged(Event, frozen=True, kw_only=True):
    """Contact, campus or name changed, the number was confirmed or removed, a staff role was granted or revoked, or the
    user was suspended or reinstated. A suspended user has no staff role. Without `staff_roles` they are as before, and
    so is the hub.
    """

    TYPE: ClassVar[str] = "identity.profile_changed.v1"
    user_id: UUID
    email: str
    phone: str | None = None
    full_name: str | None = None
    campus_id: UUID | None = None
    phone_confirmed: bool | None = None
    staff_roles: tuple[str, ...] | None = None
    hub_id: UUID | None = None


class ErasureRequested(Event, frozen=True, kw_only=True):
    """A user requested their erasure. Services with their money or orders report open matters, and start no new ones.

    `vendor_id` is the user's own vendor, which is closed as well.
    """

    TYPE: ClassVar[str] = "identity.erasure_requested.v1"
    user_id: UUID
    request_id: UUID
    vendor_id: UUID | None = None


class ErasureRefused(Event, frozen=True, kw_only=True):
    """Open matters block the erasure: the account stays and is usable again. `open_matters`: as the services reported
    them.
    """

    TYPE: ClassVar[str] = "identity.erasure_refused.v1"
    user_id: UUID
    request_id: UUID
    open_matters: tuple[str, ...] = ()


class CredentialsChanged(Event, frozen=True, kw_only=True):
    """A credential of a user changed. The user is notified, because an attacker may have changed it."""

    TYPE: ClassVar[str] = "identity.credentials_changed.v1"
    user_id: UUID
    change: Literal[
        "password_changed",
        "password_reset",
        "factor_added",
        "factor_removed",
        "factor_reset_prepared",
        "factors_reset",
        "recovery_codes_renewed",
        "recovery_code_used",
        "phone_changed",
        "api_key_created",
        "api_key_revoked",
    ]


class ApiKeyExpiring(Event, frozen=True, kw_only=True):
    """An API key expires within 14 days; published once. `name` is the creator's own name for it."""

    TYPE: ClassVar[str] = "identity.api_key_expiring.v1"
    user_id: UUID
    key_id: UUID
    name: str
    expires_at: str


class ShopInvitationSent(Event, frozen=True, kw_only=True):
    """A shop invited the user, whose confirmed mail address the owner named; `role` is `manager` or `packer`."""

    TYPE: ClassVar[str] = "identity.shop_invitation_sent.v1"
    user_id: UUID
    invitation_id: UUID
    business_name: str
    role: Literal["manager", "packer"]


class ShopMemberChanged(Event, frozen=True, kw_only=True):
    """A user became a member of a shop, or has another role in it.

    Without a `role` the membership ended, or the user is suspended.
    """

    TYPE: ClassVar[str] = "identity.shop_member_changed.v1"
    user_id: UUID
    vendor_id: UUID
    role: Literal["manager", "packer"] | None = None


class UserErased(Event, frozen=True, kw_only=True):
    """A user was erased: services delete their contact data. Records of money keep the id."""

    TYPE: ClassVar[str] = "identity.user_erased.v1"
    user_id: UUID


class VendorApproved(Event, frozen=True, kw_only=True):
    """An application was approved: the vendor exists."""

    TYPE: ClassVar[str] = "identity.vendor_approved.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    commission_basis_points: int | None = None


class VendorApplicationDecided(Event, frozen=True, kw_only=True):
    """Staff of the campus decided on an application; a rejection has a `reason`."""

    TYPE: ClassVar[str] = "identity.vendor_application_decided.v1"
    application_id: UUID
    user_id: UUID
    outcome: Literal["approved", "rejected"]
    reason: str | None = None


class VendorChanged(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "identity.vendor_changed.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    commission_basis_points: int | None = None
    absent_until: str | None = None
    absence_message: str | None = None


class VendorAway(Event, frozen=True, kw_only=True):
    """The owner announced an absence: the shop takes no new orders before `until`."""

    TYPE: ClassVar[str] = "identity.vendor_away.v1"
    vendor_id: UUID
    owner_user_id: UUID
    until: str


class VendorReturned(Event, frozen=True, kw_only=True):
    """The owner ended an absence before its time. One that ends by its time is not published."""

    TYPE: ClassVar[str] = "identity.vendor_returned.v1"
    vendor_id: UUID
    owner_user_id: UUID


class VendorSuspended(Event, frozen=True, kw_only=True):
    """No new checkout, and payouts are held; open orders finish. The event also creates a vendor that is not yet
    known.
    """

    TYPE: ClassVar[str] = "identity.vendor_suspended.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    reason: str
    commission_basis_points: int | None = None
    absent_until: str | None = None
    absence_message: str | None = None


class VendorReinstated(Event, frozen=True, kw_only=True):
    """The suspension of a vendor ended."""

    TYPE: ClassVar[str] = "identity.vendor_reinstated.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    reason: str | None = None
    commission_basis_points: int | None = None
    absent_until: str | None = None
    absence_message: str | None = None


class VendorClosed(Event, frozen=True, kw_only=True):
    """The owner was erased: the vendor's names are removed, and it never sells again. Records of money keep the id."""

    TYPE: ClassVar[str] = "identity.vendor_closed.v1"
    vendor_id: UUID
    owner_user_id: UUID
    campus_id: UUID


class CampusChanged(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "identity.campus_changed.v1"
    campus_id: UUID
    name: str
    active: bool


class HubChanged(Event, frozen=True, kw_only=True):
    """A pick-up point; the delivery fee is in kobo. An event of an earlier version has no address and no hours."""

    TYPE: ClassVar[str] = "identity.hub_changed.v1"
    hub_id: UUID
    campus_id: UUID
    name: str
    delivery_fee_minor: MinorAmount
    active: bool
    address: str | None = None
    opening_hours: tuple[OpeningPeriod, ...] | None = None


class SessionRevoked(Event, frozen=True, kw_only=True):
    """Log-out, suspension or a changed role. Without a session: all sessions started before `not_before`."""

    TYPE: ClassVar[str] = "identity.session_revoked.v1"
    user_id: UUID
    not_before: str
    session_id: UUID | None = None


class OneTimeCodeIssued(Event, frozen=True, kw_only=True):
    """A code was issued for an address; both are encrypted under `CODE_DELIVERY_KEY` for the notifications service
    only.
    """

    TYPE: ClassVar[str] = "identity.one_time_code_issued.v1"
    code_id: UUID
    purpose: Literal["sign_in", "password_reset"]
    channel: Literal["sms", "email"]
    address_sealed: str
    code_sealed: str
    user_id: UUID | None = None
    # The code confirms the mail address for the first time, and the mail has a text for that.
    confirms_email: bool = False
