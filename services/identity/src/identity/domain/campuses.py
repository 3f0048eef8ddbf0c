"""Campuses and hubs, and whose they are to change (contract sections 5 and 10)."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from identity.domain.errors import AnotherCampus

# NGN 100,000: a delivery within a campus that costs more is a slip of the keyboard.
DELIVERY_FEE_MINOR_MAX: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class NewHub:
    """A pick-up point to be; the fee in kobo."""

    name: str
    address: str
    delivery_fee_minor: int


def check_may_manage_campus(caller: Caller, campus_id: UUID) -> None:
    """Staff change the campus of their office; the platform's staff any. Raises AnotherCampus."""
    if caller.may("campuses:manage_all") or (caller.may("campuses:manage") and campus_id == caller.campus_id):
        return
    raise AnotherCampus
