"""Events of the identity service."""

from typing import ClassVar, Final, Literal
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.money import MinorAmount

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


class EmailConfirmed(Event, frozen=True, kw_only=True):
    """The first proof of a user's mail address. A referral's reward is earned by it, in kobo."""

    TYPE: ClassVar[str] = "identity.email_confirmed.v1"
    user_id: UUID
    confirmed_at: str
    referral_reward_minor: MinorAmount = 0


class SignUpRepeated(Event, frozen=True, kw_only=True):
    """Somebody signed up with the address of an account that exists; its owner gets a mail (contract section 10.1)."""

    TYPE: ClassVar[str] = "identity.sign_up_repeated.v1"
    user_id: UUID
    notification_id: UUID


class ProfileChanged(Event, frozen=True, kw_only=True):
    """Contact, campus or name changed, the number was proven or is no more, or a role of staff came or went."""

    TYPE: ClassVar[str] = "identity.profile_changed.v1"
    user_id: UUID
    email: str
    phone: str | None = None
    full_name: str | None = None
    campus_id: UUID | None = None
    phone_confirmed: bool | None = None
    staff_roles: tuple[str, ...] | None = None


class ErasureRequested(Event, frozen=True, kw_only=True):
    """A person wants to go. Whoever keeps money or orders of theirs says what is still under way, and begins nothing new with them.

    `vendor_id` is their own vendor, which is closed with them.
    """

    TYPE: ClassVar[str] = "identity.erasure_requested.v1"
    user_id: UUID
    request_id: UUID
    vendor_id: UUID | None = None


class ErasureRefused(Event, frozen=True, kw_only=True):
    """Something was under way: the person stays, and may begin anything again. `open_matters`: what, in the words of the services."""

    TYPE: ClassVar[str] = "identity.erasure_refused.v1"
    user_id: UUID
    request_id: UUID
    open_matters: tuple[str, ...] = ()


class CredentialsChanged(Event, frozen=True, kw_only=True):
    """What a person signs in with is another: they are told, since it may have been somebody else."""

    TYPE: ClassVar[str] = "identity.credentials_changed.v1"
    user_id: UUID
    change: Literal[
        "password_changed",
        "password_reset",
        "factor_added",
        "factor_removed",
        "recovery_codes_renewed",
        "recovery_code_used",
        "phone_changed",
    ]


class UserErased(Event, frozen=True, kw_only=True):
    """A person is gone: whoever keeps how to reach them forgets it. Records of money keep the id."""

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
    """Staff of the campus decided; `reason` stands for a rejection."""

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


class VendorSuspended(Event, frozen=True, kw_only=True):
    """No new checkout, and payouts are held; open orders finish. Whoever hears it first learns the vendor by it."""

    TYPE: ClassVar[str] = "identity.vendor_suspended.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    reason: str
    commission_basis_points: int | None = None


class VendorReinstated(Event, frozen=True, kw_only=True):
    """The suspension is over."""

    TYPE: ClassVar[str] = "identity.vendor_reinstated.v1"
    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    reason: str | None = None
    commission_basis_points: int | None = None


class VendorClosed(Event, frozen=True, kw_only=True):
    """The owner was erased: no name is left of the vendor, and it sells nothing ever again. Records of money keep the id."""

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
    """A pick-up point; the delivery fee is in kobo."""

    TYPE: ClassVar[str] = "identity.hub_changed.v1"
    hub_id: UUID
    campus_id: UUID
    name: str
    delivery_fee_minor: MinorAmount
    active: bool


class SessionRevoked(Event, frozen=True, kw_only=True):
    """Log-out, suspension or a changed role. Without a session: all sessions begun before `not_before`."""

    TYPE: ClassVar[str] = "identity.session_revoked.v1"
    user_id: UUID
    not_before: str
    session_id: UUID | None = None


class OneTimeCodeIssued(Event, frozen=True, kw_only=True):
    """A code was made for an address; both are encrypted under `CODE_DELIVERY_KEY` for the notifications service only."""

    TYPE: ClassVar[str] = "identity.one_time_code_issued.v1"
    code_id: UUID
    purpose: Literal["sign_in", "password_reset"]
    channel: Literal["sms", "email"]
    address_sealed: str
    code_sealed: str
    user_id: UUID | None = None
    # The code is the first proof of a mail address: the mail says so.
    confirms_email: bool = False
