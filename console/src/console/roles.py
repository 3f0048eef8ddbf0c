"""The roles that hold a permission, in words."""

from typing import Final

from console.formats import spoken
from contracts.permissions import PERMISSIONS_BY_ROLE

_WORDS: Final = {
    "merchant": "vendor",
    "ops_oncall": "staff on call",
    "shop_manager": "manager of a shop",
    "shop_packer": "packer",
}


def role_words(role: str) -> str:
    """Return a role in words: `merchant` as vendor."""
    return _WORDS.get(role, spoken(role))


def who_may(*permissions: str) -> str:
    """Return the roles that hold one of the permissions: `finance maker or finance checker`."""
    roles = [role for role, held in PERMISSIONS_BY_ROLE.items() if not held.isdisjoint(permissions)]
    *others, last = [role_words(role) for role in roles]
    return f"{', '.join(others)} or {last}" if others else last
