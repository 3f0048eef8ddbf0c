"""Who may change, suspend and reinstate a vendor (contract sections 5 and 10)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypedDict, get_args
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.clock import iso_or_none
from common.primitives.lifecycles import Lifecycle, Rejection, Rule
from common.primitives.problems import Forbidden
from identity.domain.errors import AnotherCampus, InvalidAbsence, OwnVendor, VendorIsClosed

# The legal name is compared with the bank account's, so it stays as approved.
# What the owner changes day by day, without a step-up.
SHOP_FIELDS: Final = frozenset({"away", "openingHours"})
OWNER_FIELDS: Final = frozenset({"businessName", "category", "description"}) | SHOP_FIELDS
PLATFORM_FIELDS: Final = frozenset({"commissionBasisPoints"})
# A longer absence is a shop that is closed.
ABSENCE_MAX: Final = timedelta(days=366)
VendorStatus = Literal["active", "suspended", "closed"]
VendorTrigger = Literal["suspended", "reinstated", "closed"]

_SUSPENDERS: Final = "staff of the campus with `vendors:suspend`"
VENDOR: Final = Lifecycle[VendorStatus, VendorTrigger](
    "Vendor",
    "A shop. A suspended one has no new sales and payouts.",
    get_args(VendorStatus),
    {
        "suspended": Rule({"active": "suspended"}, repeated={"suspended"}, by=_SUSPENDERS),
        "reinstated": Rule({"suspended": "active"}, repeated={"active"}, by=_SUSPENDERS),
        "closed": Rule({"active": "closed"}, by="the erasure of its owner, which a suspension prevents"),
    },
)


class VendorFields(TypedDict):
    """The fields of every vendor event."""

    vendor_id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    commission_basis_points: int | None
    absent_until: str | None
    absence_message: str | None


@dataclass(frozen=True, slots=True)
class Vendor:
    """A locked vendor; the commission is None where the platform's default applies.

    `absent_until` may be past: the absence has ended by itself.
    """

    id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    status: VendorStatus
    suspension_reason: str | None
    commission_basis_points: int | None
    revision: int
    absent_until: datetime | None
    absence_message: str | None
    opening_hours: list[dict[str, str]]

    def check_open(self) -> None:
        """Raise VendorIsClosed."""
        if self.status == "closed":
            raise VendorIsClosed

    def evaluate(self, trigger: Literal["suspended", "reinstated"]) -> bool:
        """Return whether it takes effect now; False for its repetition. Raises VendorIsClosed."""
        after = VENDOR.next_state(self.status, trigger)
        if after is Rejection.FORBIDDEN:
            raise VendorIsClosed
        return after is not Rejection.REPEATED

    @property
    def event_fields(self) -> VendorFields:
        """The fields of every vendor event, so that each event is complete on its own."""
        return {
            "vendor_id": self.id,
            "owner_user_id": self.owner_user_id,
            "business_name": self.business_name,
            "legal_name": self.legal_name,
            "campus_id": self.campus_id,
            "commission_basis_points": self.commission_basis_points,
            "absent_until": iso_or_none(self.absent_until),
            "absence_message": self.absence_message,
        }


def check_absence(until: datetime, now: datetime) -> None:
    """Raise InvalidAbsence when the absence is over already, or longer than `ABSENCE_MAX`."""
    if not now < until <= now + ABSENCE_MAX:
        raise InvalidAbsence(ABSENCE_MAX.days)


def check_may_suspend_vendor(caller: Caller, *, owner_user_id: UUID, campus_id: UUID) -> None:
    """Allow staff of the vendor's campus except its owner. Raises OwnVendor and AnotherCampus."""
    if owner_user_id == caller.id:
        raise OwnVendor
    if campus_id != caller.campus_id:
        raise AnotherCampus


def check_may_change_vendor(caller: Caller, fields: Iterable[str], *, owner_user_id: UUID) -> None:
    """Allow owners to change how the shop presents itself, and the platform its commission.

    No user changes the commission of their own vendor. Raises OwnVendor and Forbidden.
    """
    changed = frozenset(fields)
    is_owner = owner_user_id == caller.id
    if changed & PLATFORM_FIELDS:
        caller.must_be_allowed("vendors:commission")
        if is_owner:
            raise OwnVendor
    if changed & OWNER_FIELDS and not is_owner:
        raise Forbidden
    if not is_owner and not caller.may("vendors:commission"):
        raise Forbidden
