"""Runbooks as HTML for the console, which shows each beside its alert.

python -m campus_tools.guides.runbooks         # into the console's package
python -m campus_tools.guides.runbooks FILE    # into another file
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from campus_tools.guides.rendering import render_page
from campus_tools.guides.site import DOCS, OPENAPI, ROOT

RUNBOOKS: Final = ROOT / "console/src/console/runbooks.json"
_FOLDER: Final = "runbooks/"
_TITLE: Final = re.compile(r"<h1\b.*?</h1>\s*", re.DOTALL)
_CALL: Final = re.compile(
    r"<code>((?:campusctl call )?(GET|POST|PUT|PATCH|DELETE) (?:'|&#x27;)?(/api/[^\s'?&<]*)[^<]*)</code>"
)
_HEADING: Final = re.compile(r"(</?h)([2-4])\b")


def build_runbooks(target: Path) -> int:
    """Write title and HTML of each runbook by its name. Return their number.

    The title is left out of the HTML, and its headings are one level lower: the page of the console has its own.
    `data-needs` of a call has the permissions of which it needs one.
    """
    paths, pages = json.loads(OPENAPI.read_text())["paths"], {}
    for path in sorted((DOCS / _FOLDER).glob("*.md")):
        page = render_page(path.read_text(), f"{_FOLDER}{path.name}", _address_of)
        html = _HEADING.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", _TITLE.sub("", page.html, count=1))
        html = _CALL.sub(lambda call: _call_with_permissions(call, paths), html)
        pages[path.stem] = {"title": page.title, "html": html}
    target.write_text(json.dumps(pages, ensure_ascii=False, indent=0))
    return len(pages)


def _call_with_permissions(call: re.Match[str], paths: Mapping[str, Any]) -> str:
    """Return the call's HTML with its permissions. A name such as `:id` or `ID` stands for any parameter."""
    text, method, path = call.groups()
    given = path.split("/")
    fits = [one for one in paths if method.lower() in paths[one] and _is_call_of(one.split("/"), given)]
    permissions = (
        paths[min(fits, key=lambda one: one.count("{"))][method.lower()].get("x-permissions") if fits else None
    )
    return f'<code data-needs="{" ".join(permissions)}">{text}</code>' if permissions else call[0]


def _is_call_of(parts: Sequence[str], given: Sequence[str]) -> bool:
    return len(parts) == len(given) and all(
        part == one or part.startswith("{") for part, one in zip(parts, given, strict=True)
    )


def _address_of(file: str) -> str | None:
    """Return the console's page of a runbook; None for other documents, which are named and not linked."""
    return f"/{file.removesuffix('.md')}" if file.startswith(_FOLDER) else None


if __name__ == "__main__":
    build_runbooks(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNBOOKS)
