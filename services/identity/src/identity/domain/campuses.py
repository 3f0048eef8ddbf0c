"""Campuses and hubs, and who may change them (contract sections 5 and 10)."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from identity.domain.errors import AnotherCampus

# NGN 100,000: a higher fee for a delivery within a campus is a typing error.
DELIVERY_FEE_MINOR_MAX: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class NewHub:
    """A pick-up point to open; the fee is in kobo."""

    name: str
    address: str
    delivery_fee_minor: int
    opening_hours: list[dict[str, str]]


def check_may_manage_campus(caller: Caller, campus_id: UUID) -> None:
    """Allow staff of the campus and staff of the platform. Raises AnotherCampus."""
    if caller.may("campuses:manage_all") or (caller.may("campuses:manage") and campus_id == caller.campus_id):
        return
    raise AnotherCampus
