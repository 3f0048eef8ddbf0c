"""Read requirements.lock: each requirement with version, hashes of its files and dependents."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[4]
LOCK: Final = ROOT / "requirements.lock"
_CUT: Final = ROOT / "deploy/requirements_of.py"
_FIRST_LINE: Final = re.compile(
    r"^(?P<name>[a-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\\n]+?))? ?\\?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One locked distribution."""

    name: str
    version: str
    hashes: tuple[str, ...]
    """SHA-256 of every file that may be installed for it, one for each platform and form."""
    required_by: frozenset[str]
    """The distributions that need it, including this repository's."""
    marker: str = ""
    """The environment that needs it (PEP 508 marker); empty: all."""


def requirements_in(text: str) -> list[Requirement]:
    """Return the requirements of a lock or a part of it, in order."""
    return [_requirement(block) for block in re.split(r"\n(?=[a-z0-9])", text) if _FIRST_LINE.match(block)]


def part_for(folder: str) -> str:
    """Return the part of the lock that the image of this folder installs, cut by the image's own program."""
    projects = [ROOT / name / "pyproject.toml" for name in (folder, "libs/common")]
    command = [sys.executable, str(_CUT), str(LOCK), *map(str, projects)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _requirement(block: str) -> Requirement:
    found = _FIRST_LINE.match(block)
    if found is None:
        raise ValueError(f"not a requirement: {block[:80]!r}")
    comment = block.partition("# via")[2]
    required_by = {word.split("[", 1)[0] for word in re.findall(r"[a-z0-9][a-z0-9._\[\]-]*", comment)}
    hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
    return Requirement(found["name"], found["version"], hashes, frozenset(required_by), found["marker"] or "")
