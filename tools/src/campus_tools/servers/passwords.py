"""The administrators' passwords of the private servers, kept beside their data."""

import fcntl
import json
import secrets
from pathlib import Path


def server_password(state_dir: Path, name: str) -> str:
    """The password of `name`, made at the first call and kept in `state_dir/servers/passwords.json` (mode 600)."""
    path = state_dir / "servers" / "passwords.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    # The servers are started side by side: the lock keeps one from writing over the other's password.
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept: dict[str, str] = json.loads(file.read() or "{}")
        if name not in kept:
            kept[name] = secrets.token_urlsafe(24)
            file.seek(0)
            file.write(json.dumps(kept, indent=2))
            file.truncate()
        return kept[name]
