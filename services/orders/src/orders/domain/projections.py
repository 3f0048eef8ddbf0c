"""Projections of identity's users, vendors and hubs."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class UserProjection:
    """A user's addresses and name; whether they have proven the number."""

    id: UUID
    email: str
    phone: str | None
    full_name: str | None
    phone_confirmed: bool


@dataclass(frozen=True, slots=True)
class VendorProjection:
    """A vendor; `commission_basis_points` is None without an agreement of its own.

    Before `absent_until` it takes no new orders.
    """

    id: UUID
    business_name: str
    campus_id: UUID
    commission_basis_points: int | None
    owner_user_id: UUID
    absent_until: datetime | None = None
    absence_message: str | None = None


@dataclass(frozen=True, slots=True)
class HubProjection:
    """A pick-up point; the delivery fee in kobo. Address and hours are None until an event has them.

    An hour is a period of a day: `{day, from, to}`.
    """

    id: UUID
    campus_id: UUID
    name: str
    delivery_fee_minor: int
    active: bool
    address: str | None = None
    opening_hours: list[dict[str, str]] | None = None
