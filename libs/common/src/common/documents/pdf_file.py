"""A document as a PDF, by fpdf2, with the fonts of this package.

Each text is printed in DejaVu Sans; a script that it lacks in the first fallback font that has it. A character that no
font has is a visible box. HarfBuzz shapes each text, so that marks stand where Yoruba and Igbo write them, and Arabic
joins.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from fpdf import FPDF
from fpdf.enums import TableBordersLayout, VAlign, XPos, YPos
from fpdf.fonts import FontFace

from common.documents.document import Document, Paper, PaperPart, local_time

_FONTS: Final = Path(__file__).with_name("fonts")
_REGULAR, _BOLD = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"
_FALLBACKS: Final = (
    "NotoSansAdlam-Regular.ttf",
    "NotoSansVai-Regular.ttf",
    "NotoSansEthiopic-Regular.ttf",
    "NotoSansDevanagari-Regular.ttf",
    "NotoSansBengali-Regular.ttf",
    "NotoSansTamil-Regular.ttf",
    "NotoSansThai-Regular.ttf",
    "DroidSansFallbackFull.ttf",
)
_BOX: Final = "\u25a1"
# Joiners and variation selectors choose the look of emoji. Alone they would be boxes.
_INVISIBLE: Final = re.compile(
    "[\ufe00-\ufe0f\u200b\u2060\ufeff\U000e0000-\U000e01ef]|\u200d(?=[\u2600-\u27bf\U0001f000-\U0001ffff])"
)
_GRAY, _BLACK = 90, 22
# The first size in points at which each word of a table fits into its column; the last one where none does.
_TABLE_SIZES: Final = (9, 7.5, 6, 5)
_PADDING: Final = 0.8
# More columns make the sheet a wide one.
_PORTRAIT_COLUMNS_MAX: Final = 7


@cache
def _coverage(font: str) -> frozenset[int]:
    with TTFont(_FONTS / font, lazy=True) as opened:
        return frozenset(opened.getBestCmap())


class _Pages(FPDF):
    """A4 pages with the document's number at the foot of each."""

    def __init__(
        self, name: str, title: str, made_at: datetime, texts: Iterable[str], *, is_wide: bool = False
    ) -> None:
        super().__init__("landscape" if is_wide else "portrait", format="A4")
        self._name = name
        # Without it the file would name the instant of its rendering.
        self.set_creation_date(made_at)
        self.set_title(title)
        self.set_lang("en")
        self.set_margins(18, 18, 18)
        self.set_auto_page_break(True, margin=22)
        self.add_font("text", "", _FONTS / _REGULAR)
        self.add_font("text", "B", _FONTS / _BOLD)
        self.set_text_shaping(True)
        fallbacks = _needed_fallbacks(texts)
        for number, font in enumerate(fallbacks):
            self.add_font(f"fallback{number}", "", _FONTS / font)
        self.set_fallback_fonts([f"fallback{number}" for number in range(len(fallbacks))], exact_match=False)
        self.add_page()

    def footer(self) -> None:
        self.set_y(-14)
        self.set_font("text", "", 8)
        self.set_text_color(_GRAY)
        self.cell(0, 5, f"{_printable(self._name)} · page {self.page_no()}", align="R")


def render_pdf(document: Document) -> bytes:
    """Return the file of a numbered document: the same bytes for the same document."""
    pages = _Pages(document.number, f"{document.title} {document.number}", document.issued_at, _texts(document))
    _print(pages, document.title, "B", 20)
    _print(pages, f"No. {document.number}")
    _print(pages, f"{local_time(document.issued_at)} (Africa/Lagos)")
    pages.ln(3)
    for party in document.parties:
        _print(pages, party.role.upper(), "", 8, gray=True)
        _print(pages, party.name or "Account closed", "B", 11)
        for detail in party.details:
            _print(pages, detail)
        pages.ln(2)
    for label, value in document.facts:
        _print(pages, f"{label}: {value}")
    pages.ln(3)
    _print_lines(pages, document)
    pages.ln(4)
    _print(pages, document.note, "", 8, gray=True)
    return bytes(pages.output())


def render_paper(paper: Paper) -> bytes:
    """Return the file of a paper: headings, texts, facts and tables in their order. Its parts have at most
    `PAPER_CELLS_MAX` cells in all, which is the caller's to check.
    """
    cells = [cell for part in paper.parts for row in part.rows for cell in row]
    is_wide = any(part.kind == "table" and _columns_of(part) > _PORTRAIT_COLUMNS_MAX for part in paper.parts)
    pages = _Pages(paper.title, paper.title, paper.made_at, [paper.title, paper.note, *cells], is_wide=is_wide)
    _print(pages, paper.title, "B", 18)
    pages.ln(2)
    for part in paper.parts:
        if part.kind == "table":
            _print_table(pages, part)
        for row in () if part.kind == "table" else part.rows:
            if part.kind == "heading":
                pages.ln(2)
            _print(pages, ": ".join(row), "B" if part.kind == "heading" else "", 12 if part.kind == "heading" else 10)
        pages.ln(1.5)
    pages.ln(3)
    _print(pages, paper.note, "", 8, gray=True)
    return bytes(pages.output())


