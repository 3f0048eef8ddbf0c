"""Secrets of one system: created at the first start, stored in `STATE_DIR/secrets.env` (architecture, section 6)."""

import base64
import json
import os
import secrets
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from common.primitives.encryption import derive_key
from operations.secret_table import KEYS_OF_PURPOSES, SECRETS, Form, Part, SecretSpec
from operations.services import LOGINS

ROLE_PASSWORDS = tuple(row.name for row in SECRETS if row.form is Form.password and row.is_local)
LOGIN_SUFFIXES = tuple(row.name for row in SECRETS if row.form is Form.login)


def load_secrets(
    state_dir: Path, environment: Mapping[str, str] | None = None, *, plays_providers: bool = True
) -> dict[str, str]:
    """Load the secrets of `state_dir` and create missing ones. A variable of the same name in the environment takes
    precedence. Without `plays_providers`, of what providers issue only the given values exist, and no demo account.

    Values of the environment are stored too: a key that encrypted rows must exist at the next start.
    """
    given = os.environ if environment is None else environment
    path = state_dir / "secrets.env"
    kept = read_secrets(path) if path.exists() else {}
    created = _new_secrets(plays_providers=plays_providers)
    values = {name: given.get(name) or kept.get(name) or made for name, made in created.items()}
    if not plays_providers:
        issued = {row.name: given.get(row.name) or kept.get(row.name) for row in SECRETS if row.is_local}
        values |= {name: text for name, text in issued.items() if text}
    # The previous release gave SEALING_KEY to every service: its values are under that key until the first rotation.
    is_of_release_before = "SEALING_KEY" in kept and "SHARED_SEALING_KEY" not in kept
    shared = kept["SEALING_KEY"] if is_of_release_before else kept.get("SHARED_SEALING_KEY", "")
    values["SHARED_SEALING_KEY"] = given.get("SHARED_SEALING_KEY", shared)
    account = given.get("FCM_SERVICE_ACCOUNT") or kept.get("FCM_SERVICE_ACCOUNT")
    if account or plays_providers:
        values["FCM_SERVICE_ACCOUNT"] = account or new_service_account()
    # Payouts accepts the public key of payments' signing key, and keys that the caller or an operator added.
    believed = given.get("RELEASE_VERIFY_KEYS") or kept.get("RELEASE_VERIFY_KEYS") or ""
    values["RELEASE_VERIFY_KEYS"] = with_public_half(values["RELEASE_SIGNING_KEY"], believed)
    # Issued by the provider; without it the built-in assistant is used.
    if model_key := given.get("AI_API_KEY"):
        values["AI_API_KEY"] = model_key
    # Addresses that a later start adds stay until the file is rewritten.
    values = {**kept, **values}
    if values != kept:
        write_secrets(path, values)
    return values


def keys_of_purposes(known: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that processes receive in place of `SEALING_KEY` and `SEALING_KEY_PREVIOUS`: one per purpose, and
    its previous.

    These two variables then hold the key that all services shared before, while values under it remain (decision 36).
    """
    keys = {}
    for ending in ("", "_PREVIOUS"):
        root = known.get(f"SEALING_KEY{ending}")
        for name, purpose in KEYS_OF_PURPOSES.items():
            keys[name + ending] = base64.urlsafe_b64encode(derive_key(root, purpose)).decode() if root else ""
        keys[f"SEALING_KEY{ending}"] = known.get(f"SHARED_SEALING_KEY{ending}", "")
    return keys


def read_secrets(path: Path) -> dict[str, str]:
    """Read `NAME=value` lines, as a shell would.

    Raises:
        FileNotFoundError: no system was started with this STATE_DIR.
    """
    values = {}
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no {path}: no system was started with this STATE_DIR") from None
    for line in lines:
        if line.strip() and not line.startswith("#"):
            name, _, text = line.partition("=")
            values[name] = "".join(shlex.split(text))
    return values


def write_secrets(path: Path, values: Mapping[str, str]) -> None:
    """Replace the file atomically. It is never readable by others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("# Created at the first start. A reader of this file can act as any user.\n")
        for name, text in values.items():
            file.write(f"{name}={text if _is_plain(text) else shlex.quote(text)}\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _is_plain(text: str) -> bool:
    """Return whether the text needs no quotes in a shell; simpler programs can read such values too."""
    return all(character.isalnum() or character in "-_./:@=+,%" for character in text)


def _new_secrets(*, plays_providers: bool) -> dict[str, str]:
    made = (row for row in SECRETS if row.is_local and row.form in _MAKERS and _is_made(row, plays_providers))
    values = {row.name: make_value(row.form) for row in made}
    if plays_providers:
        values["BOOTSTRAP_ADMIN_EMAIL"] = "platform-admin@campus.example"
    return values


def _is_made(row: SecretSpec, plays_providers: bool) -> bool:
    """Return whether a new system has it: the sandbox plays the provider, as far as it does in staging."""
    if not plays_providers:
        return not row.issued_by and row.only_in is not Part.demo
    return not row.issued_by or row.in_staging is not None


def with_public_half(signing_key: str, believed: str) -> str:
    """Return the trusted public keys, separated by commas, the signing key first. A malformed one fails at start."""
    try:
        private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(signing_key))
    except ValueError:
        return believed
    public = base64.urlsafe_b64encode(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    return ",".join(dict.fromkeys([public, *filter(None, believed.split(","))]))


def make_value(form: Form) -> str:
    """Return a new value of this form.

    Raises:
        KeyError: a value of this form follows from another one, or is issued.
    """
    return _MAKERS[form]()


def new_password() -> str:
    """Return a server password: 24 random bytes in characters that need no quotes in an address."""
    return secrets.token_hex(24)


def new_service_account() -> str:
    """Return a Google service account with a generated key; the sandbox issues tokens for it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "campus-marketplace",
            "private_key_id": secrets.token_hex(20),
            "private_key": pem,
            "client_email": "push@campus-marketplace.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        },
        separators=(",", ":"),
    )


def new_key() -> str:
    """Return 32 random bytes in base64url."""
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def _new_user_password() -> str:
    """Generate a password: the fixed ends satisfy password rules; the random middle is the strength."""
    return f"Campus-{secrets.token_hex(12)}-7"


def _new_totp_secret() -> str:
    return base64.b32encode(secrets.token_bytes(20)).decode()


_MAKERS: Final[Mapping[Form, Callable[[], str]]] = {
    Form.key: new_key,
    Form.password: new_password,
    Form.user_password: _new_user_password,
    Form.totp: _new_totp_secret,
    Form.login: lambda: LOGINS[0],
}
