"""A campus admin's screens, in the order of the menu."""

from console.families import Family
from console.pages.campus import applications, campuses, flash_sales, listings, sales, vendors

FAMILIES = (
    Family(
        "Campus",
        50,
        applications.SCREENS,
        vendors.SCREENS,
        listings.SCREENS,
        campuses.SCREENS,
        sales.SCREENS,
        flash_sales.SCREENS,
    ),
)
