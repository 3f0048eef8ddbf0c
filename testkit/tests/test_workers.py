"""The order in which the workers of a run collect tests, and receive the files."""

import threading
from pathlib import Path
from typing import Any

import pytest

from testkit.workers import collecting, pytest_collection_modifyitems


class Item:
    def __init__(self, path: str, *, is_long: bool = False) -> None:
        self.path = Path(path)
        self._is_long = is_long

    def get_closest_marker(self, name: str) -> str | None:
        return name if self._is_long and name == "long" else None


class Config:
    def __init__(self, **worker_input: Any) -> None:
        self.workerinput = worker_input


def order(config: object, *items: Item) -> list[str]:
    sorted_items: Any = list(items)
    pytest_collection_modifyitems(config, sorted_items)  # type: ignore[arg-type]
    return [str(item.path) for item in sorted_items]


ITEMS = (
    Item("tests/small.py"),
    Item("tests/large.py"),
    Item("tests/large.py"),
    Item("other/long.py", is_long=True),
    Item("tests/long.py", is_long=True),
)


def test_long_files_come_first_and_then_those_with_more_tests() -> None:
    expected = ["other/long.py", "tests/long.py", "tests/large.py", "tests/large.py", "tests/small.py"]
    assert order(Config(campus_servers={"DATABASE_URL": "x"}), *ITEMS) == expected


def test_a_run_without_workers_keeps_its_order() -> None:
    assert order(object(), *ITEMS) == [str(item.path) for item in ITEMS]


def test_the_mark_of_long_files_is_registered(pytestconfig: pytest.Config) -> None:
    assert any(line.startswith("long:") for line in pytestconfig.getini("markers"))


def test_one_worker_collects_before_the_others(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    config: Any = Config(campus_collected=str(mark))
    together = threading.Barrier(2, timeout=60)

    def follow() -> None:
        with collecting(config):
            assert mark.read_text() == "collected"
            together.wait()

    others = [threading.Thread(target=follow) for _ in range(2)]
    with collecting(config):
        for other in others:
            other.start()
        assert mark.read_text() == ""
    for other in others:
        other.join()
    assert not together.broken
