"""New secrets of a cluster, in the form that its store of secrets takes (deploy/k8s/README.md)."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote_plus

import yaml

from operations.secret_table import SECRETS, Form, Part, SecretSpec, subscriber_account
from operations.secrets import make_value, new_service_account, read_secrets, with_public_half, write_secrets
from operations.subscribers import load_teams

Entries = dict[str, dict[str, str]]
"""The store: values by entry and property."""

_TEMPLATE: Final = re.compile(
    r'{{\s*(?:\.(?P<name>\w+)|index \. \(printf "(?P<format>\w+%s)" \.(?P<argument>\w+)\))'
    r"(?P<encoded> \| urlquery)?\s*}}"
)

_SETTINGS: Final = {"MESSAGING_API_TOKEN", "SMS_API_KEY", "SMS_FALLBACK_API_KEY", "SMTP_URL", "ON_CALL_KEY"}
"""Settings with a secret, which one machine reads from the caller's environment."""


class Target(StrEnum):
    """Purpose of the cluster. A staging cluster has the sandbox in place of the providers, and demo accounts."""

    production = "production"
    staging = "staging"


class Servers(StrEnum):
    """Who runs databases and broker: operators in the cluster, or a provider (overlay `managed`)."""

    operators = "operators"
    managed = "managed"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The kind of a cluster, by which it needs secrets."""

    target: Target
    servers: Servers = Servers.operators

    @property
    def parts(self) -> set[Part | None]:
        """The parts that it has; None for the rows of every cluster."""
        servers = Part.operators if self.servers is Servers.operators else Part.managed
        return {None, servers, *([Part.demo] if self.target is Target.staging else [])}

    def is_supplied(self, row: SecretSpec) -> bool:
        """Return whether a person supplies the value: its provider issues it, and the sandbox does not replace it."""
        return bool(row.issued_by) and (self.target is Target.production or row.in_staging is None)

    def rows(self) -> list[SecretSpec]:
        """Return the secrets that the cluster has."""
        return [row for row in SECRETS if row.entries and row.only_in in self.parts]


class StoreForm(StrEnum):
    """`external-secrets`: a JSON document for each entry of the store; `sealed-secrets`: Secrets for kubeseal; `env`:
    variables.
    """

    external_secrets = "external-secrets"
    kubeseal = "sealed-secrets"
    env = "env"


class SecretsRefused(Exception):
    """Rejection before any file is written; the message gives the reason."""


def new_values(
    cluster: Cluster, supplied: Mapping[str, str], teams: Sequence[str] = ()
) -> tuple[Entries, dict[str, str]]:
    """Return the store's entries, and the same values by variable. A supplied value replaces a generated one.

    `teams`: subscribing teams, each of which gets a password.

    Raises:
        SecretsRefused: a required value is missing, or a supplied name is unknown.
    """
    rows = cluster.rows()
    if unknown := supplied.keys() - {row.name for row in rows}:
        raise SecretsRefused(f"These names are no secrets of a {cluster.target} cluster: {', '.join(sorted(unknown))}")
    missing = [
        f"{row.name} ({row.issued_by})"
        for row in rows
        if cluster.is_supplied(row) and not row.is_optional and not supplied.get(row.name)
    ]
    if missing:
        raise SecretsRefused(f"These values must be supplied: {'; '.join(missing)}")
    entries: Entries = {}
    by_name: dict[str, str] = {}
    for row in rows:
        for entry in row.entries:
            value = supplied.get(row.name) or _new_value(row, cluster, by_name)
            by_name[row.name] = value
            entries.setdefault(entry, {})[row.key] = value
            if row.has_previous:
                entries[entry][f"{row.key}_PREVIOUS"] = ""
    for team in teams:
        entries["campus/broker"].setdefault(subscriber_account(team), make_value(Form.password))
    return entries, by_name


def _new_value(row: SecretSpec, cluster: Cluster, earlier: Mapping[str, str]) -> str:
    if row.form is Form.empty or cluster.is_supplied(row):
        return ""
    if row.form is Form.public_keys:
        return with_public_half(earlier["RELEASE_SIGNING_KEY"], "")
    if row.issued_by and row.in_staging:
        return row.in_staging
    return new_service_account() if row.form is Form.service_account else make_value(row.form)


def write_new(
    folder: Path, form: StoreForm, cluster: Cluster, supplied: Mapping[str, str], manifests: Path
) -> list[Path]:
    """Write new secrets into a new folder, which only its owner can read, and return the files.

    `manifests`: the folder `deploy/k8s`, whose ExternalSecrets describe the Secrets (form `sealed-secrets`). The folder
    appears with all of its files or not at all.

    Raises:
        SecretsRefused: the folder has content, or a value is missing.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SecretsRefused(f"{folder} is not empty: secrets are written once and never replaced")
    listed = manifests.parent / "subscribers.yaml"
    teams = [team.name for team in load_teams(listed)] if listed.exists() else []
    entries, by_name = new_values(cluster, supplied, teams)
    if form is StoreForm.external_secrets:
        files = {f"{entry}.json": json.dumps(values, indent=1) for entry, values in entries.items()}
    elif form is StoreForm.kubeseal:
        files = {f"{it['metadata']['name']}.yaml": yaml.safe_dump(it) for it in secrets_of(manifests, cluster, entries)}
    else:
        files = {}
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    try:
        draft.mkdir(mode=0o700)
        for name, content in files.items():
            _write(draft / name, content)
        if form is StoreForm.env:
            write_secrets(draft / "secrets.env", _variables(by_name))
        # An empty folder of that name is replaced; one that was filled in the meantime is not.
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(content)


