"""Screens of everybody: the work that waits, the search, the own account, and the sign-in."""

from console.families import Family
from console.pages.everyone import account, desk, home

FAMILIES = (Family("Overview", 0, desk.SCREENS, home.SCREENS), Family("Account", 900, account.SCREENS))
