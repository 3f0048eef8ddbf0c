"""The addresses and keys of an audit: of secrets.env, or of the environment where there is no such file
(Kubernetes).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from operations.secrets import read_secrets

AUDITED: Final = ("orders", "payments", "payouts")
# The folder of the gateway's lists, which an interrupted audit continues.
_WORK_FOLDER: Final = "audit"
_KEYS: Final = ("GATEWAY_SECRET_KEY", "FLUTTERWAVE_SECRET_KEY", "SERVICE_ROLE_KEY")


def database_variable(service: str) -> str:
    """Return the variable with the auditor's address of a service's database on a server of its own."""
    return f"{service.upper()}_AUDIT_DATABASE_URL"


def audit_secrets(state_dir: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of secrets.env; those of the environment when it names every database.

    Raises:
        FileNotFoundError: there is no secrets.env, and a database has no address in the environment.
    """
    databases = [database_variable(service) for service in AUDITED]
    if not all(environment.get(name) for name in databases):
        return read_secrets(state_dir / "secrets.env")
    # Of a key with a previous one the first is current.
    return {name: environment[name] for name in (*databases, *_KEYS) if environment.get(name)}


def work_folder(state_dir: Path) -> Path | None:
    """Return the folder of the gateway's lists; None when the state directory is read-only, as in Compose."""
    folder = state_dir / _WORK_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder
