"""Screens of the people on call, in the order of the menu."""

from console.families import Family
from console.pages.oncall import alerts, dead_letters, drills, exceptions, health, runbooks, stops

FAMILIES = (
    Family(
        "On-call",
        40,
        alerts.SCREENS,
        runbooks.SCREENS,
        exceptions.SCREENS,
        dead_letters.SCREENS,
        health.SCREENS,
        stops.SCREENS,
        drills.SCREENS,
    ),
)
