"""Projections of identity's vendors and hubs."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class VendorProjection:
    """A vendor; `commission_basis_points` is None without an agreement of its own."""

    id: UUID
    business_name: str
    campus_id: UUID
    commission_basis_points: int | None
    owner_user_id: UUID


@dataclass(frozen=True, slots=True)
class HubProjection:
    """A pick-up point; the delivery fee in kobo."""

    id: UUID
    campus_id: UUID
    name: str
    delivery_fee_minor: int
    active: bool
