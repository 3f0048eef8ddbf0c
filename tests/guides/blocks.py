"""The code blocks of a guide, as one shell session: what a reader enters from top to bottom."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from campus_tools.guides.rendering import parser
from campus_tools.guides.site import DOCS
from tests.storefront.site import NODE_MISSING, has_node

SECONDS_MAX = 240
# Values of these names are equal in the guide and in the response; others are examples of their type.
EXACT = frozenset({"success", "status", "code", "version", "kind", "aal"})
RUN_BY = {"python": "python", "js": "node"}
"""TypeScript is compiled by a test of its own."""


@dataclass(frozen=True)
class Block:
    """A code block. `name` is the file that it becomes; without one it is run where it is."""

    guide: str
    line: int
    language: str
    name: str
    code: str

    @property
    def place(self) -> str:
        return f"docs/guides/{self.guide}.md:{self.line}"


def blocks_of(guide: str) -> list[Block]:
    """Return the blocks in their order."""
    found = []
    for token in parser().parse((DOCS / f"guides/{guide}.md").read_text()):
        if token.type in ("fence", "code_block"):
            language, _, name = token.info.strip().partition(" ")
            line = token.map[0] + 1 if token.map else 0
            found.append(Block(guide, line, language, name, token.content))
    return found


def set_up() -> Block:
    """Return the block of the quickstart that all guides rely on."""
    return next(block for block in blocks_of("quickstart") if block.language == "bash")


@dataclass
class Session:
    """Where the blocks run: a folder of their own, with the repository's tools and the addresses of a system."""

    folder: Path
    environment: Mapping[str, str]

    def play(self, blocks: Sequence[Block]) -> None:
        """Run all blocks in one shell, and compare each JSON block with the output of the block before it."""
        outputs = self.folder / "outputs"
        outputs.mkdir()
        script = self.folder / "session.sh"
        script.write_text("\n".join(["set -euo pipefail", *self._lines(blocks, outputs)]))
        code, errors = self._run(script)
        reached = [number for number in range(len(blocks)) if (outputs / str(number)).exists()]
        place = blocks[reached[-1]].place if reached else "the start"
        last = (outputs / str(reached[-1])).read_text()[-2000:] if reached else ""
        assert code == 0, f"{place} failed\n{last}\n{errors[-3000:]}"
        for number, block in enumerate(blocks):
            if block.language == "json":
                shown = (outputs / str(number - 1)).read_text()
                try:
                    difference = difference_of(json.loads(block.code), json.loads(shown), "")
                except ValueError as error:
                    difference = str(error)
                assert difference is None, f"{block.place}: {difference}\n{shown[:2000]}"

    def _run(self, script: Path) -> tuple[int, str]:
        """Return the exit code, and what was written to standard error. Nothing that a block started outlives the
        session.
        """
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        errors = self.folder / "errors.txt"
        with errors.open("w") as written:
            shell = subprocess.Popen(
                ["bash", str(script)],
                cwd=self.folder,
                env={**os.environ, **self.environment, "PATH": path},
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        try:
            return shell.wait(SECONDS_MAX), errors.read_text()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()

    def _lines(self, blocks: Sequence[Block], outputs: Path) -> Iterator[str]:
        for number, block in enumerate(blocks):
            if block.language in ("json", "ts"):
                continue
            yield f"exec > {outputs}/{number}"
            if block.language == "bash":
                yield block.code
            else:
                file = block.name or f"block-{number}.{block.language}"
                (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
                yield f"cat > {file} <<'END_OF_BLOCK'\n{block.code}END_OF_BLOCK"
                if not block.name:
                    yield f"set -a; {RUN_BY[block.language]} {file}; set +a"


def difference_of(expected: Any, actual: Any, path: str) -> str | None:
    """Return the first place where the response is not of the shown form: a missing field, or a value of another
    type.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, inner in expected.items():
            if name not in actual:
                return f"{path}.{name} is missing"
            if name in EXACT and not isinstance(inner, dict | list) and inner != actual[name]:
                return f"{path}.{name} is {actual[name]!r}, not {inner!r}"
            if difference := difference_of(inner, actual[name], f"{path}.{name}"):
                return difference
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        if len(actual) < len(expected):
            return f"{path} has {len(actual)} items, not {len(expected)}"
        pairs = zip(expected, actual, strict=False)
        return next(
            filter(None, (difference_of(one, other, f"{path}[{i}]") for i, (one, other) in enumerate(pairs))), None
        )
    return None if type(expected) is type(actual) else f"{path} is {actual!r}, not like {expected!r}"


def check_programs(blocks: Sequence[Block]) -> None:
    """Check what the blocks need besides the project's own installation. Without Node only `.ci/run` fails."""
    missing = [name for name in ("bash", "curl", "jq", "python3") if shutil.which(name) is None]
    assert missing == [], f"the guides need {missing}: `tools/setup browser` installs them"
    if any(block.language in ("js", "ts") for block in blocks) and not has_node():
        pytest.skip(NODE_MISSING)
