"""Takedowns of products by the campus admin of their campus (contract section 11.11)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Conflict, Forbidden, NotFound
from orders.domain.order_roles import is_own_vendor


class ListingAlreadyHidden(Conflict):
    detail = "Staff hid this product already. Nothing was changed."


class PartyCannotDelist(Forbidden):
    detail = "You cannot take down or restore a product of your own vendor."


@dataclass(frozen=True, slots=True)
class Listing:
    """The locked row of a product. `hidden_at` is None while buyers see it."""

    id: UUID
    vendor_id: UUID
    campus_id: UUID
    name: str
    hidden_at: datetime | None
    vendor_owner_id: UUID | None


@dataclass(frozen=True, slots=True)
class Takedown:
    """The locked row of a takedown."""

    id: UUID
    product_id: UUID
    created_at: datetime
    is_restored: bool


def check_campus_admin(caller: Caller, listing: Listing) -> None:
    """Check that the caller takes down products of this campus and does not sell this one.

    Raises NotFound for a product of another campus and PartyCannotDelist (403).
    """
    if caller.campus_id != listing.campus_id:
        raise NotFound
    if is_own_vendor(caller, listing.vendor_id, listing.vendor_owner_id):
        raise PartyCannotDelist
