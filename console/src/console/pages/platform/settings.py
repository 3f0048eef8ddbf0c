"""The settings of all services, read-only."""

import re
from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import naira
from console.lists import Column
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("settings:manage",)


def _value(setting: Json) -> str:
    if setting["isSecret"]:
        return "secret, set" if setting["isSet"] else "secret, not set"
    return _amount(setting, setting["value"])


def _default(setting: Json) -> str | None:
    if setting["isSecret"]:
        return None
    return "required" if setting["default"] is None else _amount(setting, setting["default"])


_FEE: Final = re.compile(r"([0-9]+|\*):([0-9]+)")
_UNIT: Final = re.compile(r",? in kobo\b|; written as .*")
"""The unit and the form of a value in the environment, which a person reads as naira."""


def _amount(setting: Json, value: str) -> str:
    """Return the value of a setting as a person reads it: amounts and fees in naira."""
    if setting["name"].endswith("_MINOR") and value.isdigit():
        return naira(int(value))
    if setting["name"].endswith("_FEES"):
        return "; ".join(_FEE.sub(_fee, tier.strip()) for tier in value.split(",") if tier.strip()) or "none"
    return value or "empty"


def _fee(tier: re.Match[str]) -> str:
    bound = "any other amount" if tier[1] == "*" else f"up to {naira(int(tier[1]))}"
    return f"{bound}: {naira(int(tier[2]))}"


def _meaning(setting: Json) -> str:
    # Names of files and variables stay as an operator types them.
    return _UNIT.sub("", setting["meaning"].replace("`", ""))


SETTINGS: Final = (
    Column("Setting", "name"),
    Column("Value", _value),
    Column("Default", _default),
    Column("Meaning", _meaning),
)
SHARED: Final = "several services"
"""The heading of the settings that several services have with one value."""


@SCREENS.page("/settings", title="Settings", any_of=READERS, menu="Settings")
async def settings_page(visit: Visit) -> Response:
    """Return the settings by service, those whose name or meaning has the text that was typed."""
    found = await visit.api.page("/api/settings")
    text, only_set = visit.query.get("q", "").lower(), visit.query.get("set") == "yes"
    rows = [
        one
        for one in found.items
        if text in f"{one['name']} {one['meaning']}".lower() and (one["isSet"] or not only_set)
    ]
    return visit.render(
        "platform/settings.html",
        services=_by_service(rows),
        columns=SETTINGS,
        unavailable=found.meta.get("unavailable") or [],
        text=visit.query.get("q", ""),
        only_set=only_set,
    )


def _by_service(rows: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Return the settings by service. One that several services have alike is listed once, with their names."""
    services = {row["service"] for row in rows}
    alike: dict[tuple[str, ...], list[Json]] = {}
    for row in rows:
        alike.setdefault(tuple(str(row[name]) for name in _ALIKE), []).append(row)
    groups: dict[str, list[Json]] = {SHARED: []}
    for same in alike.values():
        if len(same) == 1:
            groups.setdefault(same[0]["service"], []).append(same[0])
        else:
            names = "all" if len(same) == len(services) else ", ".join(one["service"] for one in same)
            groups[SHARED].append({**same[0], "meaning": f"{same[0]['meaning']} ({names})"})
    return [(name, own) for name, own in groups.items() if own]


_ALIKE: Final = ("name", "value", "default", "meaning", "isSet", "isSecret")
