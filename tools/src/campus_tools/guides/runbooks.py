"""Runbooks as HTML for the console, which shows each beside its alert.

python -m campus_tools.guides.runbooks         # into the console's package
python -m campus_tools.guides.runbooks FILE    # into another file
"""

import json
import re
import sys
from pathlib import Path
from typing import Final

from campus_tools.guides.rendering import render_page
from campus_tools.guides.site import DOCS, ROOT

RUNBOOKS: Final = ROOT / "console/src/console/runbooks.json"
_FOLDER: Final = "runbooks/"
_TITLE: Final = re.compile(r"<h1\b.*?</h1>\s*", re.DOTALL)
_HEADING: Final = re.compile(r"(</?h)([2-4])\b")


def build_runbooks(target: Path) -> int:
    """Write title and HTML of each runbook by its name. Return their number.

    The title is left out of the HTML, and its headings are one level lower: the page of the console has its own.
    """
    pages = {}
    for path in sorted((DOCS / _FOLDER).glob("*.md")):
        page = render_page(path.read_text(), f"{_FOLDER}{path.name}", _address_of)
        html = _HEADING.sub(lambda tag: f"{tag[1]}{int(tag[2]) + 1}", _TITLE.sub("", page.html, count=1))
        pages[path.stem] = {"title": page.title, "html": html}
    target.write_text(json.dumps(pages, ensure_ascii=False, indent=0))
    return len(pages)


def _address_of(file: str) -> str | None:
    """Return the console's page of a runbook; None for other documents, which are named and not linked."""
    return f"/{file.removesuffix('.md')}" if file.startswith(_FOLDER) else None


if __name__ == "__main__":
    build_runbooks(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNBOOKS)
