"""The frame of every HTML page of the gateway: head, navigation, search, main part. No script or style is inline."""

from collections.abc import Sequence
from html import escape
from typing import Final

DOCUMENTED_BASE_URL: Final = "http://localhost:8080"
"""The base address in pages and documents as they are built. `BASE_URL` replaces it when they are served."""

# Path, name and meaning of each part of the documentation, in the order of the navigation.
PARTS: Final = (
    ("/guides", "Guides", "From the first request to a paid-out vendor, with examples to copy."),
    ("/docs", "API reference", "Every operation with its parameters, responses and errors."),
    ("/events", "Events", "What services publish on the broker, with an example of each."),
    ("/lifecycles", "Lifecycles", "The states of orders, payments, payouts and more, and who changes them."),
    ("/errors", "Errors", "The meaning of each error code, and what to do."),
    ("/guides/changelog", "Changelog", "What each release adds, changes and removes for clients of the API."),
)
_HEAD: Final = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" '
    'content="light dark">\n'
    '<link rel="icon" href="data:,">\n'
)
# The script shows the search; without it nothing is offered that does not work.
_SEARCH: Final = (
    '<search hidden><label>Search <input type="search" autocomplete="off" spellcheck="false"></label>'
    '<p role="status" hidden></p><ul hidden></ul></search>'
)


def page(
    title: str,
    body: str,
    *,
    current: str,
    contents: str = "",
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    markdown: str = "",
) -> str:
    """Return a whole page.

    `body` and `contents` are HTML: the main part, and a list of pages with the id `pages` beside it. `current` is the
    path of the part that the navigation marks. `styles` and `scripts` are paths on this server, besides those of the
    frame; `markdown` is that of the page for programs.
    """
    sheets = "".join(f'<link rel="stylesheet" href="{path}">\n' for path in (*styles, "/docs/docs.css"))
    own = ("/docs/search.js", "/docs/copy.js")
    sources = "".join(f'<script src="{path}" defer></script>\n' for path in (*own, *scripts))
    if markdown:
        sources += f'<link rel="alternate" type="text/markdown" href="{markdown}">\n'
    links = " ".join(
        f'<a href="{path}"{_CURRENT if path == current else ""}>{escape(name)}</a>'
        for path, name in (("/", "Home"), *((path, name) for path, name, _ in PARTS))
    )
    kind = ' class="with-contents"' if contents else ' class="reference"' if current == "/docs" else ""
    # The viewer of the reference brings its own main part.
    element = "div" if current == "/docs" else "main"
    to_contents = '<a class="to-contents" href="#pages">All pages</a>' if contents else ""
    return (
        f"{_HEAD}<title>{escape(title)} | Campus Marketplace</title>\n{sheets}{sources}</head>\n<body{kind}>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header><nav class="documents" aria-label="Documentation">{links}</nav>\n{_SEARCH}{to_contents}</header>\n'
        f'<{element} id="content" tabindex="-1">\n{body}\n</{element}>\n{contents}</body>\n</html>\n'
    )


_CURRENT: Final = ' aria-current="page"'


def code(identifier: str) -> str:
    """Return an identifier as HTML."""
    return f"<code>{escape(identifier)}</code>"


def prose(text: str) -> str:
    """Return a text as HTML; text between backquotes is code."""
    pieces = text.split("`")
    return "".join(code(piece) if index % 2 else escape(piece) for index, piece in enumerate(pieces))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table of HTML cells. A narrow screen shows each row as a card."""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    named = f"<caption>{caption}</caption>" if caption else ""
    return f'<table class="cards">{named}<thead><tr>{heads}</tr></thead><tbody>\n{lines}</tbody></table>'
