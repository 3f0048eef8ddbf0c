"""What the service knows of vendors and places that others keep."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class VendorProjection:
    """A vendor as its products show it; None where it has no agreement on commission of its own."""

    id: UUID
    business_name: str
    campus_id: UUID
    commission_basis_points: int | None
    owner_user_id: UUID


@dataclass(frozen=True, slots=True)
class HubProjection:
    """A pick-up point; the fee in kobo."""

    id: UUID
    campus_id: UUID
    name: str
    delivery_fee_minor: int
    active: bool
