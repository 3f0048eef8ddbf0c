"""Write a secrets file for each container: `python -m operations.secret_files`, the first step of docker-compose.yml.

The first start creates the secrets in `SECRETS_DIR/system/secrets.env`. Each holder's folder receives only its own
secrets, and is a separate volume, so that no container reads another's. A secret in the environment takes precedence
and is stored, as in `make run`.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from operations.processes import SECRETS_OF_SERVICES
from operations.provision import (
    audit_database_url,
    database_url,
    service_broker_url,
    service_database_urls,
    subscriber_broker_url,
)
from operations.secrets import LOGIN_SUFFIXES, ROLE_PASSWORDS, keys_of_purposes, load_secrets, write_secrets
from operations.services import SERVICES

# User ids of deploy/Dockerfile: for processes, and for migrations.
RUNNING_USER = 10001
MIGRATING_USER = 10002

_OF_THE_SERVERS = ("POSTGRES_PASSWORD", "RABBITMQ_PASSWORD", "RABBITMQ_COOKIE", "MEDIA_S3_SECRET_KEY")
# The name of the MinIO account; another store's key comes from the environment.
_IMAGE_STORE_ACCOUNT = "campus-media"


def write_secret_files(
    folder: Path,
    environment: Mapping[str, str],
    *,
    running_user: int = RUNNING_USER,
    migrating_user: int = MIGRATING_USER,
) -> None:
    """Write every holder's file below `folder`. Idempotent.

    `environment` holds the servers' addresses without passwords: `DATABASE_URL`, `BROKER_URL`, `BROKER_MANAGEMENT_URL`.
    """
    kept = load_secrets(folder / "system", environment)
    kept |= {name: environment.get(name) or kept.get(name) or secrets.token_hex(24) for name in _OF_THE_SERVERS}
    kept["MEDIA_S3_ACCESS_KEY"] = (
        environment.get("MEDIA_S3_ACCESS_KEY") or kept.get("MEDIA_S3_ACCESS_KEY") or _IMAGE_STORE_ACCOUNT
    )
    kept["MEDIA_S3_SESSION_TOKEN"] = environment.get("MEDIA_S3_SESSION_TOKEN", "")
    administrator = _with_password(environment["DATABASE_URL"], kept["POSTGRES_PASSWORD"])
    broker = _with_password(environment["BROKER_URL"], kept["RABBITMQ_PASSWORD"])
    management = _with_password(environment["BROKER_MANAGEMENT_URL"], kept["RABBITMQ_PASSWORD"])
    kept |= {
        "DATABASE_URL": administrator,
        "BROKER_URL": broker,
        "AUDIT_DATABASE_URL": audit_database_url(administrator, kept),
        "SUBSCRIBER_BROKER_URL": subscriber_broker_url(broker, kept),
    }
    write_secrets(folder / "system" / "secrets.env", kept)

    # The servers read their files with the user ids of their images; only they mount these folders.
    _write(folder / "postgres" / "password", kept["POSTGRES_PASSWORD"], mode=0o444)
    _write(folder / "rabbitmq" / "rabbitmq.conf", _broker_settings(broker, kept["RABBITMQ_PASSWORD"]), mode=0o444)
    # The nodes of docker-compose.scale.yml accept each other by it.
    _write(folder / "rabbitmq" / "erlang.cookie", kept["RABBITMQ_COOKIE"], mode=0o444)
    image_store = {name: kept[name] for name in ("MEDIA_S3_ACCESS_KEY", "MEDIA_S3_SECRET_KEY")}
    _write(folder / "minio" / "config.env", _image_store_settings(image_store), mode=0o444)
    _write_variables(folder / "minio" / "environment", image_store, running_user)
    provision = {name: kept[name] for name in ("DATABASE_URL", "BROKER_URL", *ROLE_PASSWORDS, *LOGIN_SUFFIXES)}
    _write_variables(
        folder / "provision" / "environment", {**provision, "BROKER_MANAGEMENT_URL": management}, running_user
    )
    _write_variables(folder / "console" / "environment", _secrets_of("console", kept, environment), running_user)
    _write_variables(folder / "sandbox" / "environment", _secrets_of("sandbox", kept, environment), running_user)
    for service in SERVICES:
        urls = service_database_urls(administrator, service, kept)
        owner = {"OWNER_DATABASE_URL": urls.pop("OWNER_DATABASE_URL")}
        own_broker = service_broker_url(broker, service, kept)
        own = {**_secrets_of(service.name, kept, environment), **urls, "BROKER_URL": own_broker}
        _write_variables(folder / service.name / "environment", own, running_user)
        _write_variables(folder / service.name / "migration", owner, migrating_user)


def _secrets_of(holder: str, kept: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of a holder by the launcher's table; previous keys only during a rotation."""
    allowed = SECRETS_OF_SERVICES[holder]
    previous = {name: text for name, text in environment.items() if name.endswith("_PREVIOUS") and text}
    patterns = (*allowed, *(f"{name}_PREVIOUS" for name in allowed))
    known = {**kept, **previous}
    known |= keys_of_purposes(known)
    return {name: text for name, text in known.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}


def _with_password(url: str, password: str) -> str:
    return database_url(url, role=urlsplit(url).username or "", password=password)


def _broker_settings(broker_url: str, password: str) -> str:
    return f"default_user = {urlsplit(broker_url).username}\ndefault_pass = {password}\n"


def _image_store_settings(key: Mapping[str, str]) -> str:
    """Return MinIO's settings file: its account is the key of the services."""
    return f"MINIO_ROOT_USER={key['MEDIA_S3_ACCESS_KEY']}\nMINIO_ROOT_PASSWORD={key['MEDIA_S3_SECRET_KEY']}\n"


def _write_variables(path: Path, variables: Mapping[str, str], reader: int) -> None:
    write_secrets(path, variables)
    os.chown(path, reader, -1)
    path.chmod(0o400)


def _write(path: Path, text: str, *, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text)
    draft.chmod(mode)
    draft.replace(path)


if __name__ == "__main__":
    if missing := [
        name
        for name in ("SECRETS_DIR", "DATABASE_URL", "BROKER_URL", "BROKER_MANAGEMENT_URL")
        if not os.environ.get(name)
    ]:
        sys.exit(f"These environment variables are missing: {', '.join(missing)}.")
    write_secret_files(Path(os.environ["SECRETS_DIR"]), os.environ)
    print("Every container has its file of secrets.")
