"""Finance's decisions by maker and checker, in the order of the menu."""

from console.families import Family
from console.pages.finance import (
    bank_accounts,
    chargebacks,
    documents,
    goodwill,
    holds,
    ledger,
    payouts,
    quarantine,
    reconciliations,
    refunds,
    resolutions,
    withdrawals,
)

FAMILIES = (
    Family(
        "Finance",
        20,
        quarantine.SCREENS,
        refunds.SCREENS,
        withdrawals.SCREENS,
        resolutions.SCREENS,
        goodwill.SCREENS,
        reconciliations.SCREENS,
        bank_accounts.SCREENS,
        chargebacks.SCREENS,
    ),
    Family("Payouts", 21, payouts.SCREENS, holds.SCREENS, documents.SCREENS),
    Family("Ledger", 22, ledger.SCREENS),
)
