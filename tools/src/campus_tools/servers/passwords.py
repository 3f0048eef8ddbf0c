"""Administrator passwords of the private servers, stored with their data."""

import fcntl
import json
import secrets
from pathlib import Path


def server_password(state_dir: Path, name: str) -> str:
    """Return the password of `name`; the first call creates it in `state_dir/servers/passwords.json` (mode 600)."""
    path = state_dir / "servers" / "passwords.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    # Servers start concurrently: the lock keeps one from overwriting the other's password.
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept: dict[str, str] = json.loads(file.read() or "{}")
        if name not in kept:
            kept[name] = secrets.token_urlsafe(24)
            file.seek(0)
            file.write(json.dumps(kept, indent=2))
            file.truncate()
        return kept[name]
