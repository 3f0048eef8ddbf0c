"""Runbooks, with a button beside each step that the console can carry out."""

import json
import re
from functools import lru_cache
from html import unescape
from pathlib import Path
from typing import Final

from markupsafe import Markup, escape
from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screen, Screens, find_families
from console.formats import text
from console.lists import is_id
from console.roles import who_may
from console.visit import Visit

SCREENS = Screens()

READERS: Final = ("alerts:read", "money_alerts:read", "exceptions:read")
_FILE: Final = Path(__file__).parents[2] / "runbooks.json"
"""Written by `make guides`, and by the build of the image."""
_CODE: Final = re.compile(r'<code(?: data-needs="([^"]+)")?>([^<]+)</code>')
_CALL: Final = re.compile(r"(?:campusctl call )?(GET|POST|PUT|PATCH|DELETE) '?/api(?P<path>/[^\s']*)")
_COMMANDS: Final = {
    "accounts": "/bank-detail-releases",
    "chargebacks": "/chargebacks",
    "dead-letters": "/dead-letters",
    "exceptions": "/payout-exceptions",
    "payouts": "/payouts",
    "quarantine": "/quarantined-charges",
    "reconciliations": "/reconciliations",
    "refunds": "/refunds",
    "webhooks dead": "/dead-letter-webhooks",
    "withdrawals": "/withdrawals",
}
"""The page of the list on which a group of campusctl's commands works."""


class RunbooksNotBuilt(ApiProblem):
    """The runbooks are missing from this installation."""

    def __init__(self) -> None:
        detail = "`make guides` writes them, and so does the build of the image. They are in docs/runbooks."
        super().__init__(404, {"title": "The runbooks are not part of this installation", "detail": detail})


def find_runbook(visit: Visit, name: str, subject_page: str = "") -> Json | None:
    """Return title and HTML of a runbook with its buttons; None for an unknown one. Raises RunbooksNotBuilt.

    `subject_page` is the page of the subject of an alert: a step on a page of this kind leads to that one.
    """
    try:
        found = _runbooks(_FILE.stat().st_mtime_ns).get(name)
    except OSError:
        raise RunbooksNotBuilt from None
    if found is None:
        return None

    def with_button(code: re.Match[str]) -> str:
        command = unescape(code[2])
        return f"<code>{escape(text(command))}</code>{_button(visit, command, subject_page, code[1])}"

    return {"title": found["title"], "html": Markup(_CODE.sub(with_button, found["html"]))}  # noqa: S704


def _button(visit: Visit, command: str, subject_page: str, permissions: str | None) -> str:
    """Return the link to the page of a step, and who may do the step where the person's role may not. `permissions`
    are those of a call; a command has those of its form or list in the console.
    """
    page = page_of_step(command, subject_page)
    link = f' <a class="button quiet do" href="{escape(page)}">Open here</a>' if may_open(visit, page) else ""
    needed = permissions.split() if permissions else _permissions_of_command(command)
    if not needed or visit.may(*needed):
        return link
    return f'{link} <span class="fine">(not for your role: {escape(who_may(*needed))} may do it)</span>'


def may_open(visit: Visit, page: str) -> bool:
    """Return whether the console has the page and the person may open it."""
    needed = permissions_of_page(page)
    return needed is not None and (not needed or visit.may(*needed))


def permissions_of_page(page: str) -> tuple[str, ...] | None:
    """Return the permissions of which a reader of the page needs one, none of them for everyone; None without page."""
    path = page.partition("?")[0]
    return next((one.any_of for one in _screens("GET") if _matches(one.path, path)), None)


def _permissions_of_command(command: str) -> tuple[str, ...]:
    """Return the permissions of the console's list or form that does what a command of campusctl does; empty without
    one.
    """
    words = command.removeprefix("campusctl ") if command.startswith("campusctl ") else ""
    group = next((one for one in _COMMANDS if words.startswith(f"{one} ")), None)
    if group is None:
        return ()
    page, verb = _COMMANDS[group], words.removeprefix(group).split()[0]
    if verb in ("list", "show"):
        return permissions_of_page(page) or ()
    return next((one.any_of for one in _screens("POST") if _matches(one.path, f"{page}/:id/{verb}")), ())


def page_of_step(command: str, subject_page: str = "") -> str:
    """Return the console's page of a call or command in a runbook, which may not exist; empty for any other text."""
    if call := _CALL.match(command):
        path, _, query = call["path"].partition("?")
        listed, has_parameter, _ = path.partition("/:")
        page = f"{path}?{query}" if query and not query.endswith("=") else path
        page = listed if has_parameter else page
    else:
        words = command.removeprefix("campusctl ") if command.startswith("campusctl ") else ""
        listed = page = next((path for group, path in _COMMANDS.items() if words.startswith(f"{group} ")), "")
        has_parameter = "" if " list" in words else "yes"
    is_of_subject = listed and has_parameter and subject_page.startswith(f"{listed}/")
    return subject_page if is_of_subject else page


@lru_cache(1)
def _runbooks(_changed_at: int) -> dict[str, Json]:
    found: dict[str, Json] = json.loads(_FILE.read_text())
    return found


@lru_cache(2)
def _screens(method: str) -> list[Screen]:
    return [screen for family in find_families() for screen in family.screens if screen.method == method]


def _matches(pattern: str, path: str) -> bool:
    """Return whether a path, of a page or with names of parameters such as `:id`, is one of a screen's."""
    parts, given = pattern.split("/"), path.split("/")
    return len(parts) == len(given) and all(
        part == one or (part.startswith("{") and (":uuid" not in part or one.startswith(":") or is_id(one)))
        for part, one in zip(parts, given, strict=True)
    )


@SCREENS.page("/runbooks/{name}", title="Runbook", any_of=READERS)
async def runbook_page(visit: Visit) -> Response:
    runbook = find_runbook(visit, visit["name"])
    if runbook is None:
        raise ApiProblem(404, {"title": "There is no such runbook", "detail": "Open it from its alert."})
    return visit.render("oncall/runbook.html", title=f"Runbook: {runbook['title']}", runbook=runbook)
