"""The registry of screens. A role is one folder of `console.pages`, with a module for each subject, and its
templates.
"""

import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from string import ascii_lowercase
from typing import Literal

from starlette.responses import Response

from console.visit import Visit

Handler = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Screen:
    """One route: a page (GET) or an action (POST)."""

    method: Literal["GET", "POST"]
    path: str
    handler: Handler
    any_of: tuple[str, ...] = ()
    """Permissions of which the person holds one; empty: every person who may use the console."""
    title: str = ""
    menu: str = ""
    """Its entry in the menu; empty: none."""
    menu_for: tuple[str, ...] = ()
    """Permissions of those who see the entry, when they are fewer than the readers of the page."""
    page: Handler | None = None
    """The page that is shown again, with the typed fields, when the API refuses an action."""
    is_open: bool = False
    """Reached without a sign-in."""
    icon: str = ""
    """Its drawing in the bar at the bottom of a phone, a name of `parts.html`; empty: it is not in the bar."""

    def is_in_menu(self, visit: Visit) -> bool:
        permissions = self.menu_for or self.any_of
        return bool(self.menu) and (not permissions or visit.may(*permissions))


class Screens:
    """Pages and actions in the order of the menu."""

    def __init__(self, *parts: "Screens") -> None:
        self.screens: list[Screen] = [screen for part in parts for screen in part.screens]

    def page(
        self,
        path: str,
        *,
        title: str,
        any_of: tuple[str, ...] = (),
        menu: str = "",
        menu_for: tuple[str, ...] = (),
        is_open: bool = False,
        icon: str = "",
    ) -> Callable[[Handler], Handler]:
        """Register the handler of a page. `{id:uuid}` in the path is `visit["id"]`."""

        def register(handler: Handler) -> Handler:
            self.screens.append(Screen("GET", path, handler, any_of, title, menu, menu_for, is_open=is_open, icon=icon))
            return handler

        return register

    def action(
        self, path: str, *, any_of: tuple[str, ...] = (), page: Handler | None = None, is_open: bool = False
    ) -> Callable[[Handler], Handler]:
        """Register the handler of a posted form. `visit.form` has its fields.

        Session, origin, CSRF token, permission and step-up are checked before it.
        """

        def register(handler: Handler) -> Handler:
            self.screens.append(Screen("POST", path, handler, any_of, page=page, is_open=is_open))
            return handler

        return register


class Family(Screens):
    """The screens under one heading of the menu: the `SCREENS` of its modules."""

    def __init__(self, name: str, order: int = 100, *parts: Screens) -> None:
        """`name` is the heading in the menu, `order` its place there."""
        super().__init__(*parts)
        self.name, self.order = name, order


def find_families() -> list[Family]:
    """Return the `FAMILIES` of every folder of `console.pages`, in the order of the menu."""
    package = import_module("console.pages")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    families: list[Family] = [one for name in names for one in import_module(f"console.pages.{name}").FAMILIES]
    return sorted(families, key=lambda family: (family.order, family.name))


def shortcuts(groups: Sequence[tuple[str, Sequence[Screen]]]) -> dict[str, str]:
    """Return the key of each screen of a menu by its path: the first free letter of its name, else any free letter."""
    keys: dict[str, str] = {}
    screens = [screen for _, group in groups for screen in group]
    for candidates in (lambda screen: screen.menu.lower(), lambda _: ascii_lowercase):
        for screen in (one for one in screens if one.path not in keys):
            free = (key for key in candidates(screen) if key in ascii_lowercase and key not in keys.values())
            if key := next(free, ""):
                keys[screen.path] = key
    return keys
