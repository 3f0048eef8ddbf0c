"""Who may change, suspend and reinstate a vendor (contract sections 5 and 10)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Forbidden
from identity.domain.errors import AnotherCampus, OwnVendor, VendorIsClosed

# The legal name is compared with the bank account's, so it stays as approved.
OWNER_FIELDS: Final = frozenset({"businessName", "category", "description"})
PLATFORM_FIELDS: Final = frozenset({"commissionBasisPoints"})


@dataclass(frozen=True, slots=True)
class Vendor:
    """A locked vendor; the commission is None where the platform's default applies."""

    id: UUID
    owner_user_id: UUID
    business_name: str
    legal_name: str
    campus_id: UUID
    category: str | None
    description: str | None
    status: Literal["active", "suspended", "closed"]
    suspension_reason: str | None
    commission_basis_points: int | None
    revision: int

    def check_open(self) -> None:
        """Raise VendorIsClosed."""
        if self.status == "closed":
            raise VendorIsClosed

    @property
    def event_fields(self) -> dict[str, Any]:
        """The fields of every vendor event, so that each event is complete on its own."""
        return {
            "vendor_id": self.id,
            "owner_user_id": self.owner_user_id,
            "business_name": self.business_name,
            "legal_name": self.legal_name,
            "campus_id": self.campus_id,
            "commission_basis_points": self.commission_basis_points,
        }


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