def _print_table(pages: FPDF, part: PaperPart) -> None:
    """Print a table: columns of amounts stand right. Its head is repeated on each page."""
    width = _columns_of(part)
    size, widths = _fitted(pages, part)
    pages.set_font("text", "", size)
    pages.set_text_color(_BLACK)
    pages.set_draw_color(200)
    with pages.table(
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        col_widths=widths,
        headings_style=FontFace(emphasis="BOLD", color=_GRAY),
        line_height=4.6,
        padding=(1, _PADDING),
        text_align=tuple("RIGHT" if column in part.numbers else "LEFT" for column in range(width)),
        v_align=VAlign.T,
    ) as table:
        for line in part.rows:
            row = table.row()
            for column in range(width):
                row.cell(_printable(line[column]) if column < len(line) else "")


def _columns_of(part: PaperPart) -> int:
    return max(len(row) for row in part.rows)


def _fitted(pages: FPDF, part: PaperPart) -> tuple[float, tuple[float, ...]]:
    """Return the size of a table's text in points, and the widths of its columns in millimetres.

    A column has its longest word in one line: an amount or a number is never broken. What is left of the sheet goes to
    the columns with longer texts.
    """
    columns = [
        [_printable(row[column]) for row in part.rows if column < len(row)] for column in range(_columns_of(part))
    ]
    words = [sorted({(len(word), word) for cell in cells for word in cell.split()})[-20:] for cells in columns]
    longest_texts = [max(cells, key=len, default="") for cells in columns]
    for size in _TABLE_SIZES:
        # Bold is wider, and the head is.
        pages.set_font("text", "B", size)
        least = [
            max([pages.get_string_width(word) for _, word in some], default=0) + 2 * _PADDING + 0.5 for some in words
        ]
        if sum(least) <= pages.epw:
            break
    missing = [
        max(pages.get_string_width(text) + 2 * _PADDING + 0.5 - width, 0.01)
        for text, width in zip(longest_texts, least, strict=True)
    ]
    rest = max(pages.epw - sum(least), 0)
    share = min(rest / sum(missing), 1)
    return size, tuple(width + share * more for width, more in zip(least, missing, strict=True))


def _print(pages: FPDF, text: str, style: str = "", size: float = 10, *, gray: bool = False) -> None:
    pages.set_font("text", style, size)
    pages.set_text_color(_GRAY if gray else _BLACK)
    pages.multi_cell(0, size * 0.52, _printable(text), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)


def _print_lines(pages: FPDF, document: Document) -> None:
    pages.set_font("text", "", 9.5)
    pages.set_text_color(_BLACK)
    pages.set_draw_color(200)
    amounts = len(document.columns) - 1
    width = 18 if amounts > 2 else 26
    with pages.table(
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        col_widths=(100 - width * amounts, *[width] * amounts),
        headings_style=FontFace(emphasis="BOLD", color=_GRAY),
        line_height=5,
        padding=(1.2, 1),
        text_align=("LEFT", *["RIGHT"] * amounts),
        v_align=VAlign.T,
    ) as table:
        for line in (document.columns, *document.lines):
            row = table.row()
            for cell in line:
                row.cell(_printable(cell))
        for number, (label, amount) in enumerate(document.sums, start=1):
            row = table.row(style=FontFace(emphasis="BOLD") if number == len(document.sums) else None)
            row.cell(_printable(label), colspan=amounts, align="RIGHT")
            row.cell(amount)


def _needed_fallbacks(texts: Iterable[str]) -> list[str]:
    """Return the fallback fonts that have a character of the texts that no font before them has."""
    missing = {ord(sign) for text in texts for sign in text} - _coverage(_REGULAR)
    needed = []
    for font in _FALLBACKS:
        if found := missing & _coverage(font):
            needed.append(font)
            missing -= found
    return needed


def _texts(document: Document) -> list[str]:
    parties = [text for party in document.parties for text in (party.name or "", *party.details)]
    cells = [cell for row in (*document.lines, *document.facts) for cell in row]
    return [*parties, *cells]


def _printable(text: str) -> str:
    """Replace each character that no font has by a box."""
    return "".join(sign if sign == "\n" or _is_covered(ord(sign)) else _BOX for sign in _INVISIBLE.sub("", text))


def _is_covered(sign: int) -> bool:
    return any(sign in _coverage(font) for font in (_REGULAR, *_FALLBACKS))
