"""The README of the sandbox names every kind of fault, every setting and every control path."""

import re
from pathlib import Path

import msgspec
from starlette.routing import Mount, Route

from sandbox.control.routes import ROUTES
from sandbox.faults import EFFECTS
from sandbox.switches import Switches

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_readme_lists_each_kind_of_fault_once() -> None:
    rows = re.search(r"^\| Kinds \| Effects \|$(.*?)^$", README, re.MULTILINE | re.DOTALL)
    assert rows is not None
    kinds = [kind for row in rows[1].splitlines() if row for kind in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(kinds) == sorted(EFFECTS)


def test_the_readme_lists_each_control_path() -> None:
    mounts = [route for route in ROUTES if isinstance(route, Mount)]
    paths = [f"{mount.path}{route.path}" for mount in mounts for route in mount.routes if isinstance(route, Route)]
    assert len(paths) > 20
    assert not [path for path in paths if path.partition("{")[0] not in README]


def test_the_readme_lists_each_setting() -> None:
    row = next(line for line in README.splitlines() if "PUT /control/settings`" in line)
    assert not [name for name in msgspec.structs.fields(Switches) if f"`{name.name}`" not in row]
