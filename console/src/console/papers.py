"""A page of the console as a PDF: what its print shows, without forms, menus and drawings (decision 199)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Final, Literal

from starlette.responses import Response

from common.documents.document import Paper, PaperPart, local_time
from common.documents.rendering import DocumentRenderer
from common.primitives.problems import Problem
from console.api import ApiProblem
from console.visit import Visit

_LEFT_OUT: Final = frozenset(
    ["script", "style", "form", "button", "nav", "details", "dialog", "svg", "progress", "label", "summary", "img"]
)
_VOID: Final = frozenset(["img", "br", "input", "hr", "meta", "link", "path", "source", "wbr", "col"])
_LEFT_OUT_CLASSES: Final = frozenset(["copy", "paper", "printed", "acts", "confirm", "pages", "filters", "csv"])
_TEXTS: Final = frozenset(["p", "h2", "h3", "li", "dt", "dd", "th", "td"])
_HEADINGS: Final = frozenset(["h2", "h3"])

Kind = Literal["heading", "text", "facts", "table"]


class _Reader(HTMLParser):
    """Collects the parts of the main part of a page in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.parts: list[PaperPart] = []
        self._open: list[str] = []
        self._skipped_at = 0
        self._is_in_main = False
        self._text: list[str] = []
        self._has_words = False
        """Whether the open text has words outside of links: a line of links alone leads nowhere on paper."""
        self._row: list[str] = []
        self._rows: list[tuple[str, ...]] = []
        self._numbers: set[int] = set()

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        if tag == "br":
            self._text.append("\n")
        if tag in _VOID:
            return
        self._open.append(tag)
        classes = set((dict(attributes).get("class") or "").split())
        self._is_in_main = self._is_in_main or tag == "main"
        if self._skipped_at:
            return
        if tag in _LEFT_OUT or classes & _LEFT_OUT_CLASSES:
            self._skipped_at = len(self._open)
        elif tag in ("table", "dl"):
            self._rows, self._numbers = [], set()
        elif tag == "tr":
            self._row = []
        if tag in _TEXTS or tag == "h1":
            self._text, self._has_words = [], False
        if tag in ("th", "td") and "number" in classes:
            self._numbers.add(len(self._row))
        if tag in ("strong", "small", "span", "time") and self._text:
            self._text.append(" ")

    def handle_data(self, data: str) -> None:
        if self._is_in_main and not self._skipped_at:
            self._text.append(data)
            self._has_words = self._has_words or (bool(data.strip()) and "a" not in self._open)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._open:
            return
        while self._open.pop() != tag:
            pass
        if self._skipped_at:
            if len(self._open) < self._skipped_at:
                self._skipped_at = 0
            return
        if self._is_in_main:
            self._finish(tag)
        if tag == "main":
            self._is_in_main = False

    def _finish(self, tag: str) -> None:
        if tag == "h1":
            self.title = self._pop_text()
        elif tag in ("dt", "th", "td"):
            self._row.append(self._pop_text())
        elif tag == "dd":
            self._rows.append((*self._row, self._pop_text()))
            self._row = []
        elif tag == "tr":
            self._rows.append(tuple(self._row))
        elif tag in ("table", "dl"):
            self._add("table" if tag == "table" else "facts", [row for row in self._rows if any(row)])
        elif tag in _TEXTS and (text := self._pop_text()) and (self._has_words or tag != "p"):
            self._add("heading" if tag in _HEADINGS else "text", [(text,)])

    def _pop_text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._text).split("\n\n"))
        self._text = []
        return "\n".join(line for line in lines if line)

    def _add(self, kind: Kind, rows: Sequence[tuple[str, ...]]) -> None:
        if rows:
            self.parts.append(PaperPart(kind, tuple(rows), frozenset(self._numbers if kind == "table" else ())))


def paper_of(html: str, note: str, made_at: datetime) -> Paper:
    """Return what the main part of a page says."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return Paper(reader.title, made_at, tuple(reader.parts), note)


async def paper_response(visit: Visit, page: Response, renderer: DocumentRenderer) -> Response:
    """Return a rendered page as a PDF. Raises ApiProblem for one that is too long, and while too many are made."""
    now = datetime.now(UTC)
    note = f"Campus console. Made by {visit.user.name} on {local_time(now)}, time of Lagos."
    name = visit.path.strip("/").replace("/", "-")
    try:
        return await renderer.respond_paper(paper_of(bytes(page.body).decode(), note, now), name)
    except Problem as problem:
        explained = {"code": problem.code, "title": "The PDF was not made", "detail": problem.explanation}
        raise ApiProblem(problem.http_status, explained) from problem
