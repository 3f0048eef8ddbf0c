"""Output of commands: tables, or one JSON document."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from operations.campusctl.exits import DONE, Refused

TAB_COLUMNS: Final = 4
_PAGE_FIELDS: Final = {"page": "page", "limit": "limit", "total": "total", "total_pages": "totalPages"}


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a command. `columns`: the fields that its table shows; `lines` are shown in place of a table."""

    content: Any
    columns: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int = DONE
    # A document of any shape is printed as JSON in both modes.
    is_document: bool = False
    lines: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        page = {name: self.meta[given] for given, name in _PAGE_FIELDS.items() if given in self.meta} or None
        return {"ok": self.exit_code == DONE, "data": self.content, "page": page, "error": None}


def show_output(output: Output, *, as_json: bool) -> None:
    if as_json:
        _print_json(output.as_json())
        return
    console = Console(highlight=False)
    content = output.content
    if output.is_document:
        _print_json(content)
    elif output.lines:
        for line in output.lines:
            console.print(_cell("", line), soft_wrap=True)
    elif isinstance(content, list):
        console.print(_table(content, output.columns) if content else Text("Nothing."))
        if "total" in output.meta:
            page, pages, total = (output.meta.get(name) for name in ("page", "total_pages", "total"))
            console.print(Text(f"Page {page} of {pages}, {total} in all"))
    elif isinstance(content, Mapping):
        console.print(_fields(content))
    else:
        console.print(Text(str(content)), soft_wrap=True)


def show_error(error: Refused, *, as_json: bool) -> None:
    if as_json:
        _print_json({"ok": False, "data": None, "page": None, "error": error.as_json()})
        return
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    heading = " ".join(str(part) for part in (error.status, error.code) if part)
    console.print(Text(f"{heading}: {error.detail}" if heading else error.detail, "bold red"))
    for param in error.invalid_params:
        console.print(Text(f"  {param.get('name')}: {param.get('reason')}"))
    if error.advice:
        console.print(Text(error.advice))
    if error.request_id:
        console.print(Text(f"requestId {error.request_id}"))


def naira(minor: int) -> str:
    """Format kobo as naira."""
    sign = "-" if minor < 0 else ""
    return f"{sign}₦{abs(minor) // 100:,}.{abs(minor) % 100:02d}"


def amount_of(document: Mapping[str, Any]) -> str:
    """Format `amountMinor` in its `currency`: naira, else minor units."""
    minor, currency = document["amountMinor"], document["currency"]
    return naira(minor) if currency == "NGN" else f"{minor} {currency} in minor units"


def _print_json(document: Any) -> None:
    # ASCII only: stored text must not send control sequences to the terminal.
    print(json.dumps(document, indent=2, ensure_ascii=True, default=str))


def _table(rows: list[Any], columns: tuple[str, ...]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    shown = columns or tuple(rows[0])
    for name in shown:
        table.add_column(name, overflow="fold", justify="right" if name.endswith("Minor") else "left")
    for row in rows:
        table.add_row(*(_cell(name, row.get(name)) for name in shown))
    return table


def _fields(content: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in content.items():
        table.add_row(name, _text(value) if isinstance(value, str) else _cell(name, value))
    return table


def _text(text: str) -> Text:
    """Return a value of any length, with its line breaks and indentation."""
    return Text("\n").join(_cell("", line) for line in text.expandtabs(TAB_COLUMNS).splitlines())


def _cell(name: str, value: Any) -> Text:
    if value is None:
        return Text("-")
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, int) and name.endswith("Minor"):
        return Text(naira(value))
    if isinstance(value, list | dict):
        return Text(json.dumps(value, ensure_ascii=True))
    # Stored text: it stays on its line, and control characters are shown as question marks.
    line = " ".join(str(value).splitlines())
    return Text("".join(character if character.isprintable() else "?" for character in line))
