"""A month as a printable page, in parts: head with the totals, lines, foot. No script, and no foreign style."""

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup

from common.primitives.clock import LAGOS
from common.primitives.money import format_naira
from payouts.responses.wallets import StatementLine, StatementMonth

_STYLE: Final = files(__package__).joinpath("month.css").read_text(encoding="utf-8")
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _naira(amount_minor: int | None) -> str:
    return "" if amount_minor is None else format_naira(amount_minor)


def _in_lagos(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(LAGOS).strftime("%Y-%m-%d %H:%M")


def _words(kind: str) -> str:
    return kind.replace("_", " ").capitalize()


_PAGES: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("payouts", "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_PAGES.filters |= {"naira": _naira, "in_lagos": _in_lagos, "words": _words}


def page_head(legal_name: str, summary: StatementMonth) -> str:
    # The only text that is not escaped is our own style; the policy has its hash.
    style = Markup(_STYLE)  # noqa: S704 - a constant of this package
    return _PAGES.get_template("month_head.html").render(legal_name=legal_name, summary=summary, style=style)


def page_lines(lines: Sequence[StatementLine]) -> str:
    return _PAGES.get_template("month_lines.html").render(lines=lines)


def page_foot(summary: StatementMonth) -> str:
    return _PAGES.get_template("month_foot.html").render(summary=summary)
