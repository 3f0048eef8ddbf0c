"""Screens of everybody: the work that waits, the search, the own account, and the sign-in."""

from console.families import Family
from console.pages.everyone import account, home, waiting_work

FAMILIES = (Family("Overview", 0, waiting_work.SCREENS, home.SCREENS), Family("Account", 900, account.SCREENS))
