"""Cells: which one serves a campus or a mail address, and what stops the start."""

from dataclasses import replace
from uuid import UUID

import pytest

from common.primitives.cells import Cell, Cells, Misdirected

LAGOS, IBADAN, UNNAMED = (UUID(f"0192f0c1-7b1e-7cc0-8b30-3a1f3f6f000{number}") for number in (1, 2, 3))
FIRST = Cell(name="lagos", url="http://lagos:8080", campuses=(LAGOS,))
SECOND = Cell(name="ibadan", url="http://ibadan:8080", campuses=(IBADAN,), domains=("ui.edu.ng",))


@pytest.fixture
def cells() -> Cells:
    made = Cells.of("lagos", (FIRST, SECOND))
    assert made is not None
    return made


def test_without_the_settings_there_are_no_cells() -> None:
    assert Cells.of("", ()) is None


def test_the_first_cell_has_what_no_cell_names(cells: Cells) -> None:
    assert [cells.of_campus(campus).name for campus in (LAGOS, IBADAN, UNNAMED)] == ["lagos", "ibadan", "lagos"]


@pytest.mark.parametrize(
    ("email", "name"),
    [
        ("ada@ui.edu.ng", "ibadan"),
        (" Ada@Students.UI.edu.ng ", "ibadan"),
        ("ada@myui.edu.ng", "lagos"),
        ("ada@ui.edu.ng.example", "lagos"),
        ("ui.edu.ng@gmail.com", "lagos"),
        ("no address", "lagos"),
    ],
)
def test_an_address_belongs_to_the_cell_of_the_longest_suffix_of_its_domain(
    cells: Cells, email: str, name: str
) -> None:
    assert cells.of_address(email).name == name


def test_a_campus_of_another_cell_is_refused_by_its_name(cells: Cells) -> None:
    for campus in (LAGOS, UNNAMED, None):
        cells.check_campus(campus)
    with pytest.raises(Misdirected) as refused:
        cells.check_campus(IBADAN)
    assert refused.value.http_status == 421
    assert refused.value.extensions == {"cell": "ibadan"}


@pytest.mark.parametrize(
    ("own", "cells"),
    [
        ("", (FIRST, SECOND)),
        ("abuja", (FIRST, SECOND)),
        ("lagos", ()),
        ("lagos", (FIRST, FIRST)),
        ("lagos", (replace(FIRST, url="ftp://lagos.example"),)),
        ("lagos", (FIRST, replace(SECOND, name="Ibadan\r\n"))),
        ("lagos", (FIRST, replace(SECOND, campuses=(LAGOS,)))),
        ("lagos", (FIRST, SECOND, replace(SECOND, name="ife", campuses=()))),
    ],
)
def test_cells_that_contradict_each_other_stop_the_start(own: str, cells: tuple[Cell, ...]) -> None:
    with pytest.raises(ValueError, match="CELLS"):
        Cells.of(own, cells)