def _variables(by_name: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of one machine: the keys of purposes are derived there, from a `SEALING_KEY` of its own."""
    known = {row.name for row in SECRETS if row.is_local} | _SETTINGS
    return {name: value for name, value in by_name.items() if name in known} | {"SEALING_KEY": make_value(Form.key)}


def read_supplied(path: Path | None) -> dict[str, str]:
    """Read the `NAME=value` lines of a file of supplied values; empty values count as missing.

    Raises:
        SecretsRefused: the file does not exist.
    """
    if path is None:
        return {}
    if not path.is_file():
        raise SecretsRefused(f"There is no file {path}")
    return {name: text for name, text in read_secrets(path).items() if text}


# ---- Secrets of Kubernetes, from the ExternalSecrets
# --------------------------------------------------------------------


def secrets_of(manifests: Path, cluster: Cluster, entries: Entries) -> Iterator[dict[str, Any]]:
    """Yield the Secret that External Secrets would create from each ExternalSecret of the cluster's manifests.

    Raises:
        SecretsRefused: `manifests` is not the folder `deploy/k8s`.
    """
    of_servers = ["managed"] if cluster.servers is Servers.managed else ["server-accounts", "autoscaling"]
    components = ["secrets", "edge", *of_servers, *(["sandbox"] if cluster.target is Target.staging else [])]
    paths = sorted(path for name in components for path in (manifests / "components" / name).glob("*.yaml"))
    if not paths:
        raise SecretsRefused(
            f"{manifests} does not hold the manifests: run the command in a checkout of the repository"
        )
    for path in paths:
        for resource in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            if resource and resource["kind"] == "ExternalSecret":
                yield secret_of(resource, entries)


def secret_of(external: Mapping[str, Any], entries: Entries) -> dict[str, Any]:
    """Return the Secret that External Secrets would create from an ExternalSecret with these entries."""
    fetched = {
        it["secretKey"]: entries[it["remoteRef"]["key"]][it["remoteRef"]["property"]] for it in external["spec"]["data"]
    }
    template = external["spec"]["target"].get("template", {})
    content = {name: _rendered(text, fetched) for name, text in template.get("data", {}).items()} or fetched
    labels = {**external["metadata"].get("labels", {}), **template.get("metadata", {}).get("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": template.get("type", "Opaque"),
        "metadata": {
            "name": external["metadata"]["name"],
            "namespace": "campus",
            "labels": labels,
            "annotations": external["metadata"].get("annotations", {}),
        },
        "stringData": content,
    }


def _rendered(template: str, values: Mapping[str, str]) -> str:
    """Render the forms of templates that the manifests use; raises ValueError for another one."""

    def value(found: re.Match[str]) -> str:
        name = found["name"] or found["format"].replace("%s", values[found["argument"]])
        return quote_plus(values[name]) if found["encoded"] else values[name]

    rendered = _TEMPLATE.sub(value, template)
    if "{{" in rendered:
        raise ValueError(f"this form of a template is not known here: {template}")
    return rendered
