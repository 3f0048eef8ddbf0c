"""Storage of an operator's tokens: a private file with one entry for each address."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from operations.campusctl.exits import Refused


@dataclass(frozen=True, slots=True)
class SignIn:
    """The tokens of one user at one address."""

    email: str
    access_token: str
    refresh_token: str
    # Unix seconds by this machine's clock.
    expires_at: float


class SignIns:
    """The token file. A token is only returned for the address that issued it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "SignIns":
        """`STATE_DIR/campusctl.json` where STATE_DIR is set, else in the XDG folder for state."""
        if state_dir := environment.get("STATE_DIR"):
            return cls(Path(state_dir) / "campusctl.json")
        folder = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        return cls(Path(folder) / "campusctl" / "sign-ins.json")

    def at(self, base_url: str) -> SignIn | None:
        kept = self._read().get(base_url)
        return SignIn(**kept) if kept else None

    def keep(self, base_url: str, sign_in: SignIn) -> None:
        self._write({**self._read(), base_url: asdict(sign_in)})

    def forget(self, base_url: str) -> None:
        self._write({address: kept for address, kept in self._read().items() if address != base_url})

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the file: a refresh token works once, so only one command may use it."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise Refused(
                f"Tokens cannot be stored in {self.path.parent}: {error.strerror}", "Set STATE_DIR to another folder"
            ) from error
        with os.fdopen(opened, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            return dict(json.loads(self.path.read_text())) if self.path.exists() else {}
        except ValueError as error:
            raise Refused(f"{self.path} is not readable.", "Remove it, then: campusctl login") from error

    def _write(self, entries: Mapping[str, object]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(entries, file)
        draft.replace(self.path)
