"""Finance's decisions by maker and checker, in the order of the menu."""

from console.families import Family
from console.pages.finance import chargebacks, quarantine, reconciliations, refunds, resolutions

FAMILY = Family(
    "Finance",
    20,
    quarantine.SCREENS,
    refunds.SCREENS,
    resolutions.SCREENS,
    reconciliations.SCREENS,
    chargebacks.SCREENS,
)
