"""Support's screens, in the order of the menu."""

from console.families import Family
from console.pages.support import messages, orders, payments, pin_reissues, reports, returns, reviews, tickets, users

FAMILIES = (
    Family(
        "Support",
        10,
        orders.SCREENS,
        tickets.SCREENS,
        returns.SCREENS,
        pin_reissues.SCREENS,
        messages.SCREENS,
        reviews.SCREENS,
        reports.SCREENS,
        payments.SCREENS,
        users.SCREENS,
    ),
)
