"""CSV files: the byte order mark, quoted texts, and no cell that a spreadsheet runs, whatever its separator is."""

import csv
import io
import re
from collections.abc import AsyncIterator
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from common.web.csv_export import INCOMPLETE, csv_head, csv_lines, csv_stream, read_csv

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"


def test_a_file_starts_with_a_byte_order_mark() -> None:
    assert csv_head(["key", "label"]).encode() == b'\xef\xbb\xbf"key","label"\r\n'


def test_every_text_is_quoted_and_no_number_is() -> None:
    row = ["\u20a61,500 for \u1eccl\u00e1", UUID(int=1), -5, Decimal("-0.05"), None, 'a "b"']
    assert csv_lines([row]) == (
        '"\u20a61,500 for \u1eccl\u00e1","00000000-0000-0000-0000-000000000001",-5,-0.05,,"a ""b"""\r\n'
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        *((f"{sign}1", f"'{sign}1") for sign in SIGNS),
        ("  =1", "'  =1"),
        ("\tx", "'\tx"),
        ("\r=1", "'\r'=1"),
        ("Rice;=1+1;", "Rice;'=1+1;"),
        ("Rice; \uff1d1+1", "Rice;' \uff1d1+1"),
        ("Rice\n=1", "Rice\n'=1"),
        ('Rice;"=1"', 'Rice;\'"=1"'),
        ("Rice\t@SUM(A1)", "Rice\t'@SUM(A1)"),
        ("Rice - two, 1+1; Type-C", "Rice - two, 1+1; Type-C"),
        ("Room 4", "Room 4"),
    ],
)
def test_a_text_that_a_spreadsheet_would_run_is_written_as_text(text: str, written: str) -> None:
    [[cell]] = csv.reader(io.StringIO(csv_lines([[text]]), newline=""))
    assert cell == written


@given(st.text(alphabet=[*SIGNS, *' ;,|\t\n"a\u200b'], max_size=12))
@example(';"=1')
def test_no_cell_starts_with_a_formula_under_any_separator(text: str) -> None:
    line = csv_lines([[5, text]]).removeprefix("5,").removesuffix("\r\n")[1:-1]
    for cell in re.split(r"[;,|\t\r\n]", line):
        assert not cell.lstrip(" \"'\u200b").startswith(tuple(SIGNS)) or "'" in cell, (text, cell)


@given(st.text(alphabet=[*SIGNS, *" ';,|\t\r\n\"ax\u200b"], max_size=12))
@example("- cotton\n- blue, -5 %\r\n'quoted'")
@example("'=1")
@example(" \n=1")
def test_a_written_text_is_read_without_its_apostrophes(text: str) -> None:
    assert list(read_csv(csv_lines([[text, 5]]))) == [[text, "5"]]


def test_empty_lines_are_empty_rows_and_a_fault_names_its_line() -> None:
    assert list(read_csv('a,"b\nc"\r\n\r\nd,e\n')) == [["a", "b\nc"], [], ["d", "e"]]
    with pytest.raises(ValueError, match="line 2"):
        list(read_csv('a\n"b" c\n'))


async def test_an_outage_during_an_export_is_logged_as_no_bug() -> None:
    async def pages() -> AsyncIterator[str]:
        yield "first"
        raise asyncpg.AdminShutdownError

    with capture_logs() as logged:
        assert len([page async for page in csv_stream(pages())]) == 2
    assert [(line["log_level"], "exc_info" in line) for line in logged] == [("warning", False)]


async def test_an_incomplete_file_ends_with_an_error_line() -> None:
    async def pages() -> AsyncIterator[str]:
        yield csv_lines([["one"]])
        raise ConnectionError("the database is away")

    assert [page async for page in csv_stream(pages())] == ['"one"\r\n', f'"{INCOMPLETE}"\r\n']
