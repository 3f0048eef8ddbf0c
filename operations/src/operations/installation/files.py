"""Files of an installation: what each contains, and which ones differ from the machine's."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file as it must be. `restarts`: the units that read it at their start. A secret one is never printed."""

    path: Path
    content: str
    mode: int = 0o644
    restarts: tuple[str, ...] = ()
    is_secret: bool = False

    @property
    def is_written(self) -> bool:
        """The machine has exactly this file."""
        try:
            return self.path.read_text() == self.content and self.path.stat().st_mode & 0o777 == self.mode
        except FileNotFoundError:
            return False

    def write(self) -> None:
        """Replace the file atomically."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.mode), "w") as file:
            file.write(self.content)
            os.fchmod(file.fileno(), self.mode)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)


def environment_file(variables: Mapping[str, str]) -> str:
    """Return `NAME="value"` lines as systemd reads them, without empty values."""
    lines = []
    for name, text in sorted(variables.items()):
        if text:
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'{name}="{escaped}"\n')
    return "".join(lines)


def changed(files: Iterable[PlannedFile]) -> list[PlannedFile]:
    """Return the files that the machine has not, or has otherwise."""
    return [file for file in files if not file.is_written]
