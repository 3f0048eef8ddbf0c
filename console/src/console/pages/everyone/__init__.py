"""Screens of everybody: the work that waits, the search, the own account, and the sign-in."""

from console.families import Family
from console.pages.everyone import account, api_keys, home, saved_views, waiting_work, webhook_endpoints

FAMILIES = (
    Family("Overview", 0, waiting_work.SCREENS, home.SCREENS, saved_views.SCREENS),
    Family("Programs", 80, api_keys.SCREENS, webhook_endpoints.SCREENS),
    Family("Account", 900, account.SCREENS),
)
