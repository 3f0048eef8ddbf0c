"""A platform admin's screens, in the order of the menu. Grave changes need a second admin."""

from console.families import Family
from console.pages.platform import commissions, factor_resets, grants, keys, settings, staff

FAMILIES = (
    Family(
        "Platform",
        60,
        staff.SCREENS,
        grants.SCREENS,
        commissions.SCREENS,
        factor_resets.SCREENS,
        keys.SCREENS,
        settings.SCREENS,
    ),
)
