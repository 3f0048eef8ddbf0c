"""The users of the demo data who act in a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self
from uuid import UUID

from contracts import demo


@dataclass(frozen=True, slots=True)
class User:
    """A user of the demo data, with the claims of its tokens."""

    id: UUID
    claims: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> Self:
        user = next(user for user in demo.USERS if user.name == name)
        claims = {"roles": user.roles, "vendor_id": user.vendor_id, "campus_id": user.campus_id, "stepped_up": True}
        return cls(user.id, claims)


BUYER, VENDOR, MAKER, CHECKER = (User.of(name) for name in ("BUYER", "VENDOR", "MAKER", "CHECKER"))
SUPPORT, OPS = User.of("SUPPORT"), User.of("OPS")
VENDORS: Final = (VENDOR, User.of("VENDOR2"))
"""All vendors of the demo data, as sellers of one purchase."""
