"""Who may do what to a vendor (contract sections 5 and 10)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Forbidden
from identity.domain.errors import AnotherCampus, OwnVendor, VendorIsClosed

# The legal name is compared with the name of the bank account: it stays as it was approved.
OWNER_FIELDS: Final = frozenset({"businessName", "category", "description"})
PLATFORM_FIELDS: Final = frozenset({"commissionBasisPoints"})


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor in hand; the commission is None where the platform's default counts."""

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
        """Raises ShopClosed."""
        if self.status == "closed":
            raise VendorIsClosed

    @property
    def told(self) -> dict[str, Any]:
        """What every event about a vendor tells of it: whoever hears only one of them knows the whole."""
        return {
            "vendor_id": self.id,
            "owner_user_id": self.owner_user_id,
            "business_name": self.business_name,
            "legal_name": self.legal_name,
            "campus_id": self.campus_id,
            "commission_basis_points": self.commission_basis_points,
        }


def check_may_suspend_vendor(caller: Caller, *, owner_user_id: UUID, campus_id: UUID) -> None:
    """Staff suspend and reinstate vendors of their own campus, and nobody their own. Raises OwnVendor and AnotherCampus."""
    if owner_user_id == caller.id:
        raise OwnVendor
    if campus_id != caller.campus_id:
        raise AnotherCampus


def check_may_change_vendor(caller: Caller, fields: Iterable[str], *, owner_user_id: UUID) -> None:
    """The owner changes how the shop shows itself, the platform its commission; nobody the commission of their own.

    Raises OwnVendor and Forbidden.
    """
    wanted = frozenset(fields)
    is_owner = owner_user_id == caller.id
    if wanted & PLATFORM_FIELDS:
        caller.must_be_allowed("vendors:commission")
        if is_owner:
            raise OwnVendor
    if wanted & OWNER_FIELDS and not is_owner:
        raise Forbidden
    if not is_owner and not caller.may("vendors:commission"):
        raise Forbidden
